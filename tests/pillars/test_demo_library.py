"""The demo threads are complete, distinct and carry the quality order that the demo session must find again."""

from datetime import datetime
from itertools import pairwise
from statistics import correlation, mean
from typing import Any

import pytest

from pillars.demo.library import demo_files, demo_threads, planted_quality

PLANTED_LEVEL = {3: 0.80, 1: 0.65, 5: 0.50, 2: 0.35, 4: 0.20}  # best first
THREADS = [thread for threads in demo_threads().values() for thread in threads]
by_id = pytest.mark.parametrize("thread", THREADS, ids=lambda thread: thread["id"])


def words(thread: dict[str, Any], roles: tuple[str, ...] = ("client", "counsellor")) -> int:
    return sum(len(message["content"].split()) for message in thread["messages"] if message["role"] in roles)


def test_there_is_one_file_for_each_of_five_pillars():
    assert list(demo_files()) == [1, 2, 3, 4, 5]
    assert all(file.is_file() for file in demo_files().values())


def test_each_pillar_has_eight_german_threads_and_two_pillars_share_six_english_ones():
    languages = {number: [thread["language"] for thread in threads] for number, threads in demo_threads().items()}

    assert {number: found.count("de") for number, found in languages.items()} == dict.fromkeys(range(1, 6), 8)
    english = {number: found.count("en") for number, found in languages.items() if "en" in found}
    assert len(english) == 2
    assert sum(english.values()) == 6
    assert len(THREADS) == 46


def test_ids_are_unique_and_name_their_pillar():
    assert len({thread["id"] for thread in THREADS}) == len(THREADS)
    for number, threads in demo_threads().items():
        assert all(thread["id"].startswith(f"demo-{number}-") for thread in threads)


def test_no_subject_and_no_message_occurs_twice():
    subjects = [thread["subject"].casefold() for thread in THREADS]
    contents = [" ".join(message["content"].split()).casefold() for t in THREADS for message in t["messages"]]

    assert len(set(subjects)) == len(subjects)
    assert len(set(contents)) == len(contents)


@by_id
def test_a_thread_alternates_from_the_client_on(thread: dict[str, Any]):
    roles = [message["role"] for message in thread["messages"]]

    assert 3 <= len(roles) <= 6
    assert roles == [("client", "counsellor")[position % 2] for position in range(len(roles))]


@by_id
def test_a_thread_has_the_import_shape(thread: dict[str, Any]):
    assert set(thread) == {"id", "subject", "language", "messages"}
    assert thread["subject"].strip()
    for message in thread["messages"]:
        assert set(message) in ({"role", "content"}, {"role", "content", "sent_at"})
        assert message["content"] == message["content"].strip() != ""


@by_id
def test_dates_are_given_for_all_messages_or_none_and_only_grow(thread: dict[str, Any]):
    dates = [datetime.fromisoformat(message["sent_at"]) for message in thread["messages"] if "sent_at" in message]

    assert len(dates) in (0, len(thread["messages"]))
    assert all(date.utcoffset() is not None for date in dates)
    assert all(earlier < later for earlier, later in pairwise(dates))


def test_some_threads_are_undated():
    assert any("sent_at" not in message for thread in THREADS for message in thread["messages"])


@pytest.mark.parametrize("number", range(1, 6))
def test_files_are_utf_8_with_real_umlauts(number: int):
    text = demo_files()[number].read_bytes().decode("utf-8")

    assert "\\u" not in text
    assert "\ufffd" not in text
    assert not any(broken in text for broken in ("Ã¤", "Ã¶", "Ã¼", "ÃŸ"))
    assert all(letter in text for letter in "äöüß")


@pytest.mark.parametrize("thread", [t for t in THREADS if t["language"] == "de"], ids=lambda thread: thread["id"])
def test_each_german_thread_has_umlauts_and_no_transcriptions(thread: dict[str, Any]):
    text = " ".join(message["content"] for message in thread["messages"])

    assert set(text) & set("äöüÄÖÜß")
    spelled = {word.strip(".,;:!?„“()").casefold() for word in text.split()}
    assert not spelled & {"fuer", "koennen", "ueber", "moechte", "waere", "muessen", "gruesse", "grueße", "schoen"}


def test_the_quality_is_planted_for_exactly_the_threads():
    assert set(planted_quality()) == {thread["id"] for thread in THREADS}


def test_threads_stay_close_to_the_level_of_their_pillar_and_differ():
    qualities = planted_quality()
    for number, threads in demo_threads().items():
        own = [qualities[thread["id"]] for thread in threads]
        assert all(abs(quality - PLANTED_LEVEL[number]) <= 0.08 + 1e-9 for quality in own)
        assert len(set(own)) == len(own)
        assert max(own) - min(own) >= 0.10


def test_pillar_means_have_the_planted_order_with_clear_gaps():
    qualities = planted_quality()
    means = {n: mean(qualities[thread["id"]] for thread in threads) for n, threads in demo_threads().items()}

    assert sorted(means, key=means.__getitem__, reverse=True) == list(PLANTED_LEVEL)
    assert all(means[better] - means[worse] >= 0.12 for better, worse in pairwise(PLANTED_LEVEL))


@pytest.mark.parametrize("roles", [("client", "counsellor"), ("counsellor",)])
def test_length_does_not_give_the_quality_away(roles: tuple[str, ...]):
    qualities = planted_quality()
    lengths = [words(thread, roles) for thread in THREADS]

    assert abs(correlation(lengths, [qualities[thread["id"]] for thread in THREADS])) < 0.3
    assert max(lengths) > 3 * min(lengths)


def test_texts_do_not_mention_their_id_or_pillar():
    for thread in THREADS:
        text = thread["subject"] + " ".join(message["content"] for message in thread["messages"])
        assert not any(tell in text.casefold() for tell in ("demo", "säule", "pillar", "synthetisch", "rollenspiel"))

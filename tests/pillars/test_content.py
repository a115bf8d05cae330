"""Identity and length of an exchange."""

from pillars.content import Size, content_hash, count_words, measure
from pillars.readers.base import ReadMessage


def letter(role: str, content: str) -> ReadMessage:
    return ReadMessage(role, content)


def test_the_hash_depends_on_subject_roles_contents_and_order() -> None:
    first, second = letter("client", "a"), letter("counsellor", "b")
    hashes = {
        content_hash("s", [first, second]),
        content_hash("s", [second, first]),
        content_hash("t", [first, second]),
        content_hash("s", [first]),
        content_hash("s", [letter("counsellor", "a"), second]),
        content_hash("s", [letter("client", "a b")]),
        content_hash("s", [letter("client", "ab")]),
    }
    assert len(hashes) == 7
    assert all(len(value) == 64 for value in hashes)


def test_texts_that_run_together_differ_in_hash() -> None:
    assert content_hash("a", [letter("client", "b")]) != content_hash("ab", [letter("client", "")])


def test_senders_times_and_line_ends_do_not_make_another_thread() -> None:
    plain = content_hash("s", [letter("client", "a\nb")])
    assert plain == content_hash("s", [ReadMessage("client", "a\r\nb", sender="Example person")])


def test_words_are_counted_per_side() -> None:
    letters = [letter("client", "eins zwei\ndrei"), letter("counsellor", " vier "), letter("client", "fünf")]
    assert measure(letters) == Size(messages=3, words=5, counsellor_words=1, client_words=4)
    assert count_words("\u00a0 \n") == 0

"""Reading files of threads: what is taken, what is refused, and where."""

import json
from typing import Any

import pytest

from pillars.readers import json_list
from pillars.readers.base import MAX_PROBLEMS, MAX_THREAD_BYTES, Problem, ProblemCode, ReadResult
from pillars.readers.detect import read
from pillars.readers.schema import MAX_CONTENT

CLIENT = {"role": "client", "content": "Example question"}
COUNSELLOR = {"role": "counsellor", "content": "Example answer"}


def example(**changes: Any) -> dict[str, Any]:
    return {"id": "t1", "subject": "Example", "messages": [CLIENT, COUNSELLOR], **changes}


def read_json(value: Any) -> ReadResult:
    return read(json.dumps(value).encode(), "threads.json")


def places(result: ReadResult) -> list[tuple[int, str, ProblemCode]]:
    return [(problem.row, problem.field, problem.code) for problem in result.problems]


def test_a_list_gives_its_threads_in_order_with_rows_from_one() -> None:
    result = read_json([example(), example(id="t2", language="en", pillar="Example label")])
    assert result.format == "json_list"
    assert result.problems == ()
    assert [(t.row, t.external_id, t.language, t.pillar_label) for t in result.threads] == [
        (1, "t1", None, None),
        (2, "t2", "en", "Example label"),
    ]
    assert [(m.role, m.content) for m in result.threads[0].messages] == [
        ("client", "Example question"),
        ("counsellor", "Example answer"),
    ]


def test_an_object_is_one_thread_and_may_call_its_id_thread_id() -> None:
    document = example()
    document["thread_id"] = document.pop("id")
    result = read_json(document)
    assert result.format == "json_thread"
    assert [t.external_id for t in result.threads] == ["t1"]


def test_text_is_kept_to_the_last_space() -> None:
    content = "  Größe \U0001f600\r\n\tzweite Zeile \n"
    (thread,) = read_json([example(messages=[{"role": "client", "content": content}])]).threads
    assert thread.messages[0].content == content


def test_a_byte_order_mark_changes_nothing() -> None:
    data = json.dumps([example()]).encode()
    assert read(b"\xef\xbb\xbf" + data, "x") == read(data, "x")


def test_unknown_keys_are_kept_as_metadata() -> None:
    message = {**CLIENT, "mood": "example"}
    (thread,) = read_json([example(case=7, metadata={"round": 2}, messages=[message])]).threads
    assert thread.metadata == {"case": 7, "round": 2, "messages": {"0": {"mood": "example"}}}


def test_a_missing_time_stays_missing_and_a_given_one_keeps_its_zone() -> None:
    (thread,) = read_json([example(messages=[CLIENT, {**COUNSELLOR, "sent_at": "2024-03-01T10:00:00+02:00"}])]).threads
    assert thread.messages[0].sent_at is None
    assert thread.messages[1].sent_at is not None
    assert thread.messages[1].sent_at.isoformat() == "2024-03-01T10:00:00+02:00"


@pytest.mark.parametrize(("given_language", "expected"), [("de-DE", "de"), ("EN", "en"), ("en_GB", "en"), (None, None)])
def test_language_codes_are_read_without_their_region(given_language: str | None, expected: str | None) -> None:
    (thread,) = read_json([example(language=given_language)]).threads
    assert thread.language == expected


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"id": None}, "id", ProblemCode.NOT_A_TEXT),
        ({"id": "  "}, "id", ProblemCode.EMPTY),
        ({"id": True}, "id", ProblemCode.NOT_A_TEXT),
        ({"id": "x" * 201}, "id", ProblemCode.TOO_LONG),
        ({"subject": ["a"]}, "subject", ProblemCode.NOT_A_TEXT),
        ({"subject": "x" * 501}, "subject", ProblemCode.TOO_LONG),
        ({"subject": "a\x00b"}, "subject", ProblemCode.FORBIDDEN_CHARACTER),
        ({"language": "fr"}, "language", ProblemCode.UNKNOWN_LANGUAGE),
        ({"messages": []}, "messages", ProblemCode.NO_MESSAGES),
        ({"messages": "text"}, "messages", ProblemCode.NOT_A_LIST),
        ({"messages": [CLIENT, "text"]}, "messages.1", ProblemCode.NOT_AN_OBJECT),
        ({"messages": [{**CLIENT, "role": "Client"}]}, "messages.0.role", ProblemCode.UNKNOWN_ROLE),
        ({"messages": [{"content": "x"}]}, "messages.0.role", ProblemCode.MISSING),
        ({"messages": [CLIENT, {"role": "client"}]}, "messages.1.content", ProblemCode.MISSING),
        ({"messages": [{**CLIENT, "content": " \n"}]}, "messages.0.content", ProblemCode.EMPTY),
        ({"messages": [{**CLIENT, "content": 5}]}, "messages.0.content", ProblemCode.NOT_A_TEXT),
        ({"messages": [{**CLIENT, "content": "a\x00"}]}, "messages.0.content", ProblemCode.FORBIDDEN_CHARACTER),
        ({"messages": [{**CLIENT, "content": "\ud83d"}]}, "messages.0.content", ProblemCode.FORBIDDEN_CHARACTER),
        ({"messages": [{**CLIENT, "content": "x" * (MAX_CONTENT + 1)}]}, "messages.0.content", ProblemCode.TOO_LONG),
        ({"messages": [{**CLIENT, "sent_at": "yesterday"}]}, "messages.0.sent_at", ProblemCode.INVALID_TIME),
        ({"messages": [{**CLIENT, "sent_at": 1700000000}]}, "messages.0.sent_at", ProblemCode.INVALID_TIME),
        ({"messages": [{**CLIENT, "sent_at": "0001-01-01T00:00:00"}]}, "messages.0.sent_at", ProblemCode.INVALID_TIME),
        ({"extra": "\ud83d"}, "metadata", ProblemCode.FORBIDDEN_CHARACTER),
        ({"extra": {"\x00": 1}}, "metadata", ProblemCode.FORBIDDEN_CHARACTER),
        ({"metadata": "text"}, "metadata", ProblemCode.NOT_AN_OBJECT),
    ],
)
def test_a_broken_rule_is_named_with_row_and_field(change: dict[str, Any], field: str, code: ProblemCode) -> None:
    result = read_json([example(id="fine"), example(**change)])
    assert places(result) == [(2, field, code)]


def test_all_broken_rules_of_all_threads_are_named_at_once() -> None:
    result = read_json([{"id": "a"}, 5, example(messages=[{"role": "x", "content": ""}])])
    assert places(result) == [
        (1, "messages", ProblemCode.MISSING),
        (2, "", ProblemCode.NOT_AN_OBJECT),
        (3, "messages.0.role", ProblemCode.UNKNOWN_ROLE),
        (3, "messages.0.content", ProblemCode.EMPTY),
    ]


def test_an_id_that_comes_twice_names_the_first_row() -> None:
    result = read_json([example(), example(id="t2"), example(subject="Another")])
    assert places(result) == [(3, "id", ProblemCode.DUPLICATE_ID)]
    assert result.problems[0].params == {"row": 1}


@pytest.mark.parametrize(
    ("data", "row", "line", "column"),
    [
        (b"[", 1, 1, 2),
        (b"[1}", 1, 1, 3),
        (b'[\n {"id": ]\n', 1, 3, 1),
        (b'{"id": "a"', 1, 1, 11),
        (b'{"id": "a"} x', 1, 1, 13),
        (b'["\xc3\xa4\xc3\xa4", \n"]', 2, 2, 1),
        (b'[{"id": "\xc3\xa4\xc3\xa4" 5}]', 1, 1, 14),
        (b"[,]", 1, 1, 2),
        (b"[] []", 1, 1, 4),
    ],
)
def test_invalid_json_is_told_with_line_and_column(data: bytes, row: int, line: int, column: int) -> None:
    problem = read(data, "x").problems[-1]
    assert (problem.row, problem.code) == (row, ProblemCode.INVALID_JSON)
    assert problem.params == {"line": line, "column": column}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", ProblemCode.EMPTY_FILE),
        (b" \n", ProblemCode.EMPTY_FILE),
        (b"id;subject", ProblemCode.UNKNOWN_FORMAT),
        (b"PK\x03\x04", ProblemCode.UNKNOWN_FORMAT),
        ("[]".encode("utf-16"), ProblemCode.NOT_UTF8),
        (b"[]", ProblemCode.NO_THREADS),
    ],
)
def test_a_file_without_threads_is_a_problem_of_the_file(data: bytes, code: ProblemCode) -> None:
    assert places(read(data, "threads.json")) == [(0, "", code)]


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (b'{"id": "\xe4"}', ProblemCode.NOT_UTF8),
        (b'{"id": "a", "id": "b"}', ProblemCode.DUPLICATE_KEY),
        (b'{"id": NaN}', ProblemCode.INVALID_NUMBER),
        (b'{"x": 1e999, "id": "a", "messages": [{"role": "client", "content": "x"}]}', ProblemCode.INVALID_NUMBER),
        (b"1" * 5000, ProblemCode.INVALID_NUMBER),
        (b"[" * 100_000 + b"]" * 100_000, ProblemCode.TOO_DEEP),
        (b'{"x": ' + b"[" * 50 + b"]" * 50 + b', "id": "a", "messages": [{"role": "client", "content": "x"}]}',
         ProblemCode.TOO_DEEP),
        (b'"' + b"x" * MAX_THREAD_BYTES + b'"', ProblemCode.THREAD_TOO_LARGE),
        (b"[" * (MAX_THREAD_BYTES + 1), ProblemCode.THREAD_TOO_LARGE),
    ],
)  # fmt: skip
def test_what_no_database_holds_or_no_memory_bears_is_refused_with_its_row(entry: bytes, code: ProblemCode) -> None:
    result = read(b"[" + json.dumps(example()).encode() + b", " + entry + b"]", "x")
    assert [(p.row, p.code) for p in result.problems] == [(2, code)]


def test_a_file_above_the_limit_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pillars.readers.detect.MAX_FILE_BYTES", 10)
    assert places(read(b"[" + b" " * 10 + b"]", "x")) == [(0, "", ProblemCode.FILE_TOO_LARGE)]


def test_more_threads_than_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_list, "MAX_THREADS", 2)
    assert read_json([example(id=str(n)) for n in range(3)]).problems == ()
    result = read_json([example(id=str(n)) for n in range(4)])
    assert [p.code for p in result.problems] == [ProblemCode.TOO_MANY_THREADS]


def test_reading_stops_after_many_problems() -> None:
    result = read_json([5] * (MAX_PROBLEMS * 3))
    assert len(result.problems) == MAX_PROBLEMS + 1
    assert result.problems[-1].code == ProblemCode.STOPPED
    assert result.problems[-1].row == MAX_PROBLEMS


def test_problems_hold_no_text_of_the_file() -> None:
    secret = "Geheimnis"
    result = read_json([{"id": secret, secret: 1, "messages": [{"role": secret, "content": 1, "sent_at": secret}]}])
    assert result.problems
    assert secret not in repr([(problem, problem.message) for problem in result.problems])


@pytest.mark.parametrize("code", list(ProblemCode))
def test_every_problem_has_words(code: ProblemCode) -> None:
    params = {"line": 1, "column": 2, "limit": 3, "megabytes": 4, "row": 5}
    assert "%" not in Problem(1, "", code, params).message

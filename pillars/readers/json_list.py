"""JSON: a list of threads, or one object that is a thread.

``[{"id", "subject"?, "pillar"?, "language"?, "messages": [{"role", "content", "sender"?, "sent_at"?}]}]``

The list is cut into its entries before any is decoded, so that memory follows the largest thread and not the file, and
a thread that is broken, or made to be expensive, is found with its number.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from pillars.readers.base import (
    MAX_PROBLEMS,
    MAX_THREAD_BYTES,
    MAX_THREADS,
    WHOLE_FILE,
    Problem,
    ProblemCode,
    ReadResult,
    ReadThread,
)
from pillars.readers.schema import thread_from

LIST_FORMAT = "json_list"
THREAD_FORMAT = "json_thread"

# A whole string, or a mark of structure. Possessive: a string is scanned once, whatever it holds.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["\[\]{},]', re.DOTALL)
_MEGABYTE = 1024 * 1024


class _Malformed(Exception):
    """The file breaks a rule from which reading cannot go on: in thread ``row``, or in the one being looked for."""

    def __init__(self, code: ProblemCode, params: dict[str, int], row: int | None = None) -> None:
        super().__init__(str(code))
        self.code = code
        self.params = params
        self.row = row


class _DuplicateKeyError(ValueError):
    pass


class _NumberError(ValueError):
    pass


def read_list(data: bytes) -> ReadResult:
    """Read ``[thread, ...]``; ``data`` begins with ``[`` after white space."""
    threads, problems = _collect(data, _entries(data))
    if not threads and not problems:
        problems = [Problem(WHOLE_FILE, "", ProblemCode.NO_THREADS)]
    return ReadResult(LIST_FORMAT, tuple(threads), tuple(problems))


def read_one(data: bytes) -> ReadResult:
    """Read a file that is one thread; ``data`` begins with ``{`` after white space."""
    threads, problems = _collect(data, _whole(data))
    return ReadResult(THREAD_FORMAT, tuple(threads), tuple(problems))


def _collect(data: bytes, bounds: Iterator[tuple[int, int]]) -> tuple[list[ReadThread], list[Problem]]:
    threads: list[ReadThread] = []
    problems: list[Problem] = []
    rows_by_id: dict[str, int] = {}
    row = 0
    try:
        for row, (begin, end) in enumerate(bounds, start=1):
            found = _thread(data, begin, end, row)
            if isinstance(found, list):
                problems.extend(found)
            elif first := rows_by_id.get(found.external_id):
                problems.append(Problem(row, "id", ProblemCode.DUPLICATE_ID, {"row": first}))
            else:
                rows_by_id[found.external_id] = row
                threads.append(found)
            if len(problems) >= MAX_PROBLEMS:
                return threads, [*problems[:MAX_PROBLEMS], Problem(row, "", ProblemCode.STOPPED)]
    except _Malformed as malformed:
        problems.append(Problem(malformed.row or row + 1, "", malformed.code, malformed.params))
    return threads, problems


def _thread(data: bytes, begin: int, end: int, row: int) -> ReadThread | list[Problem]:
    if end - begin > MAX_THREAD_BYTES:
        return [Problem(row, "", ProblemCode.THREAD_TOO_LARGE, {"megabytes": MAX_THREAD_BYTES // _MEGABYTE})]
    try:
        text = data[begin:end].decode("utf-8")
    except UnicodeDecodeError as error:
        line, _ = _place(data, begin + error.start)
        return [Problem(row, "", ProblemCode.NOT_UTF8, {"line": line})]
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise _invalid(data, begin + len(text[: error.pos].encode("utf-8")), row) from None
    except _DuplicateKeyError:
        return [Problem(row, "", ProblemCode.DUPLICATE_KEY)]
    except _NumberError:
        return [Problem(row, "", ProblemCode.INVALID_NUMBER)]
    except RecursionError:
        return [Problem(row, "", ProblemCode.TOO_DEEP)]
    return thread_from(value, row)


def _entries(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each entry of the outermost list begins and ends. What lies inside an entry is left to the JSON decoder."""
    begin = data.index(b"[") + 1
    depth = count = 0
    for token in _TOKEN.finditer(data, begin):
        mark = token[0]
        if mark == b'"':
            raise _invalid(data, token.start())  # a string without an end
        if mark in (b"[", b"{"):
            depth += 1
        elif mark in (b"]", b"}") and depth:
            depth -= 1
        elif mark in (b"]", b"}"):
            yield from _last(data, begin, token.start(), count)
            return
        elif mark == b"," and not depth:
            count += 1
            if count > MAX_THREADS:
                raise _Malformed(ProblemCode.TOO_MANY_THREADS, {"limit": MAX_THREADS})
            yield begin, token.start()
            begin = token.end()
        if token.end() - begin > MAX_THREAD_BYTES:
            raise _Malformed(ProblemCode.THREAD_TOO_LARGE, {"megabytes": MAX_THREAD_BYTES // _MEGABYTE})
    raise _invalid(data, len(data))


def _last(data: bytes, begin: int, close: int, count: int) -> Iterator[tuple[int, int]]:
    """The entry before the closing bracket (none in an empty list), if nothing follows the bracket."""
    if data[close : close + 1] != b"]":
        raise _invalid(data, close)
    if count or data[begin:close].strip():
        yield begin, close
    rest = data[close + 1 :]
    if rest.strip():
        raise _invalid(data, close + 1 + len(rest) - len(rest.lstrip()))


def _whole(data: bytes) -> Iterator[tuple[int, int]]:
    yield 0, len(data)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _DuplicateKeyError
    return value


def _refuse_constant(_: str) -> Any:
    raise _NumberError


def _integer(digits: str) -> int:
    if len(digits) > 40:
        raise _NumberError
    return int(digits)


def _invalid(data: bytes, offset: int, row: int | None = None) -> _Malformed:
    line, column = _place(data, offset)
    return _Malformed(ProblemCode.INVALID_JSON, {"line": line, "column": column}, row)


def _place(data: bytes, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of a byte; columns count characters."""
    line_start = data.rfind(b"\n", 0, offset) + 1
    return data.count(b"\n", 0, offset) + 1, len(data[line_start:offset].decode("utf-8", "replace")) + 1

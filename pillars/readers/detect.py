"""Which reader a file needs, told by what is in it and not by its name."""

import codecs

from pillars.readers.base import MAX_FILE_BYTES, WHOLE_FILE, Problem, ProblemCode, ReadResult
from pillars.readers.json_list import read_list, read_one

UNKNOWN_FORMAT = "unknown"
_OTHER_ENCODINGS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read(data: bytes, file_name: str) -> ReadResult:
    """Read a file of threads. Never raises for what the file holds: problems say what is wrong and where.

    ``file_name`` is for formats whose content does not tell them apart; JSON needs none.
    """
    if len(data) > MAX_FILE_BYTES:
        return _refused(ProblemCode.FILE_TOO_LARGE, {"megabytes": MAX_FILE_BYTES // (1024 * 1024)})
    if data.startswith(_OTHER_ENCODINGS):
        return _refused(ProblemCode.NOT_UTF8, {"line": 1})
    data = data.removeprefix(codecs.BOM_UTF8)
    match data.lstrip()[:1]:
        case b"":
            return _refused(ProblemCode.EMPTY_FILE)
        case b"[":
            return read_list(data)
        case b"{":
            return read_one(data)
        case _:
            return _refused(ProblemCode.UNKNOWN_FORMAT)


def _refused(code: ProblemCode, params: dict[str, int] | None = None) -> ReadResult:
    return ReadResult(UNKNOWN_FORMAT, (), (Problem(WHOLE_FILE, "", code, params or {}),))

"""The shape of one thread in a file: strict about what is read, tolerant of keys it does not know."""

import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from pillars.readers.base import Problem, ProblemCode, ReadMessage, ReadThread

MAX_ID = 200
MAX_SUBJECT = 500
MAX_SENDER = 200
MAX_CONTENT = 200_000
MAX_MESSAGES = 2_000
MAX_DEPTH = 20

# PostgreSQL stores neither NUL nor a lone surrogate; neither is a letter anybody wrote.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_CODES = {
    "missing": ProblemCode.MISSING,
    "model_type": ProblemCode.NOT_AN_OBJECT,
    "dict_type": ProblemCode.NOT_AN_OBJECT,
    "list_type": ProblemCode.NOT_A_LIST,
    "string_type": ProblemCode.NOT_A_TEXT,
    "string_too_long": ProblemCode.TOO_LONG,
    "too_long": ProblemCode.TOO_LONG,
    "too_short": ProblemCode.NO_MESSAGES,
}


def _broken(code: ProblemCode) -> PydanticCustomError:
    return PydanticCustomError(str(code), "rule broken")  # type: ignore[arg-type]  # the type is a literal for checkers


def _storable(text: str) -> str:
    if _UNSTORABLE.search(text):
        raise _broken(ProblemCode.FORBIDDEN_CHARACTER)
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise _broken(ProblemCode.EMPTY)
    return text


def _number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _nothing_as_empty(value: object) -> object:
    return "" if value is None else value


def _nothing_as_no_keys(value: object) -> object:
    return {} if value is None else value


def _role(value: object) -> object:
    if value not in ("counsellor", "client"):
        raise _broken(ProblemCode.UNKNOWN_ROLE)
    return value


def _language(value: object) -> object:
    if value is None or value == "":
        return None
    code = re.split("[-_]", value.lower())[0] if isinstance(value, str) else ""
    if code not in ("de", "en"):
        raise _broken(ProblemCode.UNKNOWN_LANGUAGE)
    return code


def _time(value: object) -> object:
    if value is None or value == "":
        return None
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        time = None
    if time is None or not 1900 <= time.year <= 2200:
        raise _broken(ProblemCode.INVALID_TIME)
    return time


_Stripped = AfterValidator(str.strip)
_Text = Annotated[str, AfterValidator(_storable)]
_Id = Annotated[_Text, BeforeValidator(_number_as_text), AfterValidator(_not_blank), _Stripped]
_Optional = Annotated[_Text, BeforeValidator(_nothing_as_empty)]
_Label = Annotated[_Optional, BeforeValidator(_number_as_text), _Stripped]


class MessageRecord(BaseModel):
    """One message of a file."""

    model_config = ConfigDict(extra="allow", strict=True)

    role: Annotated[Literal["counsellor", "client"], BeforeValidator(_role)]
    content: Annotated[_Text, Field(max_length=MAX_CONTENT), AfterValidator(_not_blank)]
    sender: Annotated[_Optional, Field(max_length=MAX_SENDER)] = ""
    sent_at: Annotated[datetime | None, BeforeValidator(_time)] = None


class ThreadRecord(BaseModel):
    """One thread of a file."""

    model_config = ConfigDict(extra="allow", strict=True)

    id: Annotated[_Id, Field(max_length=MAX_ID, validation_alias=AliasChoices("id", "thread_id"))]
    subject: Annotated[_Optional, Field(max_length=MAX_SUBJECT)] = ""
    pillar: Annotated[_Label, Field(max_length=MAX_ID)] = ""
    language: Annotated[Literal["de", "en"] | None, BeforeValidator(_language)] = None
    metadata: Annotated[dict[str, Any], BeforeValidator(_nothing_as_no_keys)] = Field(default_factory=dict)
    messages: Annotated[list[MessageRecord], Field(min_length=1, max_length=MAX_MESSAGES)]


def thread_from(value: object, row: int) -> ReadThread | list[Problem]:
    """The thread in one decoded JSON value, or every rule it breaks (never empty)."""
    try:
        record = ThreadRecord.model_validate(value)
    except ValidationError as error:
        return list(_problems(error, row))
    metadata = _metadata(record)
    if code := unstorable(metadata):
        return [Problem(row, "metadata", code)]
    return ReadThread(
        row=row,
        external_id=record.id,
        subject=record.subject,
        language=record.language,
        pillar_label=record.pillar or None,
        messages=tuple(ReadMessage(m.role, m.content, m.sender, m.sent_at) for m in record.messages),
        metadata=metadata,
    )


def _problems(error: ValidationError, row: int) -> Iterator[Problem]:
    for item in error.errors(include_url=False, include_input=False):
        code = _CODES.get(item["type"])
        if code is None:
            code = ProblemCode(item["type"]) if item["type"] in set(ProblemCode) else ProblemCode.INVALID
        limit = item.get("ctx", {}).get("max_length")
        yield Problem(row, ".".join(map(str, item["loc"])), code, {"limit": limit} if limit is not None else {})


def _metadata(record: ThreadRecord) -> dict[str, Any]:
    metadata = {**record.metadata, **(record.model_extra or {})}
    extras = {str(place): message.model_extra for place, message in enumerate(record.messages) if message.model_extra}
    return {**metadata, "messages": extras} if extras else metadata


def unstorable(metadata: dict[str, Any]) -> ProblemCode | None:
    """The first rule that free values break; walks with a stack of its own, since the depth is the file's."""
    stack: list[tuple[object, int]] = [(metadata, 0)]
    while stack:
        value, depth = stack.pop()
        if depth > MAX_DEPTH:
            return ProblemCode.TOO_DEEP
        if isinstance(value, str) and _UNSTORABLE.search(value):
            return ProblemCode.FORBIDDEN_CHARACTER
        if isinstance(value, float) and not math.isfinite(value):
            return ProblemCode.INVALID_NUMBER
        if isinstance(value, dict):
            stack.extend((part, depth + 1) for pair in value.items() for part in pair)
        elif isinstance(value, list):
            stack.extend((part, depth + 1) for part in value)
    return None

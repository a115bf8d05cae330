"""Request bodies that go to a reader as they are."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from pillars.readers.base import MAX_FILE_BYTES


class RawJSONParser(BaseParser):
    """Hands over the bytes: the import's own reader decodes them, and says in which thread something is wrong."""

    media_type = "application/json"

    def parse(  # type: ignore[override]  # bytes, by intent
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """At most one byte more than the reader takes, so that it can tell."""
        return bytes(stream.read(MAX_FILE_BYTES + 1))

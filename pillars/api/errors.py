"""Refusals of this API; the project's exception handler gives them the one error shape."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import status
from rest_framework.exceptions import APIException

from pillars.services.imports import ImportRefused


class ImportRefusedError(APIException):
    """Nothing was imported; ``details`` holds row, field, message and code of every problem."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_detail = _("Nothing was imported.")
    default_code = "import_refused"

    def __init__(self, refused: ImportRefused) -> None:
        super().__init__()
        self.details: list[dict[str, Any]] = [problem.as_dict() for problem in refused.problems]

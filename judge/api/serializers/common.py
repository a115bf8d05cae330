"""Fields and shapes that several answers share."""

import math
from typing import Any

from rest_framework import serializers


class FiniteFloat(serializers.FloatField):
    """A number that JSON can hold: infinite and undefined become null."""

    def to_representation(self, value: Any) -> Any:
        """The number, or None."""
        number = float(value)
        return number if math.isfinite(number) else None


class ErrorSerializer(serializers.Serializer[Any]):
    """The shape of every error."""

    error = serializers.CharField(help_text="A sentence for people, in their language.")
    error_type = serializers.CharField(help_text="A stable word for programs.")
    details = serializers.JSONField(help_text="What belongs to single fields or rows; {} where there is nothing.")

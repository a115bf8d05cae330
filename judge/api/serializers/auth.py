"""Tokens."""

from typing import Any

from rest_framework import serializers


class LoginSerializer(serializers.Serializer[Any]):
    """Name and password, in the body and nowhere else."""

    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=4096, trim_whitespace=False, style={"input_type": "password"})


class TokenSerializer(serializers.Serializer[Any]):
    """A new token; it is shown this once and stored only as a hash."""

    token = serializers.CharField(help_text="To be sent as header 'Authorization: Token ...'.")
    expiry = serializers.DateTimeField(allow_null=True, help_text="null: valid until it is revoked.")

"""Encryption of stored API keys with keys of their own (LLARS_FIELD_KEYS), not with Django's secret."""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


def _cipher() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.JUDGE_FIELD_KEYS])


def encrypt(plain: str) -> str:
    """Encrypt with the first key; an empty text stays empty."""
    return _cipher().encrypt(plain.encode()).decode() if plain else ""


def decrypt(token: str) -> str:
    """Decrypt with any of the keys.

    Raises:
        ImproperlyConfigured: none of the keys fits; a key that is silently lost would look like a provider's refusal.
    """
    try:
        return _cipher().decrypt(token.encode()).decode() if token else ""
    except InvalidToken:
        raise ImproperlyConfigured("LLARS_FIELD_KEYS: no key decrypts a stored API key.") from None

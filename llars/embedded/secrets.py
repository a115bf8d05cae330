"""Random secrets of the embedded run, kept in ``<data dir>/settings.env`` for this user's eyes only."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from cryptography.fernet import Fernet
from dotenv import dotenv_values

FILE = "settings.env"
HEADER = "# Written by the quickstart. Keep it: without the field key, stored API keys cannot be read again.\n"


def read(data_dir: Path) -> dict[str, str]:
    """The variables kept in the data directory; empty before the first run."""
    path = data_dir / FILE
    return (
        {name: value or "" for name, value in dotenv_values(path, interpolate=False).items()} if path.exists() else {}
    )


def write(data_dir: Path, variables: Mapping[str, str]) -> None:
    """Replace the file in one step, readable by this user alone.

    Values must not hold quotes or line breaks.
    """
    lines = [f"{name}='{value}'\n" for name, value in sorted(variables.items())]
    if any("'" in value or "\n" in value for value in variables.values()):
        raise ValueError("a value in settings.env must not hold a quote or a line break")
    data_dir.mkdir(parents=True, exist_ok=True)
    draft = data_dir / f"{FILE}.new"
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.writelines([HEADER, *lines])
    draft.replace(data_dir / FILE)


def ensure(data_dir: Path) -> dict[str, str]:
    """Return the kept variables, with a secret key and a field encryption key made if they are missing."""
    kept = read(data_dir)
    made = {
        "LLARS_SECRET_KEY": kept.get("LLARS_SECRET_KEY") or secrets.token_urlsafe(50),
        "LLARS_FIELD_KEYS": kept.get("LLARS_FIELD_KEYS") or Fernet.generate_key().decode(),
    }
    if any(kept.get(name) != value for name, value in made.items()):
        write(data_dir, {**kept, **made})
    return {**kept, **made}


def password() -> str:
    """A random password of 99 bits that can be typed: four groups of letters and digits that look different."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(alphabet) for _ in range(5)) for _ in range(4))

"""The one reader of the environment: every variable the product knows, typed, with its meaning.

A variable that is missing or has a wrong value stops the program with its name and the reason; nothing is guessed.
Values come from the environment and, where it exists, from ``<data dir>/settings.env`` (the quickstart writes it).
"""

import os
from functools import cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "LLARS_"

NameList = Annotated[tuple[str, ...], NoDecode]


class Environment(BaseSettings):
    """All variables, without their prefix ``LLARS_``. Lists are separated by commas."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True)

    secret_key: SecretStr = Field(description="Signs cookies and CSRF tokens; at least 32 characters.", min_length=32)
    field_keys: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        description="Fernet keys for stored API keys: the first encrypts, all decrypt (rotate by putting one in front)."
    )
    debug: bool = Field(default=False, description="Django's debug pages; never on a machine that others reach.")
    allowed_hosts: NameList = Field(default=("localhost", "127.0.0.1"), description="Host names the pages answer to.")
    trusted_origins: NameList = Field(
        default=(), description="Origins (https://...) that may post forms and open sockets."
    )
    https: bool = Field(default=False, description="Pages are served over HTTPS: secure cookies and HSTS.")
    data_dir: Path = Field(default=ROOT / ".llars", description="Where the embedded run keeps database, logs, secrets.")
    database_url: str = Field(default="", description="postgres://... or sqlite:///...; empty: SQLite in the data dir.")
    redis_url: str = Field(default="redis://127.0.0.1:6379/0", description="redis://... or unix://... of the broker.")
    host: str = Field(default="127.0.0.1", description="Address the quickstart's web server listens on.")
    port: int = Field(default=8000, ge=1, le=65535, description="Port the quickstart's web server listens on.")
    admin_password: SecretStr | None = Field(default=None, description="First password of the user 'admin'.")
    llm_base_url: str = Field(default="", description="OpenAI-compatible endpoint for the command line, ending in /v1.")
    llm_api_key: SecretStr = Field(default=SecretStr(""), description="Its key; may be empty for a local server.")
    llm_model: str = Field(default="", description="The model to ask there.")
    local_llm_hosts: NameList = Field(
        default=(),
        description="host or host:port of model servers in private networks that may be called, beside LLM_BASE_URL.",
    )
    lease_seconds: int = Field(
        default=30, ge=1, le=3600, description="How long a claimed comparison waits for a sign of life."
    )
    heartbeat_seconds: float = Field(default=10, gt=0, le=600, description="How often a worker extends its leases.")
    probe_seconds: float = Field(
        default=30, gt=0, le=3600, description="How often a provider that does not answer is tried again."
    )
    recovery_seconds: float = Field(default=10, gt=0, le=600, description="How often lost work is looked for.")
    confirm_above: int = Field(
        default=10_000, ge=1, le=100_000_000, description="Plans with more comparisons than this must be confirmed."
    )
    max_comparisons: int = Field(
        default=2_000_000, ge=1, le=100_000_000, description="The most comparisons that one session may have."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="DEBUG, INFO, WARNING or ERROR."
    )
    log_format: Literal["line", "json"] = Field(
        default="line", description="line for people, json for collectors of logs."
    )
    metrics_token: SecretStr = Field(
        default=SecretStr(""), description="Who scrapes /metrics sends it as Bearer; empty: /metrics is not there."
    )
    metrics_port: int = Field(
        default=0, ge=0, le=65535, description="First port at which a worker serves its metrics; 0: none does."
    )
    metrics_host: str = Field(default="127.0.0.1", description="Address at which workers serve their metrics.")

    @field_validator("allowed_hosts", "trusted_origins", "field_keys", "local_llm_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("database_url")
    @classmethod
    def _names_a_database(cls, value: str) -> str:
        return _with_scheme(value, "postgres", "postgresql", "sqlite") if value else value

    @field_validator("redis_url")
    @classmethod
    def _names_a_redis(cls, value: str) -> str:
        return _with_scheme(value, "redis", "rediss", "unix")

    @field_validator("llm_base_url")
    @classmethod
    def _names_an_endpoint(cls, value: str) -> str:
        return _with_scheme(value, "http", "https") if value else value

    @field_validator("heartbeat_seconds")
    @classmethod
    def _beats_before_the_lease_ends(cls, value: float, info: ValidationInfo) -> float:
        if value >= info.data.get("lease_seconds", 3600):
            raise ValueError("must be shorter than LLARS_LEASE_SECONDS, or every lease runs out")
        return value

    @property
    def allowed_llm_hosts(self) -> tuple[str, ...]:
        """Model servers in private networks that may be called: the list, and the one named for the command line."""
        named = urlsplit(self.llm_base_url).netloc.rpartition("@")[2]
        return (*self.local_llm_hosts, named) if named else self.local_llm_hosts

    @field_validator("metrics_port", mode="before")
    @classmethod
    def _empty_is_off(cls, value: object) -> object:
        return 0 if value == "" else value

    @field_validator("field_keys")
    @classmethod
    def _at_least_one_key(cls, value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        from cryptography.fernet import Fernet

        if not value:
            raise ValueError("at least one Fernet key is needed")
        for key in value:
            Fernet(key.get_secret_value())
        return value


def _with_scheme(url: str, *schemes: str) -> str:
    """The URL, if it can be read as one and begins with one of the schemes; ValueError without quoting it else."""
    try:
        found = urlsplit(url).scheme
    except ValueError:
        found = ""
    if found not in schemes:
        raise ValueError(f"must be a URL that begins with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    return url


def settings_file() -> Path:
    """The quickstart's file of variables in the data directory; it need not exist."""
    return Path(os.environ.get(f"{PREFIX}DATA_DIR") or ROOT / ".llars") / "settings.env"


@cache
def environment() -> Environment:
    """Read and check all variables once.

    Raises:
        ImproperlyConfigured: names each variable at fault and why, never its value.
    """
    try:
        return Environment(_env_file=settings_file())
    except ValidationError as error:
        problems = [f"{PREFIX}{str(item['loc'][0]).upper()}: {item['msg']}" for item in error.errors()]
        raise ImproperlyConfigured("The environment is not usable. " + "; ".join(problems)) from None

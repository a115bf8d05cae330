"""The reader of the environment."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from llars import env


@pytest.fixture(autouse=True)
def read_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> object:
    monkeypatch.setenv("LLARS_DATA_DIR", str(tmp_path))
    env.environment.cache_clear()
    yield
    monkeypatch.undo()
    env.environment.cache_clear()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LLARS_SECRET_KEY", "short-secret-value"),
        ("LLARS_FIELD_KEYS", "no-fernet-key"),
        ("LLARS_FIELD_KEYS", ""),
        ("LLARS_PORT", "70000"),
        ("LLARS_DEBUG", "perhaps"),
        ("LLARS_LEASE_SECONDS", "-1"),
        ("LLARS_HEARTBEAT_SECONDS", "45"),
        ("LLARS_LOG_LEVEL", "LOUD"),
        ("LLARS_DATABASE_URL", "nonsense"),
        ("LLARS_DATABASE_URL", "postgres://example:hidden[word@host/name"),
        ("LLARS_REDIS_URL", "nonsense"),
        ("LLARS_LLM_BASE_URL", "http://["),
        ("LLARS_LLM_BASE_URL", "nonsense"),
    ],
)
def test_a_wrong_value_names_its_variable_and_not_the_value(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=name) as refused:
        env.environment()
    assert not value or value not in str(refused.value)


def test_a_lease_shorter_than_a_heartbeat_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLARS_HEARTBEAT_SECONDS", raising=False)
    monkeypatch.setenv("LLARS_LEASE_SECONDS", "5")
    with pytest.raises(ImproperlyConfigured, match="LLARS_HEARTBEAT_SECONDS"):
        env.environment()


def test_a_missing_secret_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLARS_SECRET_KEY")
    with pytest.raises(ImproperlyConfigured, match="LLARS_SECRET_KEY"):
        env.environment()


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLARS_ALLOWED_HOSTS", "a.example.org, b.example.org")
    assert env.environment().allowed_hosts == ("a.example.org", "b.example.org")


def test_the_model_server_named_by_the_operator_may_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLARS_LOCAL_LLM_HOSTS", "10.0.0.5")
    monkeypatch.setenv("LLARS_LLM_BASE_URL", "http://127.0.0.1:8081/v1")
    assert env.environment().allowed_llm_hosts == ("10.0.0.5", "127.0.0.1:8081")

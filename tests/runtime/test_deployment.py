"""What operators copy: compose file, example of the environment, container image, hooks."""

import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from llars import container_health
from llars.env import PREFIX, Environment, environment

ROOT = Path(__file__).resolve().parents[2]
SECRET = re.compile(r"PASSWORD|SECRET|KEY|AUTH|_URL")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert isinstance(loaded, dict)
    return loaded


def example() -> dict[str, str]:
    """Every variable of .env.example, also those that stand there as a comment, with its value."""
    text = (ROOT / ".env.example").read_text()
    return dict(re.findall(r"^#?([A-Z][A-Z_]*)=(.*)$", text, flags=re.MULTILINE))


def test_every_service_that_stays_has_a_health_check_and_restarts(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert {"web", "worker", "beat", "postgres", "redis"} <= services.keys()
    for name in services.keys() - {"migrate"}:
        assert services[name]["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}, name
        assert services[name]["restart"] == "unless-stopped", name


def test_the_code_waits_for_healthy_servers_and_the_migration(compose: dict[str, Any]) -> None:
    for name in ("web", "worker", "beat"):
        assert compose["services"][name]["depends_on"] == {
            "postgres": {"condition": "service_healthy"},
            "redis": {"condition": "service_healthy"},
            "migrate": {"condition": "service_completed_successfully"},
        }


def test_no_secret_has_a_value_or_a_default(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        for variable, value in service.get("environment", {}).items():
            if SECRET.search(variable):
                assert re.search(r"\$\{[A-Z_]+:\?[^}]+\}", value), f"{name}: {variable}"
                assert ":-" not in value, f"{name}: {variable}"


def test_data_lies_in_volumes_and_nothing_but_the_pages_is_published(compose: dict[str, Any]) -> None:
    volumes = {volume.split(":")[0] for s in compose["services"].values() for volume in s.get("volumes", [])}
    assert volumes == set(compose["volumes"]) == {"postgres-data", "redis-data"}
    published = {name: service["ports"] for name, service in compose["services"].items() if "ports" in service}
    assert published == {"web": ["${PUBLISH_ADDRESS:-127.0.0.1:8000}:8000"]}


def test_the_example_lists_every_variable_that_the_reader_knows_and_no_other() -> None:
    known = {PREFIX + name.upper() for name in Environment.model_fields}
    listed = {name for name in example() if name.startswith(PREFIX)}
    assert listed == known


def test_the_example_holds_no_secret_and_the_readers_own_defaults() -> None:
    for name, value in example().items():
        field = Environment.model_fields.get(name.removeprefix(PREFIX).lower())
        if SECRET.search(name) and value:
            assert name == "LLARS_REDIS_URL"
        elif field is not None and value and name != "LLARS_DATA_DIR":
            default = field.default
            shown = ",".join(default) if isinstance(default, tuple) else str(default)
            assert value.lower() == shown.lower(), name


def test_every_variable_that_compose_asks_for_stands_in_the_example() -> None:
    asked = set(re.findall(r"\$\{([A-Z_]+)[:}]", (ROOT / "docker-compose.yml").read_text()))
    assert asked <= example().keys()


def test_the_image_runs_as_a_plain_user_and_leaves_secrets_out() -> None:
    stages = (ROOT / "Dockerfile").read_text().split("\nFROM ")
    user = re.findall(r"^USER (\w+)$", stages[-1], flags=re.MULTILINE)
    assert user == ["llars"]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {".env", ".llars", ".git"} <= set(ignored)


def test_hooks_need_no_other_host() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert {repo["repo"] for repo in hooks["repos"]} == {"local"}


def test_a_clock_that_stopped_sending_is_not_healthy(tmp_path: Path) -> None:
    schedule = tmp_path / "schedule"
    (tmp_path / "schedule.dat").touch()  # its schedule is written, but nothing was sent
    assert not container_health.beat(schedule)
    mark = container_health.beat_mark(schedule)
    mark.touch()
    assert container_health.beat(schedule)
    longest = container_health.BEAT_MISSES * environment().recovery_seconds + container_health.BEAT_GRACE
    os.utime(mark, (time.time() - longest - 1,) * 2)
    assert not container_health.beat(schedule)


def test_an_unknown_part_is_a_usage_error() -> None:
    assert container_health.main(["database"]) == 2


def test_a_filled_in_example_is_readable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    filled = tmp_path / "filled.env"
    text = (ROOT / ".env.example").read_text()
    text = text.replace("LLARS_SECRET_KEY=\n", f"LLARS_SECRET_KEY={'0' * 64}\n")
    filled.write_text(text.replace("LLARS_FIELD_KEYS=\n", f"LLARS_FIELD_KEYS={'A' * 43}=\n"))
    assert Environment(_env_file=filled).allowed_hosts == ("localhost", "127.0.0.1")

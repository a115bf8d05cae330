"""The command line: ``judge`` plans, judges, waits and prints; ``rebuild_results`` rebuilds."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from judge.models import JudgeComparison, JudgeSession, LLMProvider, ThreadEloScore
from judge.services.providers import simulated_model
from judge.simulated.server import SimulatedServer
from llars import env
from pillars.demo.library import demo_files
from pillars.models import Pillar
from pillars.services.imports import import_threads

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


@pytest.fixture
def demo_threads(transactional_db: None) -> None:
    """The project's own threads in their pillars, and an owner."""
    User.objects.create_superuser("admin", password=None)
    for number, path in demo_files().items():
        import_threads(path.read_bytes(), path.name, Pillar.objects.get(number=number))


@pytest.fixture
def set_variables(monkeypatch: pytest.MonkeyPatch) -> object:
    """Set LLARS_* variables for a command."""

    def set_them(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"LLARS_{name.upper()}", value)
        env.environment.cache_clear()

    yield set_them
    monkeypatch.undo()
    env.environment.cache_clear()


def test_the_simulated_judge_finds_the_planted_order(demo_threads: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command(
        "judge", "--pillars", "1", "3", "5", "--samples", "5", "--swap", "--workers", "3", "--wait", "--seed", "3"
    )
    out, err = capsys.readouterr()
    assert "30 comparisons, 3 workers, seed 3" in out
    assert "Simulated, no LLM" in out
    assert "30/30" in err
    order = re.findall(r"^ +\d (\d) .*%.*$", out, re.MULTILINE)
    assert order == ["3", "1", "5"]
    session = JudgeSession.objects.get()
    assert (session.status, session.position_swap, session.worker_count) == ("completed", True, 3)


def test_without_swap_each_pair_is_judged_once(demo_threads: None) -> None:
    call_command("judge", "--pillars", "1", "3", "--samples", "2", "--wait")
    assert JudgeComparison.objects.count() == 2


def test_the_model_of_the_environment_is_asked(
    demo_threads: None, set_variables: object, server: SimulatedServer
) -> None:
    set_variables(llm_base_url=server.base_url, llm_model="example-model", llm_api_key="example-key")  # type: ignore[operator]
    call_command("judge", "--pillars", "1", "3", "--samples", "2", "--wait")
    assert [request["model"] for request in server.requests] == ["example-model"] * 2


def test_an_address_with_a_password_in_it_is_refused(demo_threads: None, set_variables: object) -> None:
    set_variables(llm_base_url="http://name:secret@10.1.2.3/v1", llm_model="example-model")  # type: ignore[operator]
    with pytest.raises(CommandError, match="LLARS_LLM_BASE_URL") as refused:
        call_command("judge", "--pillars", "1", "3", "--wait")
    assert "secret" not in str(refused.value)
    assert not JudgeSession.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pillars", "1"), "pillar_ids"),
        (("--pillars", "1", "99"), "99"),
        (("--pillars", "1", "99999999999999999999"), "99999999999999999999"),
        (("--pillars", "1", "3", "--samples", "-3"), "samples_per_pillar"),
        (("--pillars", "1", "3", "--workers", "6"), "worker_count"),
        (("--pillars", "1", "3", "--seed", "-1"), "seed"),
        (("--pillars", "1", "3", "--owner", "nobody"), "nobody"),
    ],
)
def test_bad_options_are_named_and_plan_nothing(demo_threads: None, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("judge", *arguments, "--wait")
    assert not JudgeSession.objects.exists()


def test_rebuilding_gives_the_same_table(demo_threads: None) -> None:
    call_command("judge", "--pillars", "1", "3", "--samples", "3", "--swap", "--wait")
    columns = ("session", "thread", "elo_score", "elo_low", "elo_high", "bt_score", "wins", "losses", "ties")
    before = list(ThreadEloScore.objects.order_by("thread").values_list(*columns))
    ThreadEloScore.objects.all().delete()
    call_command("rebuild_results")
    assert list(ThreadEloScore.objects.order_by("thread").values_list(*columns)) == before
    assert before


def test_a_simulated_judge_that_runs_already_is_asked(
    demo_threads: None, server: SimulatedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.conf.settings.JUDGE_LOCAL_LLM_HOSTS", (f"{server.host}:{server.port}",))
    simulated_model(server.base_url)
    monkeypatch.setattr("django.conf.settings.JUDGE_LOCAL_LLM_HOSTS", ())
    call_command("judge", "--pillars", "1", "3", "--samples", "2", "--wait")
    assert server.calls == 2
    assert LLMProvider.objects.filter(is_simulated=True).count() == 1

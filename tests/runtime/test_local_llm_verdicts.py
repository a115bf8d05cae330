"""Judging in the demo with a real model: verdicts are told, what failed is asked again, an end cuts running calls."""

import time
from collections.abc import Iterator

import pytest

from judge.models import JudgeComparison
from judge.services.leases import STOPPING
from judge.simulated.server import SimulatedServer
from llars.embedded.processes import ProgramFailed
from llars.localllm.verdicts import follow
from tests.conftest import MakeSession

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


@pytest.fixture(autouse=True)
def not_stopping() -> Iterator[None]:
    """The mark of a process that ends must not reach the next test."""
    yield
    STOPPING.clear()


def nothing_died() -> list[str]:
    return []


def test_every_verdict_is_told_with_pair_winner_times_and_tokens(make_session: MakeSession) -> None:
    session = make_session(threads=2, worker_count=1)
    lines: list[str] = []
    judged = follow(session, nothing_died, lines.append, timeout=60)
    assert judged.valid == len(lines) == session.total_comparisons
    assert lines[-1].strip().startswith(f"{len(lines)}/{len(lines)}")
    assert all(part in line for line in lines for part in ("winner", "confidence", "first text after", "tokens"))


def test_a_refused_answer_is_asked_for_again_and_never_made_up(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    session = make_session(threads=2, worker_count=1)
    server.script({"kind": "content_filter"})
    lines: list[str] = []
    judged = follow(session, nothing_died, lines.append, timeout=60)
    assert judged.valid == session.total_comparisons
    assert any("1 comparison(s) failed (refused)" in line for line in lines)


def test_a_model_that_never_gives_a_verdict_leaves_none(make_session: MakeSession, server: SimulatedServer) -> None:
    session = make_session(threads=2, worker_count=1)
    server.script(rules=[{"kind": "content_filter"}])
    judged = follow(session, nothing_died, lambda line: None, timeout=60)
    assert judged.valid == 0
    assert "refused" in judged.shortfall


def test_the_death_of_the_server_cuts_the_running_call_at_once(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    session = make_session(threads=2, worker_count=1)
    server.script(rules=[{"kind": "silence", "seconds": 110}])
    began = time.monotonic()

    def died() -> list[str]:
        if server.calls:
            raise ProgramFailed("local-llm ended unexpectedly")
        return []

    with pytest.raises(ProgramFailed):
        follow(session, died, lambda line: None, timeout=60)
    assert time.monotonic() - began < 40
    assert not JudgeComparison.objects.filter(session=session, status="running").exists()

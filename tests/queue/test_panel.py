"""A panel of three judges: each judges everything, lanes are shared fairly, and one that is unusable stops alone."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from judge.domain.errors import ErrorCode
from judge.domain.states import SessionStatus
from judge.models import JudgeComparison, JudgeEvaluation, JudgeSession, SessionJudge
from judge.services import control, foreground, leases, queue
from judge.services.foreground import judge_in_foreground
from judge.services.providers import simulated_model
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.conftest import MakeSession
from tests.queue.test_claims import taken

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

Panel = Callable[..., JudgeSession]


@pytest.fixture(autouse=True)
def quick_recovery(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session whose judges have stopped is looked at after a moment instead of ten seconds."""
    monkeypatch.setattr(foreground, "RECOVER_EVERY", 0.2)


@pytest.fixture
def servers() -> Iterator[list[SimulatedServer]]:
    """Three providers, each with a server of its own that counts its calls."""
    with ExitStack() as stack:
        yield [stack.enter_context(SimulatedServer(SimulatedSettings(seed=number))) for number in range(3)]


@pytest.fixture
def panel(make_session: MakeSession, servers: list[SimulatedServer]) -> Panel:
    """A session of the three judges: two pairs in both orders, twelve comparisons."""

    def make(**choices: object) -> JudgeSession:
        models = [simulated_model(server.base_url, f"Example provider {n}") for n, server in enumerate(servers)]
        ids = tuple(model.pk for model in models)
        return make_session(judge_model_ids=ids, threads=2, **choices)

    return make


def judge_until_it_rests(session: JudgeSession) -> JudgeSession:
    for _ in judge_in_foreground(session.pk, every_seconds=0.05):
        pass
    session.refresh_from_db()
    return session


def completed_by_position(session: JudgeSession) -> Counter[int]:
    rows = JudgeComparison.objects.filter(session=session, status="completed")
    return Counter(rows.values_list("judge__position", flat=True))


def test_each_judge_of_a_panel_judges_every_presentation(panel: Panel, servers: list[SimulatedServer]) -> None:
    session = judge_until_it_rests(panel())
    assert (session.status, session.completed_comparisons) == (SessionStatus.COMPLETED, 12)
    assert [server.calls for server in servers] == [4, 4, 4]
    presentations = JudgeEvaluation.objects.values_list(
        "comparison__judge__position", "comparison__pair", "comparison__position_order"
    )
    assert len(set(presentations)) == 12
    assert completed_by_position(session) == {0: 4, 1: 4, 2: 4}


def test_lanes_go_to_the_judge_with_the_fewest_and_then_by_the_queue(panel: Panel) -> None:
    """The first judge is slow and keeps its lane; it gets no second one while the others have work."""
    session = panel(worker_count=3)
    slow, *others = (taken(session, lane) for lane in range(3))
    assert len({claimed.judge_id for claimed in (slow, *others)}) == 3
    for _ in range(3):
        for claimed in others:
            queue.fail(claimed, ErrorCode.REFUSED)
        others = [taken(session, lane) for lane in (1, 2)]
        assert slow.judge_id not in {claimed.judge_id for claimed in others}
    for claimed in others:
        queue.fail(claimed, ErrorCode.REFUSED)
    # Nobody else has work left: now the slow judge may have all lanes.
    assert {taken(session, lane).judge_id for lane in (1, 2)} == {slow.judge_id}


def test_each_judge_takes_its_own_comparisons_in_the_order_of_the_queue(panel: Panel) -> None:
    session = panel(worker_count=1)
    positions: dict[int, list[int]] = {}
    for _ in range(12):
        claimed = taken(session)
        row = JudgeComparison.objects.get(pk=claimed.comparison_id)
        positions.setdefault(claimed.judge_id, []).append(row.queue_position)
        queue.fail(claimed, ErrorCode.REFUSED)
    assert len(positions) == 3
    assert all(taken == sorted(taken) for taken in positions.values())


def test_a_slow_judge_does_not_hold_the_others_up(
    panel: Panel, servers: list[SimulatedServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LOOK_EVERY", 0.3)
    servers[0].judge.settings = SimulatedSettings(latency_ms=120_000, chunks=800)
    session = panel(worker_count=3)
    for progress in judge_in_foreground(session.pk, every_seconds=0.05):
        if progress.completed == 8 and progress.status == SessionStatus.RUNNING:
            control.abort(session.pk)
    assert completed_by_position(session) == {1: 4, 2: 4}


def test_a_judge_with_a_wrong_key_stops_alone_and_goes_on_once_it_is_mended(
    panel: Panel, servers: list[SimulatedServer]
) -> None:
    servers[1].script(rules=[{"kind": "status", "status": 401}])
    session = judge_until_it_rests(panel(worker_count=3))
    assert completed_by_position(session) == {0: 4, 2: 4}
    assert (session.status, session.status_reason) == (SessionStatus.PAUSED, ErrorCode.UNAUTHORIZED)
    stopped = SessionJudge.objects.filter(session=session).values_list("position", "stop_reason")
    assert dict(stopped) == {0: "", 1: ErrorCode.UNAUTHORIZED, 2: ""}
    # Lanes that called it at the same moment; nobody calls it again.
    assert 1 <= servers[1].calls <= 3
    left = JudgeComparison.objects.filter(session=session, judge__position=1)
    assert set(left.values_list("status", "attempt_count")) == {("pending", 0)}

    servers[1].script()
    control.resume(session.pk)
    assert not SessionJudge.objects.filter(session=session).exclude(stop_reason="").exists()
    judge_until_it_rests(session)
    assert (session.status, session.status_reason) == (SessionStatus.COMPLETED, "")
    assert completed_by_position(session) == {0: 4, 1: 4, 2: 4}
    assert (session.failed_comparisons, session.completed_comparisons) == (0, 12)
    assert (servers[0].calls, servers[2].calls) == (4, 4)


def test_a_session_whose_judges_all_stopped_pauses_with_one_of_their_reasons(
    panel: Panel, servers: list[SimulatedServer]
) -> None:
    for server, status, code in zip(servers, (401, 401, 429), ("", "", "insufficient_quota"), strict=True):
        server.script(rules=[{"kind": "status", "status": status, "code": code or None}])
    session = judge_until_it_rests(panel(worker_count=3))
    assert session.status == SessionStatus.PAUSED
    reasons = dict(SessionJudge.objects.filter(session=session).values_list("position", "stop_reason"))
    assert reasons == {0: "unauthorized", 1: "unauthorized", 2: "insufficient_quota"}
    assert session.status_reason in reasons.values()
    assert session.completed_comparisons == session.failed_comparisons == 0

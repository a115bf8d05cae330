"""Faults that other pairwise judges show while they judge: each of these tests fails where one of them comes in."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction

from judge import events
from judge.domain.prompt import split_threads
from judge.domain.states import SessionStatus
from judge.models import JudgeEvaluation, JudgeModel, JudgePair
from judge.services import control, lanes, relay
from judge.services.claiming import Claim
from judge.services.errors import ConfigRefused
from judge.services.foreground import judge_in_foreground
from judge.services.planning.configuration import SessionConfig
from judge.services.planning.estimates import estimate
from judge.services.queue import claim
from judge.services.sessions import create_session
from judge.simulated.server import SimulatedServer
from pillars.models import Message
from tests.conftest import MakeSession
from tests.pillars.factories import EmailThreadFactory, PillarFactory
from tests.runtime.liveness import eventually

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

SPEAKERS = {"client": "[Ratsuchende Person]", "counsellor": "[Beratende Person]"}


def test_each_message_stands_under_the_role_of_its_writer(make_session: MakeSession, server: SimulatedServer) -> None:
    session = make_session(threads=1, position_swap=False)
    lanes.run_lane(session.pk, 0)
    (request,) = server.requests
    shown = split_threads(request["messages"][-1]["content"])
    assert shown is not None
    pair = session.pairs.get()
    for text, thread in zip(shown, (pair.thread_a, pair.thread_b), strict=True):
        letters = Message.objects.filter(thread=thread).order_by("position")
        assert text == "\n\n".join(f"{SPEAKERS[letter.role]}\n{letter.content}" for letter in letters)


@pytest.mark.parametrize(("coat", "begin", "end"), [("fenced", "```json\n{", "}\n```"), ("prose", "Here is", "helps.")])
def test_the_raw_answer_is_what_came_and_not_what_was_read_from_it(
    make_session: MakeSession, server: SimulatedServer, coat: str, begin: str, end: str
) -> None:
    server.script({"kind": coat})
    session = make_session(threads=1, position_swap=False)
    lanes.run_lane(session.pk, 0)
    evaluation = JudgeEvaluation.objects.get()
    assert evaluation.raw_response.startswith(begin)
    assert evaluation.raw_response.endswith(end)
    assert evaluation.comparison.attempts.get().raw_response == evaluation.raw_response


def test_resuming_while_an_old_call_runs_judges_nothing_twice(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    server.judge.settings = server.judge.settings.__class__(latency_ms=600, chunks=6)
    session = make_session(threads=1, worker_count=1)

    def old_call() -> None:
        try:
            lanes.run_lane(session.pk, 0)
        finally:
            connections.close_all()

    running = threading.Thread(target=old_call)
    running.start()
    assert eventually(lambda: server.calls == 1)
    control.pause(session.pk)
    control.resume(session.pk)
    assert claim(session.pk, 0) is None, "the lane is still judging"
    running.join(10)
    server.judge.settings = server.judge.settings.__class__()
    for _ in judge_in_foreground(session.pk, every_seconds=0.05):
        pass
    session.refresh_from_db()
    assert session.status == SessionStatus.COMPLETED
    assert JudgeEvaluation.objects.count() == server.calls == session.total_comparisons == 2


def test_the_database_refuses_a_thread_against_itself(make_session: MakeSession) -> None:
    pair = make_session(threads=1, is_started=False).pairs.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        JudgePair.objects.filter(pk=pair.pk).update(thread_b=pair.thread_a_id)


def test_the_estimate_knows_repetitions_and_small_pillars(make_session: MakeSession, model: JudgeModel) -> None:
    owner = make_session(threads=2, is_started=False).owner
    for _ in range(6):
        EmailThreadFactory(pillar=PillarFactory(number=2))
    config = SessionConfig(
        name="Example",
        pillar_ids=(1, 2),
        judge_model_ids=(model.pk,),
        samples_per_pillar=10,
        repetitions_per_pair=3,
        seed=1,
    )
    # The smaller pillar has two threads: 2 pairs x 3 repetitions, in both orders.
    said = estimate(owner, config)
    assert (said.base_comparisons, said.with_position_swap) == (6, 12)
    assert create_session(owner, config).comparisons.count() == 12


@pytest.mark.parametrize("samples", [-3, 0])
def test_a_negative_number_of_samples_plans_nothing(make_session: MakeSession, samples: int) -> None:
    with pytest.raises(ConfigRefused) as refused:
        make_session(samples_per_pillar=samples)
    assert set(refused.value.errors) == {"samples_per_pillar"}
    assert not JudgePair.objects.exists()


def test_a_plan_beyond_the_limit_is_refused_before_anything_is_written(
    make_session: MakeSession, settings: Any
) -> None:
    settings.JUDGE_MAX_COMPARISONS = 7
    with pytest.raises(ConfigRefused):
        make_session(threads=4)
    assert not JudgePair.objects.exists()


def test_an_answer_is_told_in_few_pieces_and_each_piece_once(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(events, "publish_soon", lambda *news: told.extend(news))
    claimed = claim(make_session(threads=1).pk, 0)
    assert isinstance(claimed, Claim)
    clock = iter(number * 0.01 for number in range(10_000))
    monkeypatch.setattr(relay, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    passed_on = relay.AnswerRelay(claimed)
    pieces = [f"ü{number} " for number in range(300)]
    for piece in pieces:
        passed_on.add(piece)
    passed_on.flush()
    frames = [event for event in told if isinstance(event, events.LLMStream)]
    # 300 pieces, 10 ms apart: ten frames a second and not a message per token.
    assert 20 <= len(frames) <= 35
    assert "".join(frame.token for frame in frames) == "".join(pieces)
    assert [frame.offset for frame in frames] == [
        sum(len(frame.token) for frame in frames[:number]) for number in range(len(frames))
    ]

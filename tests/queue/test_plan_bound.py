"""A plan that is far too large is refused at once: it is counted no further than the limit."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from judge.domain import plan_outline
from judge.models import JudgeModel
from judge.services.errors import ConfigRefused
from judge.services.planning.configuration import SessionConfig, check_config
from tests.conftest import MakeSession


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_many_repetitions_are_refused_without_drawing_them_all(
    make_session: MakeSession,
    owner: User,
    model: JudgeModel,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    shared: bool,
) -> None:
    session = make_session(is_started=False, threads=4)
    if shared:
        session.pillars.last().threads.add(session.pillars.first().threads.first())
    settings.JUDGE_MAX_COMPARISONS = 100
    drawn = 0
    real = plan_outline.drawn_pairs

    def counting(*args: Any) -> Any:
        nonlocal drawn
        for repetition in real(*args):
            drawn += 1
            yield repetition

    monkeypatch.setattr(plan_outline, "drawn_pairs", counting)
    config = SessionConfig(
        name="Example", pillar_ids=(1, 2), judge_model_ids=(model.pk,), repetitions_per_pair=1_000, seed=7
    )
    with pytest.raises(ConfigRefused):
        check_config(owner, config)
    assert drawn <= 15, "drawing goes on beyond what any session can hold"

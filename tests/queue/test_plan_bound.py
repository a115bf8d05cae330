"""A plan that is far too large is refused at once: it is counted no further than the limit."""

import pytest
from django.contrib.auth.models import User

from judge.domain import planning
from judge.models import JudgeModel
from judge.services.configuration import MAX_COMPARISONS, SessionConfig, check_config
from judge.services.errors import ConfigRefused
from tests.conftest import MakeSession


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_hundred_thousand_repetitions_are_refused_without_planning_them(
    make_session: MakeSession, owner: User, model: JudgeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_session(is_started=False, threads=4)
    planned = 0
    real = planning.PlannedPair

    def counting(*args: object) -> object:
        nonlocal planned
        planned += 1
        assert planned <= 2 * MAX_COMPARISONS, "planning goes on beyond what any session can hold"
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(planning, "PlannedPair", counting)
    config = SessionConfig(
        name="Example", pillar_ids=(1, 2), judge_model_ids=(model.pk,), repetitions_per_pair=100_000, seed=7
    )
    with pytest.raises(ConfigRefused):
        check_config(owner, config)

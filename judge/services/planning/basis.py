"""What an estimate is counted from, of a configuration and of a session alike: so both give the same numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judge.domain.plan_outline import PlanOutline, outline
from judge.domain.planning import PlanConfig
from judge.models import JudgeModel, JudgeSession, PromptVersion, Rubric
from judge.services.planning.configuration import CheckedConfig
from judge.services.planning.rows import read_frame
from pillars.models import Pillar


@dataclass(frozen=True)
class PlanJudge:
    """A judge with the parameters it is asked with."""

    model: JudgeModel
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class PlanBasis:
    """A plan with all that its cost depends on. ``threads``: pillar number -> all threads of the pillar."""

    plan: PlanConfig
    outline: PlanOutline
    pillars: list[Pillar]
    threads: Mapping[int, list[int]]
    judges: list[PlanJudge]
    rubric: Rubric
    prompt: PromptVersion
    worker_count: int

    @property
    def taking_part(self) -> set[int]:
        """Ids of the threads that may be compared."""
        return set().union(*self.outline.pools.values())


def basis_of_config(checked: CheckedConfig) -> PlanBasis:
    """The basis of a configuration that was checked (no query)."""
    return PlanBasis(
        plan=checked.plan,
        outline=checked.outline,
        pillars=sorted(checked.pillars, key=lambda pillar: pillar.number),
        threads=checked.threads,
        judges=[PlanJudge(model, model.parameters) for model in checked.models],
        rubric=checked.rubric,
        prompt=checked.prompt_version,
        worker_count=checked.config.worker_count,
    )


def basis_of_session(session: JudgeSession) -> PlanBasis:
    """The basis of a session, from what was frozen at its creation (five queries).

    Raises PlanError for a session whose threads were not frozen.
    """
    frame = read_frame(session)
    judges = session.session_judges.select_related("model__provider").order_by("position")
    return PlanBasis(
        plan=frame.config,
        outline=outline(frame.config, frame.threads),
        pillars=list(session.pillars.order_by("number")),
        threads=frame.threads,
        judges=[PlanJudge(judge.model, judge.parameters) for judge in judges],
        rubric=session.rubric,
        prompt=session.prompt_version,
        worker_count=session.worker_count,
    )

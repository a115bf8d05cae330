"""Tables of the judge, one file each; QuerySets carry the verbs."""

from judge.models.comparison import JudgeComparison, JudgePair
from judge.models.evaluation import CriterionScore, JudgeAttempt, JudgeEvaluation
from judge.models.plan import PlanBatch, SessionThread
from judge.models.prompt import PromptVersion
from judge.models.provider import JudgeModel, LLMProvider
from judge.models.provider_check import ProviderCheck
from judge.models.provider_state import ProviderState
from judge.models.rating import PillarStatistics, ResultSnapshot, ThreadEloScore
from judge.models.rubric import Criterion, Rubric
from judge.models.session import JudgeSession, SessionJudge, SessionShare

__all__ = [
    "Criterion",
    "CriterionScore",
    "JudgeAttempt",
    "JudgeComparison",
    "JudgeEvaluation",
    "JudgeModel",
    "JudgePair",
    "JudgeSession",
    "LLMProvider",
    "PillarStatistics",
    "PlanBatch",
    "PromptVersion",
    "ProviderCheck",
    "ProviderState",
    "ResultSnapshot",
    "Rubric",
    "SessionJudge",
    "SessionShare",
    "SessionThread",
    "ThreadEloScore",
]

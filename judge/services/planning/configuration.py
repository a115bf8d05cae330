"""A session's configuration as it comes from a form, the API or the command line, and its check."""

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.formats import number_format
from django.utils.translation import gettext_lazy as _

from judge.domain.plan_config import (
    MAX_BUDGET,
    MAX_JUDGES,
    MAX_REPETITIONS,
    MAX_SAMPLES,
    MAX_THREADS,
    PlanConfig,
    PlanError,
)
from judge.domain.plan_outline import PlanOutline, outline
from judge.domain.states import ComparisonMode, SamplingStrategy
from judge.models import JudgeModel, PromptVersion, Rubric
from judge.selectors.sessions import offered_models
from judge.services.control import draw_seed
from judge.services.errors import ConfigRefused, Text
from judge.services.planning.rows import plan_config
from pillars.models import Language, Pillar, PillarThread

MAX_NAME = 200
MAX_WORKERS = 5
MAX_PILLAR_NUMBER = 32_767


@dataclass(frozen=True, kw_only=True)
class SessionConfig:
    """What a researcher chooses. ``pillar_ids`` are pillar NUMBERS; no seed: drawn; no rubric: the default.

    ``comparison_budget`` is for the adaptive mode, and counts all comparisons, of all judges and orders;
    ``repetitions_per_pair`` is there how often two threads may meet at most. ``confirmed_comparisons``: how large the
    plan was when it was confirmed, where that is known.
    """

    name: str
    pillar_ids: tuple[int, ...]
    judge_model_ids: tuple[int, ...]
    comparison_mode: str = ComparisonMode.PILLAR_SAMPLE
    sampling_strategy: str = SamplingStrategy.ROTATING
    samples_per_pillar: int = 10
    repetitions_per_pair: int = 1
    max_threads_per_pillar: int | None = None
    comparison_budget: int | None = None
    position_swap: bool = True
    calculate_elo: bool = True
    worker_count: int = 3
    seed: int | None = None
    language: str = Language.GERMAN
    rubric_id: int | None = None
    description: str = ""
    confirm_large_plan: bool = False
    confirmed_comparisons: int | None = None


@dataclass(frozen=True)
class CheckedConfig:
    """A configuration that can be planned, with everything it names."""

    config: SessionConfig
    plan: PlanConfig
    outline: PlanOutline
    pillars: list[Pillar]
    threads: dict[int, list[int]]
    models: list[JudgeModel]
    rubric: Rubric
    prompt_version: PromptVersion


PLAN_MESSAGES: dict[str, Text] = {
    "invalid": _("Choose a whole number from %(minimum)s to %(maximum)s."),
    "too_few_pillars": _("Choose at least two pillars for this mode."),
    "pillar_empty": _("Pillar %(pillar)s has no threads."),
    "no_pairs": _("These pillars give no pair of two different threads."),
    "budget_required": _("Give a budget of comparisons."),
    "too_many_threads": _("The adaptive mode ranks up to %(maximum)s threads. Limit the threads per pillar."),
}
CHOICES: dict[str, list[str]] = {
    "language": Language.values,
    "comparison_mode": list(ComparisonMode),
    "sampling_strategy": list(SamplingStrategy),
}
# The plan's field names where a form calls them otherwise.
PLAN_FIELDS = {"judge_count": "judge_model_ids", "pillars": "pillar_ids"}
# What makes a plan too large, by mode.
SIZE_FIELDS = {
    ComparisonMode.PILLAR_SAMPLE: "samples_per_pillar",
    ComparisonMode.ROUND_ROBIN: "max_threads_per_pillar",
    ComparisonMode.FREE_FOR_ALL: "max_threads_per_pillar",
    ComparisonMode.ADAPTIVE: "comparison_budget",
}
# Largest values by field; the smallest is 1.
LARGEST = {
    "samples_per_pillar": MAX_SAMPLES,
    "repetitions_per_pair": MAX_REPETITIONS,
    "max_threads_per_pillar": MAX_THREADS,
    "comparison_budget": MAX_BUDGET,
}


def check_config(user: User, config: SessionConfig, *, is_estimate: bool = False) -> CheckedConfig:
    """Check a configuration whole and plan it.

    An estimate sends nothing, so it may also be made for a judge whose provider must not receive threads. Raises
    ConfigRefused: messages by field, named as in the API (``session_name`` for the name).
    """
    errors: dict[str, list[Text]] = {}
    _check_simple(config, errors)
    pillars = _pillars(config, errors)
    models = _models(user, config, errors, is_estimate)
    rubric = _rubric(config, errors)
    prompt_version = PromptVersion.objects.filter(language=config.language).order_by("-version").first()
    if prompt_version is None:
        errors.setdefault("language", []).append(_("There is no prompt in this language."))
    if errors or rubric is None or prompt_version is None:
        raise ConfigRefused(errors)
    plan = plan_of(config, max(1, len(models)))
    threads = threads_by_pillar(pillars)
    outlined = _outline(plan, threads)
    return CheckedConfig(config, plan, outlined, pillars, threads, models, rubric, prompt_version)


def threads_by_pillar(pillars: list[Pillar]) -> dict[int, list[int]]:
    """Ids of the threads of each pillar, by pillar number, in a fixed order (one query)."""
    threads: dict[int, list[int]] = {pillar.number: [] for pillar in pillars}
    rows = PillarThread.objects.filter(pillar__in=pillars).order_by("thread_id")
    for number, thread_id in rows.values_list("pillar__number", "thread_id"):
        threads[number].append(thread_id)
    return threads


def _check_simple(config: SessionConfig, errors: dict[str, list[Text]]) -> None:
    if not config.name.strip():
        errors["session_name"] = [_("Give the session a name.")]
    elif len(config.name.strip()) > MAX_NAME:
        errors["session_name"] = [_("The name is too long (200 characters at most).")]
    if not 1 <= config.worker_count <= MAX_WORKERS:
        errors["worker_count"] = [_("Choose 1 to 5 workers.")]
    for field, choices in CHOICES.items():
        if getattr(config, field) not in choices:
            errors[field] = [_("This value is not possible.")]
    for field, largest in LARGEST.items():
        value = getattr(config, field)
        if value is not None and not 1 <= value <= largest:
            errors[field] = [PLAN_MESSAGES["invalid"] % {"minimum": 1, "maximum": grouped(largest)}]
    if len(set(config.judge_model_ids)) != len(config.judge_model_ids):
        errors["judge_model_ids"] = [_("Each judge can be chosen once.")]
    elif not 1 <= len(config.judge_model_ids) <= MAX_JUDGES:
        errors["judge_model_ids"] = [_("Choose one to three judges.")]


def _pillars(config: SessionConfig, errors: dict[str, list[Text]]) -> list[Pillar]:
    # Databases refuse to compare with numbers that no column could hold.
    possible = [number for number in config.pillar_ids if 1 <= number <= MAX_PILLAR_NUMBER]
    pillars = list(Pillar.objects.filter(number__in=possible))
    unknown = sorted(set(config.pillar_ids) - {pillar.number for pillar in pillars})
    if unknown:
        names = ", ".join(map(str, unknown))
        errors["pillar_ids"] = [_("There is no pillar with this number: %(numbers)s") % {"numbers": names}]
    elif not pillars:
        errors["pillar_ids"] = [_("Choose the pillars whose threads are to be compared.")]
    elif len(set(config.pillar_ids)) != len(config.pillar_ids):
        errors["pillar_ids"] = [_("Each pillar can be chosen once.")]
    return pillars


def _models(user: User, config: SessionConfig, errors: dict[str, list[Text]], is_estimate: bool) -> list[JudgeModel]:
    found = {model.pk: model for model in offered_models(user).filter(pk__in=config.judge_model_ids)}
    if set(config.judge_model_ids) - found.keys():
        errors.setdefault("judge_model_ids", []).append(_("This judge is not available."))
    if not is_estimate and not all(model.provider.may_receive_threads for model in found.values()):
        message = _("This judge's provider is not approved for personal data. Staff can approve it.")
        errors.setdefault("judge_model_ids", []).append(message)
    return [found[pk] for pk in config.judge_model_ids if pk in found]


def _rubric(config: SessionConfig, errors: dict[str, list[Text]]) -> Rubric | None:
    chosen = Rubric.objects.filter(pk=config.rubric_id) if config.rubric_id else Rubric.objects.filter(is_default=True)
    rubric = chosen.first()
    if rubric is None or not rubric.criteria.exists():
        errors["rubric_id"] = [_("Choose a rubric with at least one criterion.")]
    return rubric


def plan_of(config: SessionConfig, judge_count: int) -> PlanConfig:
    """What of a configuration decides its plan; a seed is drawn where none is given."""
    return plan_config(config, judge_count, draw_seed() if config.seed is None else config.seed)


def _outline(plan: PlanConfig, threads: dict[int, list[int]]) -> PlanOutline:
    most = settings.JUDGE_MAX_COMPARISONS
    try:
        outlined = outline(plan, threads, most_pairs=most // plan.comparisons_per_pair)
    except PlanError as error:
        raise ConfigRefused({PLAN_FIELDS.get(error.field, error.field): [plan_message(error)]}) from None
    if not outlined.is_complete or outlined.comparisons > most:
        message = _("This plan has more comparisons than one session can hold (%(limit)s).") % {"limit": grouped(most)}
        raise ConfigRefused({SIZE_FIELDS[plan.comparison_mode]: [message]})
    return outlined


def plan_message(error: PlanError) -> Text:
    """Why a configuration cannot be planned, in words."""
    sizes = {key: grouped(error.params[key]) for key in ("minimum", "maximum") if key in error.params}
    return PLAN_MESSAGES[error.code] % (error.params | sizes)


def grouped(number: int) -> str:
    """A large number as people write it in the reader's language."""
    return number_format(number, force_grouping=True)

"""The form that plans a session. Field names are the API's."""

from typing import Any, cast

from django import forms
from django.db.models import Count
from django.utils.translation import gettext_lazy as _

from judge.domain.planning import MAX_SEED
from judge.domain.states import ComparisonMode, SamplingStrategy
from judge.models import JudgeModel, Rubric
from judge.models.session import STRATEGY_LABELS
from judge.selectors.access import Person
from judge.selectors.sessions import offered_models
from judge.services.configuration import MAX_WORKERS, SessionConfig
from judge.services.errors import Text
from pillars.models import Language, Pillar

# The strategies that the planner knows so far, the recommended one first.
STRATEGIES = (SamplingStrategy.ROTATING, SamplingStrategy.FIXED)
MAX_COUNT = 100_000


class SessionForm(forms.Form):
    """What a researcher chooses. Whether it can be planned is the service's question, see ``refuse``."""

    session_name = forms.CharField(label=_("Name of the session"), max_length=200)
    pillar_ids = forms.TypedMultipleChoiceField(
        label=_("Pillars"),
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Threads of these pillars are compared with each other."),
        error_messages={"required": _("Choose at least two pillars.")},
    )
    comparison_mode = forms.CharField(widget=forms.HiddenInput, initial=ComparisonMode.PILLAR_SAMPLE)
    sampling_strategy = forms.ChoiceField(
        label=_("How threads are drawn"),
        choices=[(strategy.value, STRATEGY_LABELS[strategy]) for strategy in STRATEGIES],
        widget=forms.RadioSelect,
        initial=SamplingStrategy.ROTATING,
    )
    samples_per_pillar = forms.IntegerField(
        label=_("Samples per pillar"),
        min_value=1,
        max_value=MAX_COUNT,
        initial=10,
        help_text=_("Pairs drawn for each two pillars and repetition."),
    )
    repetitions_per_pair = forms.IntegerField(
        label=_("Repetitions"),
        min_value=1,
        max_value=MAX_COUNT,
        initial=1,
        help_text=_("How often the drawing is repeated."),
    )
    position_swap = forms.BooleanField(
        label=_("Position swap"),
        required=False,
        initial=True,
        help_text=_("Each pair is judged in both orders. Doubles the comparisons and shows position bias."),
    )
    worker_count = forms.TypedChoiceField(
        label=_("Workers"),
        choices=[(n, str(n)) for n in range(1, MAX_WORKERS + 1)],
        coerce=int,
        widget=forms.RadioSelect,
        initial=3,
        help_text=_("Comparisons that are judged at the same time."),
    )
    judge_model_ids = forms.TypedMultipleChoiceField(
        label=_("Judges"),
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("One to three models; each judges every pair."),
        error_messages={"required": _("Choose one to three judges.")},
    )
    language = forms.ChoiceField(
        label=_("Language of the prompt"),
        choices=Language.choices,
        widget=forms.RadioSelect,
        help_text=_("Choose the language the threads are written in."),
    )
    rubric_id = forms.TypedChoiceField(label=_("Rubric"), coerce=int)
    seed = forms.IntegerField(
        label=_("Seed"),
        required=False,
        min_value=0,
        max_value=MAX_SEED,
        help_text=_("The same seed and configuration give the same plan. Empty: one is drawn."),
    )
    max_threads_per_pillar = forms.IntegerField(
        label=_("Most threads per pillar"),
        required=False,
        min_value=1,
        max_value=MAX_COUNT,
        help_text=_("Empty: all threads of a pillar take part."),
    )
    calculate_elo = forms.BooleanField(label=_("Rate threads by ELO"), required=False, initial=True)
    description = forms.CharField(
        label=_("Notes"), required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 3})
    )

    def __init__(self, user: Person, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pillars = list(Pillar.objects.annotate(thread_count=Count("threads")))
        self.models = list(offered_models(user))
        rubrics = list(Rubric.objects.all())
        self._choices("pillar_ids", [(pillar.number, str(pillar)) for pillar in self.pillars])
        self._choices("judge_model_ids", [(model.pk, str(model)) for model in self.models])
        self._choices("rubric_id", [(rubric.pk, rubric.name) for rubric in rubrics])
        if self.models:
            self.fields["judge_model_ids"].initial = [_first_choice(self.models).pk]
        self.fields["rubric_id"].initial = next((rubric.pk for rubric in rubrics if rubric.is_default), None)

    def _choices(self, name: str, choices: list[tuple[int, str]]) -> None:
        cast(forms.ChoiceField, self.fields[name]).choices = choices

    def config(self, default_name: str = "") -> SessionConfig:
        """The configuration of a valid form; ``default_name`` stands in for a name that is still missing."""
        data = self.cleaned_data
        return SessionConfig(
            name=data.get("session_name") or default_name,
            pillar_ids=tuple(data["pillar_ids"]),
            judge_model_ids=tuple(data["judge_model_ids"]),
            comparison_mode=data["comparison_mode"],
            sampling_strategy=data["sampling_strategy"],
            samples_per_pillar=data["samples_per_pillar"],
            repetitions_per_pair=data["repetitions_per_pair"],
            max_threads_per_pillar=data["max_threads_per_pillar"],
            position_swap=data["position_swap"],
            calculate_elo=data["calculate_elo"],
            worker_count=data["worker_count"],
            seed=data["seed"],
            language=data["language"],
            rubric_id=data["rubric_id"],
            description=data["description"],
        )

    def refuse(self, errors: dict[str, list[Text]]) -> None:
        """Show the service's refusals at their fields; what belongs to none stands above the form."""
        for field, texts in errors.items():
            for text in texts:
                self.add_error(field if field in self.fields else None, str(text))

    @property
    def advanced_is_open(self) -> bool:
        """Whether the advanced part must be seen, because something in it needs an answer."""
        return bool({"seed", "max_threads_per_pillar", "calculate_elo", "description", "rubric_id"} & set(self.errors))


def _first_choice(models: list[JudgeModel]) -> JudgeModel:
    """The model that is chosen unless somebody chooses: a real one before the simulated one."""
    return min(models, key=lambda model: (model.provider.is_simulated, model.pk))

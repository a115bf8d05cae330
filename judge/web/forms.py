"""The form that plans a session. Field names are the API's."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from django import forms
from django.db.models import Count
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from judge.domain.plan_config import MAX_BUDGET, MAX_REPETITIONS, MAX_SAMPLES, MAX_SEED, MAX_THREADS
from judge.domain.states import ComparisonMode, SamplingStrategy
from judge.models import JudgeModel, Rubric
from judge.models.session import MODE_LABELS, STRATEGY_LABELS
from judge.selectors.access import Person
from judge.selectors.sessions import offered_models
from judge.services.errors import Text
from judge.services.naming import MAX_DESCRIPTION
from judge.services.planning.configuration import MAX_NAME, MAX_WORKERS, SessionConfig
from judge.services.planning.previews import USED_FIELDS
from pillars.models import Language, Pillar

# The recommended strategy first.
STRATEGIES = (
    SamplingStrategy.ROTATING,
    SamplingStrategy.FIXED,
    SamplingStrategy.PROPORTIONAL,
    SamplingStrategy.BOOTSTRAP,
)
# Fields of which an estimate knows nothing.
NOT_ESTIMATED = frozenset({"session_name", "description", "confirm_large_plan"})
# Fields whose mistakes are told as soon as they are typed; of the others a missing choice would be told too early.
NUMBERS = ("samples_per_pillar", "repetitions_per_pair", "comparison_budget", "max_threads_per_pillar", "seed")


class SessionForm(forms.Form):
    """What a researcher chooses. Whether it can be planned is the service's question, see ``refuse``."""

    session_name = forms.CharField(label=_("Name of the session"), max_length=MAX_NAME)
    pillar_ids = forms.TypedMultipleChoiceField(
        label=_("Pillars"),
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Threads of these pillars are compared with each other."),
        error_messages={"required": _("Choose the pillars whose threads are to be compared.")},
    )
    comparison_mode = forms.ChoiceField(
        label=_("Mode"),
        choices=list(MODE_LABELS.items()),
        widget=forms.RadioSelect,
        initial=ComparisonMode.PILLAR_SAMPLE,
    )
    sampling_strategy = forms.ChoiceField(
        label=_("How threads are drawn"),
        choices=[(strategy.value, STRATEGY_LABELS[strategy]) for strategy in STRATEGIES],
        widget=forms.RadioSelect,
        initial=SamplingStrategy.ROTATING,
    )
    samples_per_pillar = forms.IntegerField(
        label=_("Samples per pillar"),
        min_value=1,
        max_value=MAX_SAMPLES,
        initial=10,
        help_text=_("Pairs drawn for each two pillars and repetition."),
    )
    repetitions_per_pair = forms.IntegerField(label=_("Repetitions"), min_value=1, max_value=MAX_REPETITIONS, initial=1)
    comparison_budget = forms.IntegerField(
        label=_("Budget of comparisons"),
        min_value=1,
        max_value=MAX_BUDGET,
        initial=400,
        help_text=_("The most that may be judged, over all judges and both orders."),
        error_messages={"required": _("Give a budget of comparisons.")},
    )
    max_threads_per_pillar = forms.IntegerField(
        label=_("Most threads per pillar"),
        required=False,
        min_value=1,
        max_value=MAX_THREADS,
        help_text=_("Empty: all threads of a pillar take part."),
    )
    position_swap = forms.BooleanField(
        label=_("Position swap"),
        required=False,
        initial=True,
        help_text=_(
            "Each pair is judged in both orders, which shows position bias. Doubles the comparisons; in the adaptive "
            "mode half as many pairs fit into the budget."
        ),
    )
    calculate_elo = forms.BooleanField(
        label=_("Rate threads by ELO"),
        required=False,
        initial=True,
        help_text=_("A ranking of single threads beside that of the pillars."),
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
    description = forms.CharField(
        label=_("Notes"), required=False, max_length=MAX_DESCRIPTION, widget=forms.Textarea(attrs={"rows": 3})
    )
    confirm_large_plan = forms.BooleanField(label=_("Yes, judge that many."), required=False)

    def __init__(self, user: Person, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pillars = list(Pillar.objects.annotate(thread_count=Count("threads")))
        self.models = list(offered_models(user))
        self.rubrics = list(Rubric.objects.all())
        self._choices("pillar_ids", [(pillar.number, str(pillar)) for pillar in self.pillars])
        self._choices("judge_model_ids", [(model.pk, str(model)) for model in self.models])
        self._choices("rubric_id", [(rubric.pk, rubric.name) for rubric in self.rubrics])
        if self.models:
            self.fields["judge_model_ids"].initial = [_first_choice(self.models).pk]
        self.fields["rubric_id"].initial = next((rubric.pk for rubric in self.rubrics if rubric.is_default), None)
        for name, field in self.fields.items():
            # The place of a field's errors is always there: what is wrong may also come while somebody types.
            if not field.widget.use_fieldset:
                field.widget.attrs["aria-describedby"] = f"id_{name}_helptext errors-{name}"

    def _choices(self, name: str, choices: list[tuple[int, str]]) -> None:
        cast(forms.ChoiceField, self.fields[name]).choices = choices

    @classmethod
    def keeping(cls, user: Person, typed: QueryDict) -> "SessionForm":
        """A form with what was typed so far, that complains of nothing yet."""
        initial: dict[str, Any] = {}
        for name, field in cls.base_fields.items():
            if isinstance(field, forms.MultipleChoiceField):
                initial[name] = typed.getlist(name)
            elif isinstance(field, forms.BooleanField):
                initial[name] = name in typed
            else:
                initial[name] = typed.get(name, "")
        return cls(user, initial=initial)

    def clean(self) -> dict[str, Any]:
        """Forget mistakes in fields that the chosen mode does not use: nobody sees them to put them right."""
        data = self.cleaned_data
        if "comparison_mode" not in data:
            return data
        used = USED_FIELDS[ComparisonMode(data["comparison_mode"])]
        for name in frozenset().union(*USED_FIELDS.values()) - used:
            if self.errors.pop(name, None):
                data[name] = self.fields[name].initial
        return data

    def config(self, default_name: str = "") -> SessionConfig:
        """The configuration as far as it can be read: the service's defaults stand in for what is missing or wrong."""
        data = dict(self.cleaned_data)
        # The box says how large the plan was when it was ticked; it may have grown since.
        size = self.data.get("confirm_large_plan", "")
        return SessionConfig(
            name=data.pop("session_name", default_name),
            pillar_ids=tuple(data.pop("pillar_ids", ())),
            judge_model_ids=tuple(data.pop("judge_model_ids", ())),
            confirmed_comparisons=int(size) if re.fullmatch("[0-9]{1,9}", size) else None,
            **data,
        )

    def refuse(self, errors: Mapping[str, Iterable[Text]]) -> None:
        """Show the service's refusals at their fields; what belongs to none stands above the form."""
        for field, texts in errors.items():
            for text in texts:
                self.add_error(field if field in self.fields else None, str(text))

    @property
    def unusable(self) -> set[str]:
        """The fields that an estimate needs and that are missing or wrong."""
        return set(self.errors) - NOT_ESTIMATED

    @property
    def advanced_is_open(self) -> bool:
        """Whether the advanced part must be seen: something in it needs an answer, or a seed decides the plan."""
        return bool({"seed", "description"} & set(self.errors)) or self["seed"].value() not in (None, "")


def _first_choice(models: list[JudgeModel]) -> JudgeModel:
    """The model that is chosen unless somebody chooses: a real one before the simulated one."""
    return min(models, key=lambda model: (model.provider.is_simulated, model.pk))

"""Providers and their models. A key goes in and never comes out."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import JSONField, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from judge import partials, wording
from judge.forms import KeyForm
from judge.models import JudgeModel, LLMProvider
from judge.selectors.provider_load import ProviderLoad, provider_loads
from judge.selectors.providers import may_test
from judge.services.newest_check import newest_check
from judge.services.provider_rules import forget_findings, key_problem, name_problem, parameters_problem
from judge.services.provider_states import forget_pace
from pillars.forms import ObjectField


class ProviderForm(KeyForm, forms.ModelForm):
    """A provider with a key that can be written but not read."""

    class Meta:
        model = LLMProvider
        fields = (
            "name",
            "base_url",
            "owner",
            "may_receive_personal_data",
            "is_simulated",
            "max_concurrency",
            "requests_per_minute",
            "tokens_per_minute",
            "may_omit_finish_reason",
        )

    field_order = ("name", "base_url", "api_key", "forget_key")

    def clean_base_url(self) -> str:
        """An address with and without its last slash is one address."""
        return str(self.cleaned_data["base_url"]).rstrip("/")

    def clean(self) -> dict[str, Any]:
        """The rules of the pages: a new address gets no old key, a name stands once."""
        data = super().clean()
        self.is_moved = "base_url" in data and data["base_url"] != self.initial.get("base_url", data["base_url"])
        if problem := key_problem(self.instance, self.is_moved, self.typed_key):
            self.add_error("api_key", str(problem))
        if "name" in data:
            same = LLMProvider(pk=self.instance.pk, name=data["name"], owner=data.get("owner"))
            if problem := name_problem(same):
                self.add_error("name", str(problem))
        return data

    def save(self, commit: bool = True) -> LLMProvider:
        """Store a typed key; keep the stored one where none was typed."""
        if self.typed_key is not None:
            self.instance.api_key = self.typed_key
        return super().save(commit)


class JudgeModelForm(forms.ModelForm):
    """A model. Once a session was judged by it, it stays that model of that provider; the rest can be mended."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and self.instance.session_judges.exists():
            for name in {"provider", "model_name"} & self.fields.keys():
                self.fields[name].disabled = True

    def clean_parameters(self) -> dict[str, Any]:
        """An object that holds nothing that is ours to set."""
        parameters: dict[str, Any] = self.cleaned_data["parameters"]
        if problem := parameters_problem(parameters):
            raise forms.ValidationError(str(problem))
        return parameters


class JudgeModelInline(admin.TabularInline):
    """The models a provider serves."""

    model = JudgeModel
    form = JudgeModelForm
    extra = 0
    fields = (
        "model_name",
        "structured_output",
        "detected_output",
        "context_window",
        "input_price",
        "output_price",
        "is_active",
    )
    readonly_fields = ("detected_output",)


@admin.register(LLMProvider)
class LLMProviderAdmin(admin.ModelAdmin):
    """Servers that speak the OpenAI protocol."""

    form = ProviderForm
    inlines = (JudgeModelInline,)
    change_form_template = "admin/judge/llmprovider/change_form.html"
    list_display = ("name", "base_url", "owner", "has_key", "may_receive_personal_data", "is_simulated")
    list_filter = ("is_simulated", "may_receive_personal_data")
    list_select_related = ("owner",)
    search_fields = ("name", "base_url")
    autocomplete_fields = ("owner",)
    readonly_fields = ("calls_now", "rest", "breaker")
    fieldsets = (
        (None, {"fields": ("name", "base_url", "api_key", "forget_key", "owner")}),
        (_("Personal data"), {"fields": ("may_receive_personal_data", "is_simulated")}),
        (
            _("Limits"),
            {"fields": ("max_concurrency", "requests_per_minute", "tokens_per_minute", "may_omit_finish_reason")},
        ),
        (_("At present"), {"fields": ("calls_now", "rest", "breaker")}),
    )

    def get_fieldsets(self, request: HttpRequest, obj: LLMProvider | None = None) -> Any:
        """Without the present state of a provider that is still to be."""
        return self.fieldsets if obj else self.fieldsets[:-1]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The form, and above it the last test with its button."""
        provider = self.get_object(request, object_id)
        context = dict(extra_context or {})
        if provider is not None and request.method == "GET":
            context["provider"] = provider
            context["may_test"] = may_test(request.user, provider)
            context["provider_check"] = partials.provider_check(provider, newest_check(provider.pk))
        return super().change_view(request, object_id, form_url, context)

    def save_model(self, request: HttpRequest, obj: LLMProvider, form: Any, change: bool) -> None:
        """What tests found out about another address is forgotten. An approval stays as ticked: the form shows both."""
        super().save_model(request, obj, form, change)
        if change and form.is_moved:
            forget_findings(obj.pk)
        if change:
            forget_pace(obj.pk, is_other=form.is_moved or "api_key" in form.changed_data)

    @admin.display(boolean=True, description=_("key stored"))
    def has_key(self, provider: LLMProvider) -> bool:
        """Whether there is a key, not which."""
        return bool(provider.api_key_encrypted)

    @admin.display(description=_("parallel calls now"))
    def calls_now(self, provider: LLMProvider) -> str:
        """How many of the possible calls are being made."""
        load = _load(provider)
        text = _("%(running)s of %(limit)s; at most %(allowed)s, reduced for now because the provider was too busy")
        if not load.is_slowed:
            text = _("%(running)s of %(limit)s")
        return str(text) % {"running": load.running, "limit": load.limit, "allowed": load.allowed}

    @admin.display(description=_("rest"))
    def rest(self, provider: LLMProvider) -> str:
        """Until when the provider asked to be left alone."""
        load = _load(provider)
        if load.rests_until is None:
            return str(_("none at present"))
        moment = date_format(localtime(load.rests_until), "SHORT_DATETIME_FORMAT")
        reason = wording.words(wording.REASON_WORDS, load.rest_reason)
        return str(_("until %(moment)s. %(reason)s")) % {"moment": moment, "reason": reason}

    @admin.display(description=_("breaker"))
    def breaker(self, provider: LLMProvider) -> str:
        """Whether calls are kept away until a probe succeeds, and why."""
        load = _load(provider)
        if load.breaker_opened_at is None:
            return str(_("closed"))
        moment = date_format(localtime(load.breaker_opened_at), "SHORT_DATETIME_FORMAT")
        reason = wording.words(wording.REASON_WORDS, load.breaker_reason)
        text = _("open since %(moment)s. %(reason)s It is tried every 30 seconds.")
        return str(text) % {"moment": moment, "reason": reason}


def _load(provider: LLMProvider) -> ProviderLoad:
    return provider_loads({provider.pk})[provider.pk]


@admin.register(JudgeModel)
class JudgeModelAdmin(admin.ModelAdmin):
    """Models that can be chosen as judges."""

    form = JudgeModelForm
    formfield_overrides = {JSONField: {"form_class": ObjectField}}
    list_display = (
        "model_name",
        "provider",
        "structured_output",
        "detected_output",
        "checked_at",
        "context_window",
        "is_active",
    )
    list_filter = ("is_active", "provider")
    list_select_related = ("provider",)
    search_fields = ("model_name", "provider__name")
    readonly_fields = ("detected_output", "streams_reasoning", "refused_parameters", "checked_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[JudgeModel]:
        """With providers, which their names need."""
        return super().get_queryset(request).select_related("provider")

    def save_model(self, request: HttpRequest, obj: JudgeModel, form: Any, change: bool) -> None:
        """What a test found out about a model of another name or provider is forgotten."""
        super().save_model(request, obj, form, change)
        if change and {"model_name", "provider"} & set(form.changed_data):
            forget_findings(obj.provider_id, obj.pk)

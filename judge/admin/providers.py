"""Providers and their models. A key goes in and never comes out."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import JSONField, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from judge.models import JudgeModel, LLMProvider
from pillars.forms import ObjectField


class ProviderForm(forms.ModelForm):
    """A provider with a key that can be written but not read."""

    api_key = forms.CharField(
        label=_("API key"),
        required=False,
        strip=True,
        max_length=4096,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text=_("Stored encrypted and never shown again. Leave empty to keep the stored key."),
    )
    forget_key = forms.BooleanField(label=_("remove the stored key"), required=False)

    class Meta:
        model = LLMProvider
        fields = (
            "name",
            "base_url",
            "api_key",
            "forget_key",
            "owner",
            "may_receive_personal_data",
            "is_simulated",
            "max_concurrency",
            "requests_per_minute",
            "tokens_per_minute",
        )

    def clean(self) -> dict[str, Any]:
        """A new address gets no old key: whoever changes where requests go must know what they carry."""
        data = super().clean() or {}
        is_moved = bool(self.instance.api_key_encrypted) and "base_url" in self.changed_data
        if is_moved and not data.get("api_key") and not data.get("forget_key"):
            self.add_error("api_key", _("The address was changed. Please type the key again, or remove it."))
        if data.get("api_key") and data.get("forget_key"):
            self.add_error("forget_key", _("Either a new key or none."))
        return data

    def save(self, commit: bool = True) -> LLMProvider:
        """Store a typed key; keep the stored one where none was typed."""
        if self.cleaned_data["forget_key"]:
            self.instance.api_key = ""
        elif self.cleaned_data["api_key"]:
            self.instance.api_key = self.cleaned_data["api_key"]
        return super().save(commit)


class JudgeModelForm(forms.ModelForm):
    """A model. Once a session was judged by it, it stays that model of that provider; the rest can be mended."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and self.instance.session_judges.exists():
            for name in {"provider", "model_name"} & self.fields.keys():
                self.fields[name].disabled = True


class JudgeModelInline(admin.TabularInline):
    """The models a provider serves."""

    model = JudgeModel
    form = JudgeModelForm
    extra = 0
    fields = ("model_name", "structured_output", "context_window", "input_price", "output_price", "is_active")


@admin.register(LLMProvider)
class LLMProviderAdmin(admin.ModelAdmin):
    """Servers that speak the OpenAI protocol."""

    form = ProviderForm
    inlines = (JudgeModelInline,)
    list_display = ("name", "base_url", "owner", "has_key", "may_receive_personal_data", "is_simulated")
    list_filter = ("is_simulated", "may_receive_personal_data")
    list_select_related = ("owner",)
    search_fields = ("name", "base_url")
    autocomplete_fields = ("owner",)

    @admin.display(boolean=True, description=_("key stored"))
    def has_key(self, provider: LLMProvider) -> bool:
        """Whether there is a key, not which."""
        return bool(provider.api_key_encrypted)


@admin.register(JudgeModel)
class JudgeModelAdmin(admin.ModelAdmin):
    """Models that can be chosen as judges."""

    form = JudgeModelForm
    formfield_overrides = {JSONField: {"form_class": ObjectField}}
    list_display = ("model_name", "provider", "structured_output", "context_window", "is_active")
    list_filter = ("is_active", "provider")
    list_select_related = ("provider",)
    search_fields = ("model_name", "provider__name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[JudgeModel]:
        """With providers, which their names need."""
        return super().get_queryset(request).select_related("provider")

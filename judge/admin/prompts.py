"""Rubrics and prompts: added freely, locked once a session was judged by them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from judge.admin.locks import LockedWhenUsedAdmin
from judge.domain.prompt import PromptError, validate_template
from judge.models import Criterion, PromptVersion, Rubric


class CriterionInline(admin.StackedInline):
    """What the rubric scores."""

    model = Criterion
    extra = 0
    min_num = 1
    validate_min = True
    fields = (
        ("key", "position", "weight"),
        ("scale_min", "scale_max"),
        ("label_de", "label"),
        ("description_de", "description"),
    )

    def _may(self, allowed: bool, obj: Rubric | None) -> bool:
        return allowed and not (obj is not None and obj.is_used)

    def has_add_permission(self, request: HttpRequest, obj: Rubric | None = None) -> bool:
        """Only while no session uses the rubric."""
        return self._may(super().has_add_permission(request, obj), obj)

    def has_change_permission(self, request: HttpRequest, obj: Rubric | None = None) -> bool:
        """Only while no session uses the rubric."""
        return self._may(super().has_change_permission(request, obj), obj)

    def has_delete_permission(self, request: HttpRequest, obj: Rubric | None = None) -> bool:
        """Only while no session uses the rubric."""
        return self._may(super().has_delete_permission(request, obj), obj)


@admin.register(Rubric)
class RubricAdmin(LockedWhenUsedAdmin):
    """Sets of criteria."""

    inlines = (CriterionInline,)
    list_display = ("name", "is_default", "created_at")
    search_fields = ("name",)


class PromptForm(forms.ModelForm):
    """A prompt text that can be rendered."""

    class Meta:
        model = PromptVersion
        fields = ("language", "version", "text")
        widgets = {"text": forms.Textarea(attrs={"rows": 40, "cols": 110})}

    def clean_text(self) -> str:
        """Refuse a text whose parts or placeholders are not as the renderer needs them."""
        text: str = self.cleaned_data["text"]
        try:
            validate_template(text)
        except PromptError as error:
            message = _("This text cannot be used as a prompt: %(reason)s")
            raise forms.ValidationError(message, code=error.code, params={"reason": str(error)}) from None
        return text


@admin.register(PromptVersion)
class PromptVersionAdmin(LockedWhenUsedAdmin):
    """Versions of the prompt."""

    form = PromptForm
    list_display = ("language", "version", "short_hash", "created_at")
    list_filter = ("language",)
    readonly_fields = ("sha256",)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """A new version begins as the newest one of the language asked for (German if none is)."""
        language = request.GET.get("language", "de")
        newest = PromptVersion.objects.filter(language=language).first()
        if newest is None:
            return {"language": language, "version": 1}
        return {"language": language, "version": newest.version + 1, "text": newest.text}

    @admin.display(description=_("hash"))
    def short_hash(self, prompt: PromptVersion) -> str:
        """Enough of the hash to tell versions apart."""
        return prompt.sha256[:12]

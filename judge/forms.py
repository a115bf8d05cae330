"""Forms that pages and administration share."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

MAX_KEY = 4096


class KeyForm(forms.Form):
    """An API key that can be written and removed, but not read: no stored key ever gets into a page."""

    api_key = forms.CharField(
        label=_("API key"),
        required=False,
        strip=True,
        max_length=MAX_KEY,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text=_("Stored encrypted and never shown again. Leave empty to keep the stored key."),
    )
    forget_key = forms.BooleanField(label=_("remove the stored key"), required=False)

    def clean(self) -> dict[str, Any]:
        """Either a new key or none."""
        data = super().clean() or self.cleaned_data
        if data.get("api_key") and data.get("forget_key"):
            self.add_error("forget_key", _("Either a new key or none."))
        return data

    @property
    def typed_key(self) -> str | None:
        """What is to become of the stored key: None keeps it, "" removes it."""
        if self.cleaned_data.get("forget_key"):
            return ""
        return self.cleaned_data.get("api_key") or None

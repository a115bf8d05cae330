"""The form for a session's name and notes."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from judge.models import JudgeSession
from judge.services.errors import ConfigRefused
from judge.services.naming import rename


class NamingForm(forms.Form):
    """What may be changed in a session later. What is allowed is the service's question."""

    session_name = forms.CharField(label=_("Name of the session"), required=False)
    description = forms.CharField(label=_("Notes"), required=False, widget=forms.Textarea(attrs={"rows": 4}))

    @classmethod
    def of(cls, session: JudgeSession) -> "NamingForm":
        """The form with what the session is called now."""
        return cls(initial={"session_name": session.name, "description": session.description})

    def save(self, session: JudgeSession) -> bool:
        """Rename the session. False: it was refused, and the form says why."""
        if not self.is_valid():
            return False
        data: dict[str, Any] = self.cleaned_data
        try:
            rename(session.pk, data["session_name"], data["description"])
        except ConfigRefused as refused:
            for field, texts in refused.errors.items():
                for text in texts:
                    self.add_error(field, str(text))
            return False
        return True

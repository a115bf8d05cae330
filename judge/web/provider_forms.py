"""Forms of a person's own providers. They check types; whether something may be is the service's question."""

from django import forms
from django.forms.models import fields_for_model, model_to_dict
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from judge.forms import KeyForm
from judge.models import JudgeModel, LLMProvider
from judge.services.errors import Text
from judge.services.provider_settings import MODEL_FIELDS, PROVIDER_FIELDS
from pillars.forms import ObjectField


class _Refusable(forms.Form):
    """A form at whose fields the service's refusals are shown."""

    def refuse(self, errors: dict[str, list[Text]]) -> None:
        """Show the refusals; what belongs to no field stands above the form."""
        for field, texts in errors.items():
            for text in texts:
                self.add_error(field if field in self.fields else None, str(text))


class ProviderForm(KeyForm, _Refusable):
    """A provider of one's own. Who owns it and what it may receive is not in here."""

    field_order = ("name", "base_url", "api_key", "forget_key")

    def __init__(self, provider: LLMProvider | None, data: QueryDict | None) -> None:
        super().__init__(data, initial=model_to_dict(provider, PROVIDER_FIELDS) if provider else {})
        self.fields.update(fields_for_model(LLMProvider, PROVIDER_FIELDS))
        self.order_fields(self.field_order)
        self.fields["base_url"].label = _("Address")
        self.fields["base_url"].help_text = _("Where the server's OpenAI protocol begins; it mostly ends in /v1.")
        self.fields["base_url"].widget.attrs |= {
            "inputmode": "url",
            "autocomplete": "off",
            "autocapitalize": "none",
            "spellcheck": "false",
        }
        for name in ("requests_per_minute", "tokens_per_minute"):
            self.fields[name].help_text = _("Empty: no limit.")
        self.fields["max_concurrency"].help_text = _("At most so many calls at once, over all sessions.")
        if provider is None or not provider.api_key_encrypted:
            del self.fields["forget_key"]
            self.fields["api_key"].help_text = _("Stored encrypted and never shown again.")


class ModelForm(_Refusable):
    """A model at a provider of one's own."""

    def __init__(self, model: JudgeModel | None, data: QueryDict | None, suggested_name: str = "") -> None:
        stored = model_to_dict(model, MODEL_FIELDS) if model else {"model_name": suggested_name}
        super().__init__(data, initial=stored)
        self.fields.update(fields_for_model(JudgeModel, MODEL_FIELDS))
        parameters = self.fields["parameters"]
        self.fields["parameters"] = ObjectField(
            label=parameters.label,
            help_text=parameters.help_text,
            required=False,
            widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
            initial={},
        )
        self.fields["context_window"].help_text = _("Empty: unknown.")
        self.fields["input_price"].label, self.fields["output_price"].label = _("Input price"), _("Output price")
        for name in ("input_price", "output_price"):
            self.fields[name].help_text = _("Per million tokens. Empty: unknown.")
        if model is not None and model.session_judges.exists():
            self.fields["model_name"].disabled = True
            self.fields["model_name"].help_text = _("Sessions are judged by this model, so its name stays.")

"""Providers, their models, their tests. Keys go in and never come out."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from judge.domain.findings import ProviderFindings
from judge.forms import MAX_KEY
from judge.models import JudgeModel, LLMProvider
from judge.models.provider import StructuredOutput
from judge.selectors.check_reports import NEVER, CheckReport
from judge.selectors.providers import may_test
from judge.services.provider_settings import MODEL_FIELDS, PROVIDER_FIELDS

MAX_LIMIT = 2**31 - 1


class ModelSerializer(serializers.ModelSerializer[JudgeModel]):
    """A model of a provider."""

    output_mode = serializers.CharField(help_text="What holds: as set by hand, else as found by the test.")
    detected_output = serializers.CharField(allow_blank=True, help_text='What the test found; "" before it.')
    refused_parameters = serializers.ListField(
        child=serializers.CharField(), help_text="Fields of a request that the model refuses, as the test found."
    )
    is_used = serializers.BooleanField(help_text="A judge of some session: its name stays, it cannot be deleted.")
    parameters = serializers.DictField(help_text="Sent with each call.")

    class Meta:
        model = JudgeModel
        fields = (
            "id",
            *MODEL_FIELDS,
            "output_mode",
            "detected_output",
            "streams_reasoning",
            "refused_parameters",
            "checked_at",
            "is_used",
        )
        read_only_fields = fields


class ProviderSerializer(serializers.ModelSerializer[LLMProvider]):
    """A provider. Address and key are told only to those who look after it."""

    is_own = serializers.SerializerMethodField(help_text="The reader's own; else one of the system's.")
    base_url = serializers.SerializerMethodField(help_text="null: not yours to know.")
    has_key = serializers.SerializerMethodField(help_text="Whether a key is stored; null: not yours to know.")
    may_receive_threads = serializers.BooleanField(
        help_text="Approved for personal data, or on this machine. Others cannot judge."
    )
    models = ModelSerializer(many=True)

    class Meta:
        model = LLMProvider
        fields = (
            "id",
            "is_own",
            *PROVIDER_FIELDS,
            "has_key",
            "may_receive_personal_data",
            "may_receive_threads",
            "is_simulated",
            "models",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    def _is_known(self, provider: LLMProvider) -> bool:
        return may_test(self.context["request"].user, provider)

    def get_is_own(self, provider: LLMProvider) -> bool:
        """Whether the reader owns it."""
        return provider.owner_id is not None

    def get_base_url(self, provider: LLMProvider) -> str | None:
        """Where it is."""
        return provider.base_url if self._is_known(provider) else None

    def get_has_key(self, provider: LLMProvider) -> bool | None:
        """Whether there is a key, not which."""
        return bool(provider.api_key_encrypted) if self._is_known(provider) else None


class ProviderInputSerializer(serializers.Serializer[Any]):
    """A provider of one's own. Whether it may receive personal data is decided by staff alone."""

    name = serializers.CharField(max_length=120)
    base_url = serializers.CharField(max_length=500, help_text="Ends in /v1. A new address needs the key again.")
    api_key = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=MAX_KEY,
        write_only=True,
        help_text='Stored encrypted, never shown. Left out: the stored one stays. "": it is removed.',
    )
    max_concurrency = serializers.IntegerField(min_value=1, max_value=MAX_LIMIT, required=False)
    requests_per_minute = serializers.IntegerField(
        min_value=1, max_value=MAX_LIMIT, required=False, allow_null=True, help_text="null: no limit."
    )
    tokens_per_minute = serializers.IntegerField(
        min_value=1, max_value=MAX_LIMIT, required=False, allow_null=True, help_text="null: no limit."
    )
    may_omit_finish_reason = serializers.BooleanField(
        required=False, help_text="For servers that end a complete answer with [DONE] alone."
    )


class ModelInputSerializer(serializers.Serializer[Any]):
    """A model at a provider of one's own."""

    model_name = serializers.CharField(max_length=200)
    context_window = serializers.IntegerField(
        min_value=0, max_value=MAX_LIMIT, required=False, allow_null=True, help_text="Tokens; null: unknown."
    )
    input_price = serializers.DecimalField(
        max_digits=10, decimal_places=4, min_value=0, required=False, allow_null=True, help_text="Per million tokens."
    )
    output_price = serializers.DecimalField(
        max_digits=10, decimal_places=4, min_value=0, required=False, allow_null=True, help_text="Per million tokens."
    )
    structured_output = serializers.ChoiceField(StructuredOutput.choices, required=False)
    parameters = serializers.DictField(required=False, help_text='Sent with each call, for example {"temperature": 0}.')
    is_active = serializers.BooleanField(required=False, help_text="Offered for new sessions.")


class CheckInputSerializer(serializers.Serializer[Any]):
    """What to test."""

    model_name = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Any name that the server knows; left out: the provider's first model.",
    )


class CheckFilterSerializer(serializers.Serializer[Any]):
    """Which test is asked for."""

    model_name = serializers.CharField(required=False, allow_blank=True, max_length=200)


class SentenceSerializer(serializers.Serializer[Any]):
    """One finding in words."""

    code = serializers.CharField(help_text="A stable word for programs.")
    level = serializers.ChoiceField(("good", "note", "problem"))
    text = serializers.CharField(help_text="A sentence, in the language of the request.")


class CheckSerializer(serializers.Serializer[CheckReport]):
    """The newest test of a provider. It may take a minute and a half; ask every second or two while it runs."""

    id = serializers.IntegerField(source="check.pk", default=None, allow_null=True)
    state = serializers.ChoiceField((NEVER, "running", "done", "failed"))
    reason = serializers.CharField(
        source="check.reason", default="", help_text="Why there are no findings, as a stable word, when failed."
    )
    error = serializers.CharField(source="failure", help_text="The same as a sentence.")
    model_name = serializers.CharField(help_text="The model that was asked.")
    requested_at = serializers.DateTimeField(source="check.requested_at", default=None, allow_null=True)
    checked_at = serializers.DateTimeField(source="check.checked_at", default=None, allow_null=True)
    sentences = SentenceSerializer(many=True, help_text="The findings in words.")
    findings = serializers.SerializerMethodField(help_text="The findings as codes and numbers; null unless done.")

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_findings(self, report: CheckReport) -> dict[str, Any] | None:
        """As they are stored."""
        findings: ProviderFindings | None = report.findings
        return findings.as_json() if findings else None

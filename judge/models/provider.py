"""Where models are asked: providers and the models they serve."""

from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from judge.llm.addresses import AddressRefused, check_address
from judge.models.encryption import decrypt, encrypt

THIS_MACHINE = ("127.0.0.1", "::1", "localhost")


class LLMProvider(models.Model):
    """A server that speaks the OpenAI chat-completions protocol."""

    name = models.CharField(_("name"), max_length=120)
    base_url = models.CharField(_("base URL"), max_length=500, help_text=_("ends in /v1"))
    api_key_encrypted = models.TextField(blank=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="llm_providers",
        verbose_name=_("owner"),
        help_text=_("empty: for everybody"),
    )
    may_receive_personal_data = models.BooleanField(_("may receive personal data"), default=False)
    is_simulated = models.BooleanField(_("simulated, no LLM"), default=False)
    max_concurrency = models.PositiveIntegerField(_("parallel calls"), default=5, validators=[MinValueValidator(1)])
    requests_per_minute = models.PositiveIntegerField(
        _("requests per minute"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    tokens_per_minute = models.PositiveIntegerField(
        _("tokens per minute"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    may_omit_finish_reason = models.BooleanField(
        _("may omit the finish reason"),
        default=False,
        help_text=_("for servers that end a complete answer with [DONE] alone"),
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)
        verbose_name = _("provider")
        verbose_name_plural = _("providers")
        constraints = [
            models.CheckConstraint(condition=Q(max_concurrency__gte=1), name="provider_concurrency_from_1"),
            models.CheckConstraint(
                condition=Q(requests_per_minute__isnull=True) | Q(requests_per_minute__gte=1),
                name="provider_requests_from_1",
            ),
            models.CheckConstraint(
                condition=Q(tokens_per_minute__isnull=True) | Q(tokens_per_minute__gte=1), name="provider_tokens_from_1"
            ),
            models.UniqueConstraint(fields=["name"], condition=Q(owner__isnull=True), name="provider_name_once"),
            models.UniqueConstraint(fields=["owner", "name"], name="provider_name_once_per_owner"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def api_key(self) -> str:
        """The key in plain text; only for the call itself."""
        return decrypt(self.api_key_encrypted)

    @api_key.setter
    def api_key(self, plain: str) -> None:
        self.api_key_encrypted = encrypt(plain)

    @property
    def may_receive_threads(self) -> bool:
        """Threads stay on this machine unless a provider is explicitly approved for personal data."""
        return self.may_receive_personal_data or urlsplit(self.base_url).hostname in THIS_MACHINE

    def clean(self) -> None:
        """Refuse an address that must not be called, and a new address that would receive the old one's key."""
        try:
            check_address(self.base_url, settings.JUDGE_LOCAL_LLM_HOSTS)
        except AddressRefused as refused:
            raise ValidationError({"base_url": refused.message}) from None


class StructuredOutput(models.TextChoices):
    """How a model is told the shape of its answer."""

    AUTO = "auto", _("as the provider test found")
    JSON_SCHEMA = "json_schema", _("JSON schema")
    JSON_OBJECT = "json_object", _("JSON object, schema in the prompt")
    TEXT = "text", _("plain text, schema in the prompt")


class JudgeModel(models.Model):
    """One model at one provider with its parameters."""

    provider = models.ForeignKey(LLMProvider, models.CASCADE, related_name="models", verbose_name=_("provider"))
    model_name = models.CharField(_("model"), max_length=200)
    context_window = models.PositiveIntegerField(_("context window in tokens"), null=True, blank=True)
    input_price = models.DecimalField(
        _("price per million input tokens"), max_digits=10, decimal_places=4, null=True, blank=True
    )
    output_price = models.DecimalField(
        _("price per million output tokens"), max_digits=10, decimal_places=4, null=True, blank=True
    )
    structured_output = models.CharField(
        _("structured output"), max_length=12, choices=StructuredOutput, default=StructuredOutput.AUTO
    )
    # What the provider test found out; empty before it.
    detected_output = models.CharField(
        _("structured output found"),
        max_length=12,
        choices=[choice for choice in StructuredOutput.choices if choice[0] != StructuredOutput.AUTO],
        blank=True,
        editable=False,
    )
    streams_reasoning = models.BooleanField(_("streams its reasoning apart"), null=True, editable=False)
    # Fields of a request that this model refuses, as the test found.
    refused_parameters = models.JSONField(_("refused parameters"), default=list, blank=True, editable=False)
    checked_at = models.DateTimeField(_("tested"), null=True, editable=False)
    parameters = models.JSONField(
        _("parameters"), default=dict, blank=True, help_text=_('sent with each call, for example {"temperature": 0}')
    )
    is_active = models.BooleanField(_("offered for new sessions"), default=True)

    class Meta:
        ordering = ("provider__name", "model_name")
        verbose_name = _("judge model")
        verbose_name_plural = _("judge models")
        constraints = [models.UniqueConstraint(fields=["provider", "model_name"], name="model_once_per_provider")]

    def __str__(self) -> str:
        return f"{self.model_name} · {self.provider.name}"

    @property
    def output_mode(self) -> str:
        """How the shape is told: as set by hand, else as found by the provider test, else by a JSON schema."""
        if self.structured_output != StructuredOutput.AUTO:
            return self.structured_output
        return self.detected_output or StructuredOutput.JSON_SCHEMA.value

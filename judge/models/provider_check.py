"""The record of "test this provider"."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from judge.models.provider import JudgeModel, LLMProvider


class ProviderCheck(models.Model):
    """One test of a provider, run by a worker while the page asks for its outcome. All times are the database's."""

    RUNNING, DONE, FAILED = "running", "done", "failed"
    STATES = ((RUNNING, _("being tested")), (DONE, _("tested")), (FAILED, _("not tested")))

    provider = models.ForeignKey(LLMProvider, models.CASCADE, related_name="checks")
    model = models.ForeignKey(JudgeModel, models.SET_NULL, null=True, blank=True, related_name="checks")
    # What was asked about; empty: the test chose (findings say which).
    model_name = models.CharField(_("model"), max_length=200, blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    state = models.CharField(_("state"), max_length=10, choices=STATES, default=RUNNING)
    # Why a test brought no findings: not_sent, no_worker, interrupted, internal_error.
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    requested_at = models.DateTimeField(_("requested"), db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(_("tested"), null=True, blank=True)
    # judge.domain.findings.ProviderFindings as JSON; empty until it is done.
    findings = models.JSONField(_("findings"), default=dict, blank=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name = _("provider test")
        verbose_name_plural = _("provider tests")
        # Serves the provider's page: its newest test.
        indexes = [models.Index(fields=["provider", "-id"], name="check_newest")]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="running") | Q(state="done") | Q(state="failed"), name="check_state_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.provider_id}/{self.model_name}: {self.state}"

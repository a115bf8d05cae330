"""What is known about a provider at this moment: its rests, its rate, its breaker. Shared by all lanes and machines."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from judge.models.provider import LLMProvider


class ProviderState(models.Model):
    """The state beside a provider's settings, written by lanes and by the probe. No row: nothing special is known.

    All times are the database's.
    """

    provider = models.OneToOneField(LLMProvider, models.CASCADE, related_name="state", primary_key=True)
    # Parallel calls at present; null: as many as the provider's settings allow.
    concurrency = models.PositiveIntegerField(_("parallel calls at present"), null=True, blank=True)
    changed_at = models.DateTimeField(_("changed"), null=True, blank=True)
    # The provider asked for a rest (429): no call before this moment.
    blocked_until = models.DateTimeField(_("rests until"), null=True, blank=True)
    blocked_reason = models.CharField(_("reason of the rest"), max_length=40, blank=True)
    # Theoretical arrival times (GCRA): when the next request, and the next request's tokens, are within the rate.
    next_request_at = models.DateTimeField(null=True, blank=True)
    next_token_at = models.DateTimeField(null=True, blank=True)
    # Open breaker: the ErrorCode that opened it; empty while closed.
    breaker_reason = models.CharField(_("breaker"), max_length=40, blank=True)
    breaker_opened_at = models.DateTimeField(_("breaker opened"), null=True, blank=True)
    probed_at = models.DateTimeField(_("last probe"), null=True, blank=True)

    class Meta:
        verbose_name = _("provider state")
        verbose_name_plural = _("provider states")
        constraints = [
            models.CheckConstraint(
                condition=Q(concurrency__isnull=True) | Q(concurrency__gte=1), name="state_concurrency_from_1"
            ),
            models.CheckConstraint(
                condition=Q(breaker_reason="") ^ Q(breaker_opened_at__isnull=False), name="state_open_since_a_moment"
            ),
        ]

    def __str__(self) -> str:
        return str(self.provider)

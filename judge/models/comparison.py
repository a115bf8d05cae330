"""The plan (pairs) and the queue (comparisons)."""

from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Greatest, Least
from django.utils.translation import gettext_lazy as _

from judge.domain.states import ComparisonStatus
from judge.models.provider import LLMProvider
from judge.models.session import JudgeSession, SessionJudge
from pillars.models import EmailThread, Pillar

COMPARISON_LABELS = {
    ComparisonStatus.PENDING: _("waiting"),
    ComparisonStatus.RUNNING: _("being judged"),
    ComparisonStatus.COMPLETED: _("judged"),
    ComparisonStatus.FAILED: _("failed"),
}


class JudgePair(models.Model):
    """Two different threads to be compared once per repetition. Thread A is shown first in position order 1."""

    session = models.ForeignKey(JudgeSession, models.CASCADE, related_name="pairs")
    repetition = models.PositiveIntegerField(_("repetition"))
    queue_order = models.PositiveIntegerField(_("order"))
    thread_a = models.ForeignKey(EmailThread, models.PROTECT, related_name="+", verbose_name=_("thread A"))
    thread_b = models.ForeignKey(EmailThread, models.PROTECT, related_name="+", verbose_name=_("thread B"))
    pillar_a = models.ForeignKey(Pillar, models.PROTECT, related_name="+", verbose_name=_("pillar of A"))
    pillar_b = models.ForeignKey(Pillar, models.PROTECT, related_name="+", verbose_name=_("pillar of B"))

    class Meta:
        ordering = ("session", "queue_order")
        verbose_name = _("pair")
        verbose_name_plural = _("pairs")
        constraints = [
            models.UniqueConstraint(fields=["session", "queue_order"], name="pair_order_once"),
            # Whichever of the two stands in slot A.
            models.UniqueConstraint(
                "session",
                "repetition",
                Least("thread_a", "thread_b"),
                Greatest("thread_a", "thread_b"),
                name="pair_once_per_repetition",
            ),
            models.CheckConstraint(condition=~Q(thread_a=models.F("thread_b")), name="pair_of_two_threads"),
            models.CheckConstraint(condition=Q(repetition__gte=1), name="pair_repetition_from_1"),
        ]

    def __str__(self) -> str:
        return f"T{self.thread_a_id} : T{self.thread_b_id}"


class ComparisonQuerySet(models.QuerySet["JudgeComparison"]):
    """The queue's questions. Its moves are in judge.services.queue."""

    def waiting(self) -> Self:
        """Not yet judged, in queue order."""
        return self.filter(status=ComparisonStatus.PENDING).order_by("queue_position")

    def in_lanes(self) -> Self:
        """Being judged now, by lane."""
        return self.filter(status=ComparisonStatus.RUNNING).order_by("worker_id")

    def finished(self) -> Self:
        """Judged or failed."""
        return self.filter(status__in=(ComparisonStatus.COMPLETED, ComparisonStatus.FAILED))

    def with_texts(self) -> Self:
        """With pair, threads, pillars and messages in a fixed number of queries."""
        return self.select_related(
            "pair__thread_a", "pair__thread_b", "pair__pillar_a", "pair__pillar_b"
        ).prefetch_related("pair__thread_a__messages", "pair__thread_b__messages")


class JudgeComparison(models.Model):
    """One presentation of a pair to one judge."""

    session = models.ForeignKey(JudgeSession, models.CASCADE, related_name="comparisons")
    pair = models.ForeignKey(JudgePair, models.CASCADE, related_name="comparisons")
    judge = models.ForeignKey(SessionJudge, models.CASCADE, related_name="comparisons")
    position_order = models.PositiveSmallIntegerField(_("position order"))
    queue_position = models.PositiveIntegerField(_("queue position"))
    status = models.CharField(
        _("status"), max_length=10, choices=list(COMPARISON_LABELS.items()), default=ComparisonStatus.PENDING
    )
    worker_id = models.PositiveSmallIntegerField(_("worker"), null=True, blank=True)
    attempt_count = models.PositiveIntegerField(_("attempts"), default=0)
    # Leases that ran out: a comparison that kills its worker again and again must not stop the session.
    lost_leases = models.PositiveSmallIntegerField(_("lost leases"), default=0)
    claim_token = models.UUIDField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    # While it is judged: one of the provider's places for parallel calls. No index of its own: provider_slot_once. No
    # check of its own: it is the provider of this judge's model, and each claim would lock that row in common.
    provider = models.ForeignKey(
        LLMProvider, models.PROTECT, null=True, blank=True, related_name="+", db_index=False, db_constraint=False
    )
    provider_slot = models.PositiveIntegerField(null=True, blank=True)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    completed_at = models.DateTimeField(_("completed"), null=True, blank=True)
    error_code = models.CharField(_("error"), max_length=40, blank=True)
    error_message = models.CharField(_("error message"), max_length=500, blank=True)
    # Codes of what is suspicious in the judged texts (forged delimiters, instructions to the judge ...).
    flags = models.JSONField(_("flags"), default=list, blank=True)

    objects = ComparisonQuerySet.as_manager()

    class Meta:
        ordering = ("session", "queue_position")
        verbose_name = _("comparison")
        verbose_name_plural = _("comparisons")
        constraints = [
            models.UniqueConstraint(fields=["pair", "judge", "position_order"], name="comparison_once"),
            models.UniqueConstraint(fields=["session", "queue_position"], name="comparison_position_once"),
            # A lane judges one comparison at a time, however many wake-ups it gets.
            models.UniqueConstraint(
                fields=["session", "worker_id"],
                condition=Q(status=ComparisonStatus.RUNNING),
                name="one_running_per_lane",
            ),
            # A provider's limit of parallel calls, for all lanes of all sessions on all machines: places are numbered
            # from 0 up to the limit, and each is taken once.
            models.UniqueConstraint(
                fields=["provider", "provider_slot"],
                condition=Q(status=ComparisonStatus.RUNNING),
                name="provider_slot_once",
            ),
            models.CheckConstraint(condition=Q(position_order__in=(1, 2)), name="comparison_order_1_or_2"),
            models.CheckConstraint(condition=Q(status__in=list(ComparisonStatus)), name="comparison_status_known"),
            models.CheckConstraint(
                condition=Q(
                    status=ComparisonStatus.RUNNING,
                    lease_expires_at__isnull=False,
                    claim_token__isnull=False,
                    worker_id__isnull=False,
                    provider__isnull=False,
                    provider_slot__isnull=False,
                )
                | (
                    ~Q(status=ComparisonStatus.RUNNING)
                    & Q(
                        lease_expires_at__isnull=True,
                        claim_token__isnull=True,
                        provider__isnull=True,
                        provider_slot__isnull=True,
                    )
                ),
                name="running_if_and_only_if_leased",
            ),
            models.CheckConstraint(
                condition=Q(status=ComparisonStatus.FAILED) ^ Q(error_code=""), name="failed_has_a_code"
            ),
        ]
        indexes = [
            # Serves claim(): the first waiting comparison of one judge of a session.
            models.Index(
                fields=["judge", "queue_position"],
                condition=Q(status=ComparisonStatus.PENDING),
                name="comparison_first",
            ),
            # Serves the queue panel: the next waiting comparisons of a session.
            models.Index(
                fields=["session", "queue_position"],
                condition=Q(status=ComparisonStatus.PENDING),
                name="comparison_waiting",
            ),
            # Serves recover(): leases that ran out.
            models.Index(
                fields=["lease_expires_at"], condition=Q(status=ComparisonStatus.RUNNING), name="comparison_leased"
            ),
            # Serves the history table: newest verdicts of a session.
            models.Index(fields=["session", "-completed_at"], name="comparison_history"),
        ]

    def __str__(self) -> str:
        return f"#{self.queue_position} {self.pair}"

    @property
    def thread_ids(self) -> tuple[int, int]:
        """Ids of the threads in slots A and B."""
        ids = (self.pair.thread_a_id, self.pair.thread_b_id)
        return ids if self.position_order == 1 else (ids[1], ids[0])

    @property
    def shown_first(self) -> EmailThread:
        """The thread the judge saw as text A."""
        return self.pair.thread_a if self.position_order == 1 else self.pair.thread_b

    @property
    def shown_second(self) -> EmailThread:
        """The thread the judge saw as text B."""
        return self.pair.thread_b if self.position_order == 1 else self.pair.thread_a

    @property
    def pillar_first(self) -> Pillar:
        """The pillar of text A, for people's eyes only."""
        return self.pair.pillar_a if self.position_order == 1 else self.pair.pillar_b

    @property
    def pillar_second(self) -> Pillar:
        """The pillar of text B, for people's eyes only."""
        return self.pair.pillar_b if self.position_order == 1 else self.pair.pillar_a

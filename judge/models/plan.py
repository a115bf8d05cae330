"""What a plan was made from: the threads of a session, and the batches of an adaptive one."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from judge.models.session import JudgeSession
from pillars.models import EmailThread, Pillar


class SessionThread(models.Model):
    """A thread that one of the session's pillars held when the session was created.

    Plans are made from these rows, so that later changes of a pillar change no plan, and coverage has its denominator.
    """

    session = models.ForeignKey(JudgeSession, models.CASCADE, related_name="session_threads", db_index=False)
    pillar = models.ForeignKey(Pillar, models.PROTECT, related_name="+", verbose_name=_("pillar"))
    thread = models.ForeignKey(EmailThread, models.PROTECT, related_name="+", verbose_name=_("thread"))

    class Meta:
        verbose_name = _("thread of a session")
        verbose_name_plural = _("threads of sessions")
        constraints = [models.UniqueConstraint(fields=["session", "pillar", "thread"], name="session_thread_once")]

    def __str__(self) -> str:
        return f"T{self.thread_id}"


class PlanBatch(models.Model):
    """Pairs that an adaptive session planned together, and what was not known when they were chosen.

    A batch is chosen from the outcomes of all batches but the one before it. `open_pairs` are the queue orders of those
    pairs that had no outcome then, because a comparison had failed: with them seed and verdicts give the same batch
    again, also after the failed ones were retried.
    """

    session = models.ForeignKey(JudgeSession, models.CASCADE, related_name="plan_batches", db_index=False)
    number = models.PositiveIntegerField(_("number"))
    first_pair = models.PositiveIntegerField(_("order of its first pair"))
    pair_count = models.PositiveIntegerField(_("pairs"))
    open_pairs = models.JSONField(_("pairs without outcome"), default=list, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ("session", "number")
        verbose_name = _("batch of a plan")
        verbose_name_plural = _("batches of plans")
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="plan_batch_once"),
            models.CheckConstraint(condition=Q(number__gte=1, pair_count__gte=1), name="plan_batch_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.session_id}/{self.number}"

"""A session: one evaluation run with a frozen configuration."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from judge.domain.states import ComparisonMode, PlanEnd, SamplingStrategy, SessionStatus
from judge.models.prompt import PromptVersion
from judge.models.provider import JudgeModel
from judge.models.rubric import Rubric
from pillars.models import Language, Pillar

STATUS_LABELS = {
    SessionStatus.CREATED: _("created"),
    SessionStatus.QUEUED: _("queued"),
    SessionStatus.RUNNING: _("running"),
    SessionStatus.PAUSED: _("paused"),
    SessionStatus.COMPLETED: _("completed"),
    SessionStatus.FAILED: _("failed"),
    SessionStatus.ABORTED: _("aborted"),
}
MODE_LABELS = {
    ComparisonMode.PILLAR_SAMPLE: _("Pillar sample"),
    ComparisonMode.ROUND_ROBIN: _("Round robin"),
    ComparisonMode.FREE_FOR_ALL: _("Free for all"),
    ComparisonMode.ADAPTIVE: _("Adaptive"),
}
STRATEGY_LABELS = {
    SamplingStrategy.FIXED: _("Fresh draw per repetition"),
    SamplingStrategy.ROTATING: _("Rotating: unused threads first"),
    SamplingStrategy.BOOTSTRAP: _("Bootstrap: with replacement"),
    SamplingStrategy.PROPORTIONAL: _("Proportional to pillar size"),
}
PLAN_END_LABELS = {
    PlanEnd.SEPARATED: _("all neighbouring ranks are told apart"),
    PlanEnd.EXHAUSTED: _("no further pair was allowed"),
}
LIVE_STATUSES = (SessionStatus.QUEUED, SessionStatus.RUNNING)
MAX_SEED = 2**63 - 1


class SessionQuerySet(models.QuerySet["JudgeSession"]):
    """Who sees what, and moves of the state that only one caller can win."""

    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Sessions the user may read: own, shared, or all for staff; none for the anonymous and the deactivated."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        if user.is_staff:
            return self.kept()
        return self.kept().filter(Q(owner=user) | Q(pk__in=SessionShare.objects.filter(user=user).values("session")))

    def editable_by(self, user: User | AnonymousUser) -> Self:
        """Sessions the user may start, pause, resume, abort, delete."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        if user.is_staff:
            return self.kept()
        shared = SessionShare.objects.filter(user=user, can_edit=True).values("session")
        return self.kept().filter(Q(owner=user) | Q(pk__in=shared))

    def kept(self) -> Self:
        """Without those that were deleted and of which a worker is still removing the rows."""
        return self.filter(deleted_at__isnull=True)

    def live(self) -> Self:
        """Sessions whose lanes should be judging."""
        return self.filter(status__in=LIVE_STATUSES)


class JudgeSession(models.Model):
    """One evaluation run with a frozen configuration. Seed, configuration and threads decide its plan, which is written
    at creation or, where it is large, soon after; that of an adaptive session grows with its verdicts."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="judge_sessions", verbose_name=_("owner")
    )
    name = models.CharField(_("name"), max_length=200)
    description = models.TextField(_("description"), blank=True)
    status = models.CharField(
        _("status"), max_length=10, choices=list(STATUS_LABELS.items()), default=SessionStatus.CREATED, editable=False
    )
    # A code that pages put into words; empty when there is nothing to explain.
    status_reason = models.CharField(_("reason"), max_length=60, blank=True, editable=False)
    comparison_mode = models.CharField(
        _("mode"), max_length=20, choices=list(MODE_LABELS.items()), default=ComparisonMode.PILLAR_SAMPLE
    )
    sampling_strategy = models.CharField(
        _("strategy"), max_length=20, choices=list(STRATEGY_LABELS.items()), default=SamplingStrategy.ROTATING
    )
    samples_per_pillar = models.PositiveIntegerField(_("samples per pillar"), default=10)
    repetitions_per_pair = models.PositiveIntegerField(_("repetitions"), default=1)
    max_threads_per_pillar = models.PositiveIntegerField(_("most threads per pillar"), null=True, blank=True)
    # Adaptive sessions only.
    comparison_budget = models.PositiveIntegerField(_("budget of comparisons"), null=True, blank=True)
    position_swap = models.BooleanField(_("position swap"), default=True)
    calculate_elo = models.BooleanField(_("calculate ELO"), default=True)
    worker_count = models.PositiveSmallIntegerField(
        _("workers"), default=3, validators=[MinValueValidator(1), MaxValueValidator(5)]
    )
    seed = models.BigIntegerField(_("seed"), validators=[MinValueValidator(0), MaxValueValidator(MAX_SEED)])
    language = models.CharField(_("language"), max_length=5, choices=Language, default=Language.GERMAN)
    rubric = models.ForeignKey(Rubric, models.PROTECT, related_name="sessions", verbose_name=_("rubric"))
    prompt_version = models.ForeignKey(
        PromptVersion, models.PROTECT, related_name="sessions", verbose_name=_("prompt version")
    )
    pillars = models.ManyToManyField(Pillar, related_name="judge_sessions", verbose_name=_("pillars"))
    # Known at creation. Of an adaptive session it is what the budget allows, until it ends with less.
    total_comparisons = models.PositiveIntegerField(_("comparisons"), default=0, editable=False)
    # Written so far, always the first ones of the plan. Lanes may judge them while the rest is written.
    planned_comparisons = models.PositiveIntegerField(_("planned"), default=0, editable=False)
    plan_written_at = models.DateTimeField(_("plan last written"), null=True, blank=True, editable=False)
    # Why an adaptive session ended before its budget was spent.
    plan_end = models.CharField(
        _("end of the plan"), max_length=20, choices=list(PLAN_END_LABELS.items()), blank=True, editable=False
    )
    # Counted by the same transactions that move comparisons; `health` compares them with the rows.
    completed_comparisons = models.PositiveIntegerField(_("completed"), default=0, editable=False)
    failed_comparisons = models.PositiveIntegerField(_("failed"), default=0, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    started_at = models.DateTimeField(_("started"), null=True, blank=True, editable=False)
    completed_at = models.DateTimeField(_("completed"), null=True, blank=True, editable=False)
    # Deleted for everybody; a worker is removing its rows, and moves this on with each part.
    deleted_at = models.DateTimeField(_("deleted"), null=True, blank=True, editable=False)

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-pk")
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        indexes = [
            # Serves recover(): "which sessions should have lanes?", asked every ten seconds.
            models.Index(fields=["status"], name="session_live", condition=Q(status__in=LIVE_STATUSES)),
            # Serves recover(): "which plans are not written to their end?", asked every ten seconds.
            models.Index(
                fields=["plan_written_at"],
                name="session_plan_open",
                condition=Q(planned_comparisons__lt=F("total_comparisons")),
            ),
            # Serves recover(): "which deleted sessions have rows left?", asked every ten seconds.
            models.Index(fields=["deleted_at"], name="session_deleted", condition=Q(deleted_at__isnull=False)),
            # Serves the overview: one owner's sessions, newest first.
            models.Index(fields=["owner", "-created_at"], name="session_by_owner"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(worker_count__range=(1, 5)), name="session_workers_1_to_5"),
            models.CheckConstraint(
                condition=Q(samples_per_pillar__gte=1, repetitions_per_pair__gte=1), name="session_samples_from_1"
            ),
            models.CheckConstraint(condition=Q(seed__gte=0), name="session_seed_not_negative"),
            models.CheckConstraint(condition=Q(status__in=list(SessionStatus)), name="session_status_known"),
            models.CheckConstraint(
                condition=Q(total_comparisons__gte=F("completed_comparisons") + F("failed_comparisons")),
                name="session_counters_add_up",
            ),
            models.CheckConstraint(
                condition=Q(total_comparisons__gte=F("planned_comparisons")), name="session_planned_within_total"
            ),
            models.CheckConstraint(
                condition=Q(comparison_mode=ComparisonMode.ADAPTIVE) ^ Q(comparison_budget__isnull=True),
                name="session_budget_if_adaptive",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def finished_comparisons(self) -> int:
        """Comparisons that need no further call: judged or failed."""
        return self.completed_comparisons + self.failed_comparisons

    @property
    def percent(self) -> int:
        """Share of finished comparisons, 0-100, rounded down so that 100 means all."""
        return 100 * self.finished_comparisons // self.total_comparisons if self.total_comparisons else 0

    @property
    def is_planned(self) -> bool:
        """Whether the whole plan is written."""
        return self.planned_comparisons == self.total_comparisons

    @property
    def orders_expected(self) -> int:
        """How many presentations make a pair complete."""
        return 2 if self.position_swap else 1


class SessionJudge(models.Model):
    """One of the 1-3 judges of a session, with the parameters frozen at creation."""

    session = models.ForeignKey(JudgeSession, models.CASCADE, related_name="session_judges")
    position = models.PositiveSmallIntegerField()
    model = models.ForeignKey(JudgeModel, models.PROTECT, related_name="session_judges", verbose_name=_("judge model"))
    parameters = models.JSONField(default=dict, blank=True)
    # The ErrorCode that makes this judge unusable for now; the session's other judges go on. Empty: usable.
    stop_reason = models.CharField(_("stopped because of"), max_length=40, blank=True, editable=False)
    stopped_at = models.DateTimeField(_("stopped"), null=True, blank=True, editable=False)

    class Meta:
        ordering = ("session", "position")
        verbose_name = _("judge")
        verbose_name_plural = _("judges")
        constraints = [
            models.UniqueConstraint(fields=["session", "position"], name="judge_position_once"),
            models.UniqueConstraint(fields=["session", "model"], name="judge_model_once"),
            models.CheckConstraint(condition=Q(position__range=(0, 2)), name="judge_at_most_three"),
        ]

    def __str__(self) -> str:
        return str(self.model)


class SessionShare(models.Model):
    """A session is shown to another person, who may also be allowed to run it."""

    session = models.ForeignKey(JudgeSession, models.CASCADE, related_name="shares")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="session_shares", verbose_name=_("person")
    )
    can_edit = models.BooleanField(_("may start, pause and abort"), default=False)

    class Meta:
        verbose_name = _("share")
        verbose_name_plural = _("shares")
        constraints = [models.UniqueConstraint(fields=["session", "user"], name="shared_once")]

    def __str__(self) -> str:
        return f"{self.session_id}/{self.user_id}"

"""Derived tables: always rebuilt from evaluations, to the same numbers."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from judge.models.session import JudgeSession
from pillars.models import EmailThread, Pillar


class ThreadEloScore(models.Model):
    """One thread's ratings within one session."""

    session = models.ForeignKey(JudgeSession, models.CASCADE, related_name="elo_scores")
    thread = models.ForeignKey(EmailThread, models.CASCADE, related_name="+")
    pillar = models.ForeignKey(Pillar, models.PROTECT, related_name="+")
    elo_score = models.FloatField("ELO")
    elo_low = models.FloatField(null=True, blank=True)
    elo_high = models.FloatField(null=True, blank=True)
    matches_played = models.PositiveIntegerField(_("matches"))
    wins = models.PositiveIntegerField(_("wins"))
    losses = models.PositiveIntegerField(_("losses"))
    ties = models.PositiveIntegerField(_("ties"))
    avg_confidence = models.FloatField(null=True, blank=True)
    bt_score = models.FloatField(null=True, blank=True)
    bt_low = models.FloatField(null=True, blank=True)
    bt_high = models.FloatField(null=True, blank=True)
    # never_won, never_lost, not_connected: the value is regularised and has no interval; empty for a plain estimate.
    bt_flag = models.CharField(max_length=20, blank=True)

    class Meta:
        ordering = ("session", "-elo_score", "thread")
        verbose_name = _("thread rating")
        verbose_name_plural = _("thread ratings")
        constraints = [
            models.UniqueConstraint(fields=["session", "thread"], name="thread_rated_once"),
            models.CheckConstraint(
                condition=Q(matches_played=models.F("wins") + models.F("losses") + models.F("ties")),
                name="rating_matches_add_up",
            ),
        ]

    def __str__(self) -> str:
        return f"T{self.thread_id}: {self.elo_score:.0f}"


class PillarStatistics(models.Model):
    """Pair outcomes between two pillars (pillar_a has the smaller number; equal within a pillar)."""

    session = models.ForeignKey(JudgeSession, models.CASCADE, related_name="pillar_statistics")
    pillar_a = models.ForeignKey(Pillar, models.PROTECT, related_name="+")
    pillar_b = models.ForeignKey(Pillar, models.PROTECT, related_name="+")
    wins_a = models.PositiveIntegerField(default=0)
    wins_b = models.PositiveIntegerField(default=0)
    ties = models.PositiveIntegerField(default=0)
    conflicts = models.PositiveIntegerField(default=0)
    avg_confidence = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ("session", "pillar_a__number", "pillar_b__number")
        verbose_name = _("pillar statistics")
        verbose_name_plural = _("pillar statistics")
        constraints = [
            models.UniqueConstraint(fields=["session", "pillar_a", "pillar_b"], name="pillar_pair_once"),
            models.CheckConstraint(condition=Q(conflicts__lte=models.F("ties")), name="conflicts_are_ties"),
        ]

    def __str__(self) -> str:
        return f"P{self.pillar_a_id} : P{self.pillar_b_id}"


class ResultSnapshot(models.Model):
    """A computed result as pages and API read it."""

    session = models.ForeignKey(JudgeSession, models.CASCADE, related_name="snapshots")
    kind = models.CharField(max_length=40)
    evaluations_seen = models.PositiveIntegerField()
    payload = models.JSONField()
    created_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = _("result snapshot")
        verbose_name_plural = _("result snapshots")
        constraints = [models.UniqueConstraint(fields=["session", "kind"], name="snapshot_once_per_kind")]

    def __str__(self) -> str:
        return f"{self.session_id}/{self.kind}"

"""What models answered: verdicts, scores, and every call that was made."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from judge.domain.states import Winner
from judge.models.comparison import JudgeComparison
from judge.models.rubric import Criterion

WINNER_LABELS = {Winner.A: "A", Winner.B: "B", Winner.TIE: _("tie")}


class JudgeEvaluation(models.Model):
    """The validated verdict of one comparison. Winner and scores name the slots A and B as the judge saw them."""

    comparison = models.OneToOneField(JudgeComparison, models.CASCADE, related_name="evaluation")
    winner = models.CharField(_("winner"), max_length=3, choices=list(WINNER_LABELS.items()))
    confidence = models.FloatField(_("confidence"))
    reasoning = models.TextField(_("reasoning"))
    chain_of_thought = models.JSONField(_("chain of thought"))
    verdict = models.JSONField(_("verdict"))
    # Exactly as received, also where the verdict was taken out of fences or prose.
    raw_response = models.TextField(_("raw answer"))
    model_returned = models.CharField(_("model as returned"), max_length=200, blank=True)
    prompt_hash = models.CharField(_("prompt hash"), max_length=64)
    finish_reason = models.CharField(_("finish reason"), max_length=40, blank=True)
    # Unknown stays null; it is never counted as nought.
    prompt_tokens = models.PositiveIntegerField(_("prompt tokens"), null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(_("completion tokens"), null=True, blank=True)
    cost = models.DecimalField(_("cost"), max_digits=14, decimal_places=8, null=True, blank=True)
    latency_ms = models.PositiveIntegerField(_("latency in ms"))
    first_token_ms = models.PositiveIntegerField(_("first token after ms"), null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("evaluation")
        verbose_name_plural = _("evaluations")
        constraints = [
            models.CheckConstraint(condition=Q(winner__in=list(Winner)), name="evaluation_winner_known"),
            models.CheckConstraint(condition=Q(confidence__range=(0.0, 1.0)), name="evaluation_confidence_0_to_1"),
        ]

    def __str__(self) -> str:
        return f"{self.comparison_id}: {self.winner}"


class CriterionScore(models.Model):
    """Scores of both texts on one criterion."""

    evaluation = models.ForeignKey(JudgeEvaluation, models.CASCADE, related_name="scores")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="+")
    score_a = models.FloatField(_("score of A"))
    score_b = models.FloatField(_("score of B"))
    reasoning = models.TextField(_("reasoning"), blank=True)

    class Meta:
        ordering = ("criterion__position",)
        verbose_name = _("criterion score")
        verbose_name_plural = _("criterion scores")
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "criterion"], name="criterion_scored_once"),
            models.CheckConstraint(
                condition=Q(score_a__range=(1.0, 5.0), score_b__range=(1.0, 5.0)), name="score_1_to_5"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.criterion}: {self.score_a} : {self.score_b}"


class JudgeAttempt(models.Model):
    """One call of a model, written before it is made and completed after it, so that lost calls are counted too."""

    STARTED = "started"
    ACCEPTED = "accepted"

    comparison = models.ForeignKey(JudgeComparison, models.CASCADE, related_name="attempts")
    claim_token = models.UUIDField()
    number = models.PositiveIntegerField(_("call"))
    # "started", "accepted", or the ErrorCode of why the answer was refused.
    outcome = models.CharField(_("outcome"), max_length=40, default=STARTED)
    prompt_hash = models.CharField(_("prompt hash"), max_length=64)
    raw_response = models.TextField(_("raw answer"), blank=True)
    problems = models.JSONField(_("problems"), default=list, blank=True)
    http_status = models.PositiveSmallIntegerField(_("HTTP status"), null=True, blank=True)
    finish_reason = models.CharField(_("finish reason"), max_length=40, blank=True)
    model_returned = models.CharField(_("model as returned"), max_length=200, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    first_token_ms = models.PositiveIntegerField(null=True, blank=True)
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("comparison", "started_at", "pk")
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        constraints = [models.UniqueConstraint(fields=["comparison", "claim_token", "number"], name="attempt_once")]
        # Serves the breaker: how the last calls ended.
        indexes = [models.Index(fields=["-ended_at"], name="attempt_ended", condition=Q(ended_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.comparison_id}/{self.number}: {self.outcome}"

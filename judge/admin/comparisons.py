"""Comparisons to look at, with every call that was made for them."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from judge.admin.locks import ReadOnlyAdmin, ReadOnlyInline, column
from judge.models import JudgeAttempt, JudgeComparison, JudgeEvaluation

PAIR = column("pair", _("pair"))
LEASE = column("lease_expires_at", _("reserved until"))


class EvaluationInline(ReadOnlyInline):
    """The verdict."""

    model = JudgeEvaluation
    fields = readonly_fields = (
        "winner",
        "confidence",
        "reasoning",
        "model_returned",
        "latency_ms",
        column("created_at", _("created")),
    )


class AttemptInline(ReadOnlyInline):
    """Calls of the model; their raw answers are read on the comparison's own page."""

    model = JudgeAttempt
    fields = readonly_fields = (
        "number",
        "outcome",
        "problems",
        "http_status",
        "finish_reason",
        "model_returned",
        column("latency_ms", _("latency in ms")),
        column("started_at", _("started")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[JudgeAttempt]:
        """Without the raw answers, which may be a megabyte each."""
        return super().get_queryset(request).defer("raw_response")


@admin.register(JudgeComparison)
class JudgeComparisonAdmin(ReadOnlyAdmin):
    """Comparisons. They are judged by workers and changed by nobody."""

    list_display = ("__str__", "session", "status", "position_order", "worker_id", "attempt_count", "error_code")
    list_filter = ("status", "error_code", ("session", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("session", "pair")
    search_fields = ("session__name",)
    show_full_result_count = False
    inlines = (EvaluationInline, AttemptInline)
    fields = (
        "session",
        PAIR,
        "judge_name",
        "position_order",
        "queue_position",
        "status",
        "worker_id",
        "attempt_count",
        "lost_leases",
        LEASE,
        "started_at",
        "completed_at",
        "error_code",
        "error_message",
        "flags",
    )
    readonly_fields = (PAIR, "judge_name", LEASE)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With the names that are shown."""
        return super().get_queryset(request).select_related("session", "pair", "judge__model__provider")

    def view_on_site(self, comparison: JudgeComparison) -> str:
        """The page on which both texts and the whole reasoning are read."""
        return reverse("judge:comparison", args=(comparison.session_id, comparison.pk))

    @admin.display(description=_("judge"))
    def judge_name(self, comparison: JudgeComparison) -> str:
        """Model and provider."""
        return str(comparison.judge.model)

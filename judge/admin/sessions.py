"""Sessions to look at and to run."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from judge.admin.locks import ReadOnlyInline, column
from judge.admin.running import running_urls
from judge.models import JudgeSession, ResultSnapshot, SessionJudge, SessionShare
from judge.services import control
from judge.services.errors import ActionRefused

Action = Callable[[int], JudgeSession]


FINISHED = column("completed_at", _("finished"))


class SessionJudgeInline(ReadOnlyInline):
    """The judges with their frozen parameters."""

    model = SessionJudge
    fields = readonly_fields = ("position", "model", column("parameters", _("parameters")))

    def get_queryset(self, request: HttpRequest) -> QuerySet[SessionJudge]:
        """With the names that are shown."""
        return super().get_queryset(request).select_related("model__provider")


class SnapshotInline(ReadOnlyInline):
    """Which results are stored, without their content."""

    model = ResultSnapshot
    fields = readonly_fields = (
        column("kind", _("kind")),
        column("evaluations_seen", _("verdicts counted")),
        column("created_at", _("created")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[ResultSnapshot]:
        """Without the payload, which may be large."""
        return super().get_queryset(request).defer("payload")


class ShareInline(admin.TabularInline):
    """Who else sees the session; the one thing staff may change here."""

    model = SessionShare
    extra = 0
    autocomplete_fields = ("user",)


@admin.register(JudgeSession)
class JudgeSessionAdmin(admin.ModelAdmin):
    """Sessions. Their configuration is frozen; they are created on the pages, by the API or the command line."""

    list_display = ("name", "owner", "status", "comparison_mode", "percent_done", "failed_comparisons", "created_at")
    list_filter = ("status", "comparison_mode")
    list_select_related = ("owner",)
    search_fields = ("name", "owner__username")
    date_hierarchy = "created_at"
    inlines = (SessionJudgeInline, ShareInline, SnapshotInline)
    actions = ("start", "pause", "resume", "abort")

    def get_readonly_fields(self, request: HttpRequest, obj: JudgeSession | None = None) -> list[Any]:
        """All fields of the model; only the shares below them can be changed."""
        # "comparisons" shows their number as a link; "completed" is already the word for their count.
        shown = {"total_comparisons": "comparisons", "completed_at": FINISHED}
        return [shown.get(field.name, field.name) for field in JudgeSession._meta.fields] + ["pillar_list"]

    def get_fields(self, request: HttpRequest, obj: JudgeSession | None = None) -> list[Any]:
        """The model's fields in their order, then what belongs to it."""
        return [name for name in self.get_readonly_fields(request, obj) if name != "id"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[JudgeSession]:
        """Without those that are deleted already."""
        return JudgeSession.objects.kept().order_by(*self.get_ordering(request))

    def get_urls(self) -> list[URLPattern]:
        """With the page of what is running now."""
        return [*running_urls(self.admin_site), *super().get_urls()]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A session needs a plan, which a form cannot write."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Sessions are deleted where running ones are refused: on the pages and in the API."""
        return False

    def view_on_site(self, session: JudgeSession) -> str:
        """The live page, on which the session is watched and run."""
        return reverse("judge:session", args=(session.pk,))

    @admin.display(description=_("judged in %"))
    def percent_done(self, session: JudgeSession) -> int:
        """How far it is."""
        return session.percent

    @admin.display(description=_("pillars"))
    def pillar_list(self, session: JudgeSession) -> str:
        """Numbers and names."""
        return ", ".join(str(pillar) for pillar in session.pillars.all())

    @admin.display(description=_("comparisons"))
    def comparisons(self, session: JudgeSession) -> str:
        """A link to the session's comparisons."""
        address = reverse("admin:judge_judgecomparison_changelist")
        return format_html('<a href="{}?session__id__exact={}">{}</a>', address, session.pk, session.total_comparisons)

    @admin.action(description=_("Start the chosen sessions"), permissions=["change"])
    def start(self, request: HttpRequest, chosen: QuerySet[JudgeSession]) -> None:
        """created -> queued."""
        self._run(request, chosen, control.start)

    @admin.action(description=_("Pause the chosen sessions"), permissions=["change"])
    def pause(self, request: HttpRequest, chosen: QuerySet[JudgeSession]) -> None:
        """queued, running -> paused."""
        self._run(request, chosen, control.pause)

    @admin.action(description=_("Resume the chosen sessions"), permissions=["change"])
    def resume(self, request: HttpRequest, chosen: QuerySet[JudgeSession]) -> None:
        """paused, failed -> queued."""
        self._run(request, chosen, control.resume)

    @admin.action(description=_("Abort the chosen sessions"), permissions=["change"])
    def abort(self, request: HttpRequest, chosen: QuerySet[JudgeSession]) -> None:
        """-> aborted."""
        self._run(request, chosen, control.abort)

    def _run(self, request: HttpRequest, chosen: QuerySet[JudgeSession], action: Action) -> None:
        done = 0
        for session in chosen:
            try:
                action(session.pk)
                done += 1
            except JudgeSession.DoesNotExist:  # deleted since
                continue
            except ActionRefused as refused:
                self.message_user(request, f"{session.name}: {refused.message}", messages.WARNING)
        if done:
            text: Any = ngettext("%(count)d session was changed.", "%(count)d sessions were changed.", done)
            self.message_user(request, text % {"count": done}, messages.SUCCESS)

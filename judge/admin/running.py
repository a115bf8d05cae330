"""The page "What is running now": live sessions, lanes, providers, failures. It only reads."""

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django_htmx.http import HttpResponseClientRefresh

from judge.selectors.access import VIEW
from judge.selectors.running import LANES_SHOWN, SESSIONS_SHOWN, running_now

REFRESH_SECONDS = 5


def running_urls(site: AdminSite) -> list[URLPattern]:
    """The page's address below that of the sessions."""

    def running(request: HttpRequest) -> HttpResponse:
        """The whole page, or for its own refresh the part that changes."""
        if not request.user.has_perm(VIEW):
            raise PermissionDenied
        if request.headers.get("HX-Request"):
            return TemplateResponse(request, "admin/judge/running_part.html", _context())
        return TemplateResponse(request, "admin/judge/running.html", {**site.each_context(request), **_context()})

    shown = site.admin_view(running)

    @login_not_required  # admin_view asks; but its answer to whoever was logged out meanwhile must not be swapped in
    def page(request: HttpRequest) -> HttpResponse:
        if request.headers.get("HX-Request") and not site.has_permission(request):
            return HttpResponseClientRefresh()
        return shown(request)

    return [path("running/", page, name="judge_running")]


def _context() -> dict[str, Any]:
    return {
        "title": _("What is running now"),
        "now": running_now(),
        "read_at": timezone.now(),
        "refresh_seconds": REFRESH_SECONDS,
        "sessions_shown": SESSIONS_SHOWN,
        "lanes_shown": LANES_SHOWN,
    }

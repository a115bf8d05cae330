"""Start, pause, resume, abort, retry, delete: one service call each, answered with fresh parts or a redirect."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from judge import partials
from judge.models import JudgeSession
from judge.selectors.access import DELETE, editable_session, visible_session
from judge.services import control
from judge.services.deletion import delete_session
from judge.services.errors import ActionRefused
from judge.web.requests import is_swap


def _act(request: HttpRequest, pk: int, service: Callable[[int], JudgeSession]) -> HttpResponse:
    editable_session(request.user, pk)
    try:
        service(pk)
    except JudgeSession.DoesNotExist:  # deleted since
        raise Http404 from None
    except ActionRefused as refused:
        # Somebody else was faster, or the page was old: say so and show how things stand.
        messages.warning(request, str(refused.message))
    if not is_swap(request):
        return redirect("judge:session", pk)
    session = visible_session(request.user, pk)
    notices = render_to_string("judge/partials/notices.html", {"oob": True, "messages": messages.get_messages(request)})
    parts = partials.state(session) + partials.actions(session, can_edit=True) + partials.progress_bar(session)
    return HttpResponse(parts + notices)


@require_POST
def start(request: HttpRequest, pk: int) -> HttpResponse:
    """Start a session that was created."""
    return _act(request, pk, control.start)


@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Let running comparisons finish and begin no new one."""
    return _act(request, pk, control.pause)


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on with a paused or failed session."""
    return _act(request, pk, control.resume)


@require_POST
def abort(request: HttpRequest, pk: int) -> HttpResponse:
    """End a session for good; what was judged stays."""
    return _act(request, pk, control.abort)


@require_POST
def retry_failed(request: HttpRequest, pk: int) -> HttpResponse:
    """Judge the failed comparisons of an ended session again."""
    return _act(request, pk, control.retry_failed)


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a session with everything that was judged in it."""
    session = editable_session(request.user, pk, DELETE)
    try:
        delete_session(session.pk)
    except JudgeSession.DoesNotExist:  # deleted since
        raise Http404 from None
    except ActionRefused as refused:
        messages.warning(request, str(refused.message))
        return redirect("judge:session", pk)
    messages.success(request, _("The session “%(name)s” was deleted.") % {"name": session.name})
    return HttpResponseRedirect(reverse("judge:overview"))

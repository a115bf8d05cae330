"""The live page of a session, its comparisons, and one comparison whole."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from judge import partials
from judge.domain.states import ComparisonStatus
from judge.models import JudgeSession
from judge.selectors.access import ADD, CHANGE, DELETE, editable_session, may, may_edit, visible_session
from judge.selectors.comparisons import comparison_detail, comparison_list
from judge.selectors.lanes import swap_twin
from judge.services.deletion import DELETABLE
from judge.web.naming import NamingForm
from judge.web.verdicts import steps_in_order

COMPARISONS_PER_PAGE = 50


@require_safe
def session_page(request: HttpRequest, pk: int) -> HttpResponse:
    """The live page: everything on it comes from the database; the socket then keeps it fresh."""
    session = visible_session(request.user, pk)
    return _page(request, session, NamingForm.of(session))


@require_http_methods(["GET", "HEAD", "POST"])
def rename_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a session another name or other notes. Whoever comes back to the address, as after a refusal by another
    language, is shown the session."""
    if request.method != "POST":
        return redirect("judge:session", visible_session(request.user, pk).pk)
    session = editable_session(request.user, pk)
    form = NamingForm(request.POST)
    if not form.save(session):
        return _page(request, session, form, status=400)
    messages.success(request, _("The name and the notes are saved."))
    return redirect("judge:session", pk)


def _page(request: HttpRequest, session: JudgeSession, naming: NamingForm, status: int = 200) -> HttpResponse:
    can_edit = may(request.user, CHANGE) and may_edit(request.user, session)
    parts = partials.live_page(session, can_edit, oob=False)
    context = {
        "session": session,
        # The parts are templates' own output: escaped once, there.
        "parts": {name: mark_safe("".join(part)) for name, part in parts.items()},  # noqa: S308
        "judges": [judge.model for judge in session.session_judges.select_related("model__provider")],
        "naming": naming if can_edit else None,
        "may_duplicate": may(request.user, ADD),
        "may_delete": session.status in DELETABLE and may(request.user, DELETE) and may_edit(request.user, session),
    }
    return render(request, "judge/session.html", context, status=status)


@require_safe
def live_part(request: HttpRequest, pk: int) -> HttpResponse:
    """All parts of the live page as swaps, for pages whose socket is blocked."""
    session = visible_session(request.user, pk)
    can_edit = may(request.user, CHANGE) and may_edit(request.user, session)
    return HttpResponse(partials.joined(partials.live_page(session, can_edit)))


@require_safe
def comparisons_page(request: HttpRequest, pk: int) -> HttpResponse:
    """All comparisons of a session in queue order, of one status if asked for."""
    session = visible_session(request.user, pk)
    status = request.GET.get("status", "")
    if status not in list(ComparisonStatus):
        status = ""
    page = Paginator(comparison_list(session, status), COMPARISONS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"session": session, "page": page, "status": status, "statuses": list(ComparisonStatus)}
    return render(request, "judge/comparisons.html", context)


@require_safe
def comparison_page(request: HttpRequest, pk: int, comparison_pk: int) -> HttpResponse:
    """One comparison: both texts, the whole verdict, its swap twin, and every call that was made."""
    session = visible_session(request.user, pk)
    comparison = comparison_detail(session, comparison_pk)
    evaluation = getattr(comparison, "evaluation", None)
    context = {
        "session": session,
        "comparison": comparison,
        "evaluation": evaluation,
        "steps": steps_in_order(evaluation.chain_of_thought) if evaluation else [],
        "scores": list(evaluation.scores.all()) if evaluation else [],
        "judge": comparison.judge.model,
        "twin": swap_twin(comparison),
        "attempts": list(comparison.attempts.all()),
    }
    return render(request, "judge/comparison.html", context)

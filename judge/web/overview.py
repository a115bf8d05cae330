"""The list of sessions."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from judge import partials
from judge.selectors.access import ADD, VIEW, may, require


@require_safe
def overview_page(request: HttpRequest) -> HttpResponse:
    """All sessions that the person may see, newest first; kept fresh by the overview socket."""
    require(request.user, VIEW)
    page = partials.sessions_page(request.user, request.GET.get("page", 1))
    context = {
        "nav": "overview",
        "page": page,
        "sessions": partials.sessions_table(request.user, page, oob=False),
        "can_create": may(request.user, ADD),
    }
    return render(request, "judge/overview.html", context)


@require_safe
def session_list_part(request: HttpRequest) -> HttpResponse:
    """The list alone, for pages whose socket is blocked."""
    require(request.user, VIEW)
    page = partials.sessions_page(request.user, request.GET.get("page", 1))
    return HttpResponse(partials.sessions_table(request.user, page))

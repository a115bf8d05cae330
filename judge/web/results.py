"""The results of a session."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from judge.domain.states import SessionStatus
from judge.models.session import LIVE_STATUSES
from judge.partials import is_simulated
from judge.selectors.access import visible_session
from judge.selectors.results import session_results
from judge.web.findings import sentences
from judge.web.requests import is_swap
from judge.web.tables import leaderboard, matrix_rows, ranking

THREADS_SHOWN = 50
# Nothing more is judged in these unless somebody asks for it.
OVER = (SessionStatus.COMPLETED, SessionStatus.ABORTED)


@require_safe
def results_page(request: HttpRequest, pk: int) -> HttpResponse:
    """What came out, in words first, then in numbers. While the session runs, the page asks for itself again."""
    session = visible_session(request.user, pk)
    results = session_results(session)
    pillars = {pillar.number: pillar for pillar in session.pillars.all()}
    context: dict[str, Any] = {
        "session": session,
        "results": results,
        "simulated": is_simulated(session),
        "is_live": session.status in LIVE_STATUSES,
        "pillars": list(pillars.values()),
    }
    if results is not None:
        threads = leaderboard(results, pillars)
        context |= {
            "sentences": sentences(results, pillars, is_over=session.status in OVER),
            "is_over": session.status in OVER,
            "ranking": ranking(results, pillars),
            "matrix": matrix_rows(results, pillars),
            "threads": threads if "all" in request.GET else threads[:THREADS_SHOWN],
            "threads_total": len(threads),
            "swap": results.position_swap,
        }
    template = "judge/partials/results.html" if is_swap(request) else "judge/results.html"
    return render(request, template, context)

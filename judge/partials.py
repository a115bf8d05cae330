"""The parts of the live pages. Page load, HTMX swap, polling and sockets all render them here, from one template each.

Each part has one root element with a stable id; ``oob`` marks it as a swap that finds its place by that id.
"""

from typing import Any

from django.core.paginator import Page, Paginator
from django.template.loader import render_to_string
from django.utils.html import escape

from judge.models import JudgeSession, LLMProvider, ProviderCheck
from judge.selectors.access import ADD, Person, may
from judge.selectors.check_reports import check_report
from judge.selectors.lanes import Lane, history, lane, lanes, queue
from judge.selectors.notices import notices
from judge.selectors.progress import progress
from judge.selectors.sessions import allowed_actions, session_list

SESSIONS_PER_PAGE = 25
HISTORY_SHOWN = 12
QUEUE_SHOWN = 8
PRIMARY = ("start", "resume")


def _part(name: str, context: dict[str, Any], oob: bool) -> str:
    return render_to_string(f"judge/partials/{name}.html", {**context, "oob": oob})


def is_simulated(session: JudgeSession) -> bool:
    """Whether any judge of the session is the simulated one, so that its verdicts are no language model's."""
    return session.session_judges.filter(model__provider__is_simulated=True).exists()


def state(session: JudgeSession, oob: bool = True) -> str:
    """Status, its reason, whether the judge is simulated, and which judges and providers stand still."""
    found = notices(session)
    # A notice that names the judge or the provider says it better than the bare reason.
    reason = "" if any(cause.reason == session.status_reason for cause in found) else session.status_reason
    context = {"session": session, "simulated": is_simulated(session), "notices": found, "status_reason": reason}
    return _part("state", context, oob)


def actions(session: JudgeSession, can_edit: bool, oob: bool = True) -> str:
    """The buttons that the session's status allows, for those who may press them."""
    allowed = allowed_actions(session) if can_edit else []
    if "retry-failed" in allowed and not session.failed_comparisons:
        allowed.remove("retry-failed")
    return _part("actions", {"session": session, "allowed": allowed, "primary": PRIMARY}, oob)


def progress_bar(session: JudgeSession, oob: bool = True) -> str:
    """How far the session is."""
    return _part("progress", {"session": session, "progress": progress(session)}, oob)


def one_lane(session: JudgeSession, shown: Lane, oob: bool = True) -> str:
    """One worker: both texts, the answer as it comes, the last verdict."""
    return _part("lane", {"session": session, "lane": shown}, oob)


def queue_panel(session: JudgeSession, oob: bool = True) -> str:
    """What waits."""
    waiting = max(0, session.total_comparisons - session.finished_comparisons)
    return _part("queue", {"session": session, "queue": queue(session, QUEUE_SHOWN), "waiting": waiting}, oob)


def history_panel(session: JudgeSession, oob: bool = True) -> str:
    """What was judged last."""
    return _part("history", {"session": session, "history": history(session)[:HISTORY_SHOWN]}, oob)


def stream_piece(worker_id: int, text: str) -> str:
    """A piece of an answer, escaped, to be appended to its lane."""
    return f'<div id="lane-{worker_id}-stream" hx-swap-oob="beforeend">{escape(text)}</div>'


def read_lanes(session: JudgeSession, worker_ids: set[int] | None = None) -> list[Lane]:
    """The lanes to draw: all of them, or those with these numbers."""
    if worker_ids is None or len(worker_ids) > 1:
        return [one for one in lanes(session) if worker_ids is None or one.worker_id in worker_ids]
    return [lane(session, number) for number in worker_ids if number < session.worker_count]


def live_page(session: JudgeSession, can_edit: bool, oob: bool = True) -> dict[str, Any]:
    """All parts of the live page by name; ``lanes`` is a list."""
    return {
        "state": state(session, oob),
        "actions": actions(session, can_edit, oob),
        "progress": progress_bar(session, oob),
        "lanes": [one_lane(session, one, oob) for one in read_lanes(session)],
        "queue": queue_panel(session, oob),
        "history": history_panel(session, oob),
    }


def joined(parts: dict[str, Any]) -> str:
    """The parts of a live page as one text of swaps."""
    return "".join("".join(part) if isinstance(part, list) else part for part in parts.values())


def sessions_page(user: Person, number: str | int) -> Page[JudgeSession]:
    """One page of the overview."""
    return Paginator(session_list(user), SESSIONS_PER_PAGE).get_page(number)


def sessions_table(user: Person, page: Page[JudgeSession], oob: bool = True) -> str:
    """The overview's list of sessions."""
    return _part("sessions", {"page": page, "can_create": may(user, ADD)}, oob)


def provider_check(provider: LLMProvider, check: ProviderCheck | None, oob: bool = False) -> str:
    """A provider's newest test: never, running, done or failed."""
    known = {model.model_name for model in provider.models.all()}
    return _part("provider_check", {"provider": provider, "report": check_report(check), "known": known}, oob)


def provider_check_seconds(provider: LLMProvider, check: ProviderCheck) -> str:
    """For how long a test has been running, which asks for itself again."""
    return _part("provider_check_seconds", {"provider": provider, "report": check_report(check)}, oob=False)


def models_found(provider: LLMProvider) -> str:
    """What tests found out about each of a provider's models, as swaps."""
    return "".join(_part("model_found", {"model": model}, oob=True) for model in provider.models.all())

"""judge:status: what a watcher must know to follow the events from here on, read from the database."""

from dataclasses import asdict
from typing import Any

from judge import events
from judge.models import JudgeComparison, JudgeSession
from judge.selectors.access import Person
from judge.selectors.progress import progress
from judge.selectors.workers import worker_state

LATEST_SESSIONS = 100


def session_snapshot(session: JudgeSession) -> dict[str, Any]:
    """Progress, lanes and the answers so far. ``seq`` is null: the first event after it says where the count stands."""
    lanes = JudgeComparison.objects.filter(session=session).in_lanes()
    running = {worker: (pk, str(token)) for worker, pk, token in lanes.values_list("worker_id", "pk", "claim_token")}
    state = progress(session)
    return {
        "type": "judge:status",
        "session_id": session.pk,
        "seq": None,
        "status": session.status,
        "status_reason": session.status_reason,
        "progress": asdict(state),
        "queue_pending": state.pending,
        "workers": [_lane(number, running.get(number)) for number in range(session.worker_count)],
    }


def _lane(worker_id: int, held: tuple[int, str] | None) -> dict[str, Any]:
    comparison_id, token = held or (None, None)
    answer = events.partial_answer(*held) if held else ""
    return {**asdict(worker_state(worker_id, comparison_id)), "claim_token": token, "stream_text": answer}


def overview_snapshot(user: Person) -> dict[str, Any]:
    """The newest sessions that the person may read, in numbers (one query)."""
    columns = ("pk", "name", "status", "status_reason", "completed_comparisons", "failed_comparisons")
    rows = JudgeSession.objects.visible_to(user).values_list(*columns, "total_comparisons")[:LATEST_SESSIONS]
    names = ("session_id", "session_name", "status", "status_reason", "completed", "failed", "total")
    sessions = [dict(zip(names, row, strict=True)) for row in rows]
    return {"type": "judge:status", "overview": True, "seq": None, "sessions": sessions}

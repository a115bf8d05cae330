"""Real threads, imported by their labels and judged to the end, where the files lie beside the project."""

import json
from pathlib import Path

import pytest

from judge.domain.states import SessionStatus
from judge.selectors.results import session_results
from judge.services.foreground import judge_in_foreground
from pillars.models import Pillar, PillarThread
from pillars.services.imports import import_threads
from tests.conftest import MakeSession

THREADS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "threads"

pytestmark = [
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
    pytest.mark.skipif(not THREADS.exists(), reason="the shared data does not lie beside the project"),
]


@pytest.mark.parametrize(
    ("file_name", "language", "count"), [("llars_mail_de.json", "de", 15), ("counselchat_small.json", "en", 60)]
)
def test_a_session_over_three_pillars_of_real_threads_completes(
    make_session: MakeSession, file_name: str, language: str, count: int
) -> None:
    data = (THREADS / file_name).read_bytes()
    labels = sorted({thread["pillar"] for thread in json.loads(data)})
    assert len(labels) == 3
    for number, label in zip((3, 4, 5), labels, strict=True):
        pillar = Pillar.objects.get(number=number)
        import_threads(data, file_name, pillar, language=language, only_label=label)
    assert PillarThread.objects.filter(pillar__number__in=(3, 4, 5)).count() == count
    session = make_session(pillar_ids=(3, 4, 5), language=language, samples_per_pillar=4, worker_count=5)
    for _ in judge_in_foreground(session.pk, every_seconds=0.05):
        pass
    session.refresh_from_db()
    assert session.status == SessionStatus.COMPLETED
    assert session.completed_comparisons == session.total_comparisons > 0
    results = session_results(session)
    assert results is not None
    assert {row["number"] for row in results.pillars} == {3, 4, 5}
    assert results.pairs_complete == results.pairs_total

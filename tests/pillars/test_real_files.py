"""Real threads, read where they lie beside the project."""

from pathlib import Path

import pytest

from pillars.models import EmailThread
from pillars.services.imports import import_threads
from tests.pillars.factories import PillarFactory

THREADS = Path(__file__).resolve().parents[3] / "shared" / "data" / "threads"

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not THREADS.is_dir(), reason=f"no real threads at {THREADS}"),
]


@pytest.mark.parametrize(
    ("name", "language", "labels"),
    [
        ("llars_mail_de.json", "de", {"Qualität high": 9, "Qualität medium": 4, "Qualität low": 2}),
        ("counselchat_small.json", "en", {"depression": 20, "anxiety": 20, "parenting": 20}),
    ],
)
def test_a_file_of_several_pillars_goes_into_them_by_label(name: str, language: str, labels: dict[str, int]) -> None:
    data = (THREADS / name).read_bytes()
    pillars = {label: PillarFactory() for label in labels}
    for label, pillar in pillars.items():
        done = import_threads(data, name, pillar, language=language, only_label=label)
        assert (done.added, done.assigned, done.known) == (labels[label], 0, 0)
        assert pillar.threads.count() == labels[label]
    assert EmailThread.objects.count() == sum(labels.values())
    assert not EmailThread.objects.filter(word_count=0).exists()
    again = import_threads(data, name, next(iter(pillars.values())), language=language, only_label=next(iter(labels)))
    assert (again.added, again.assigned) == (0, 0)

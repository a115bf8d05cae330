"""Imports at the same time."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from pillars.models import EmailThread, Message, Pillar
from pillars.services.imports import ImportOutcome, import_threads
from tests.pillars.factories import PillarFactory

IMPORTS = 4
DATA = json.dumps(
    [{"id": f"t{n}", "messages": [{"role": "client", "content": f"Example {n}"}]} for n in range(50)]
).encode()


def at_once(work: Callable[[Pillar], ImportOutcome], pillars: list[Pillar]) -> list[ImportOutcome]:
    barrier = Barrier(len(pillars))

    def run(pillar: Pillar) -> ImportOutcome:
        try:
            barrier.wait(10)
            return work(pillar)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(pillars)) as pool:
        return list(pool.map(run, pillars))


@pytest.mark.queue
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("same_pillar", [True, False])
def test_the_same_file_imported_at_once_is_stored_once(same_pillar: bool) -> None:
    pillars = [PillarFactory()] * IMPORTS if same_pillar else [PillarFactory() for _ in range(IMPORTS)]
    outcomes = at_once(lambda pillar: import_threads(DATA, "a.json", pillar), pillars)
    assert sorted(done.added for done in outcomes) == [0] * (IMPORTS - 1) + [50]
    assert (EmailThread.objects.count(), Message.objects.count()) == (50, 50)
    assert [pillar.threads.count() for pillar in pillars] == [50] * IMPORTS

"""The tables of plans can be taken away and given back; sessions that were there keep what is written of theirs."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from judge.models import JudgeSession, SessionThread
from judge.services.planning.size import estimate_of
from tests.conftest import MakeSession

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

BEFORE = [("judge", "0003_engine")]


def migrate(targets: list[tuple[str, str]]) -> None:
    """Migrate the database, with the migrations as they are on disk."""
    MigrationExecutor(connection).migrate(targets)


@pytest.fixture
def newest() -> Iterator[list[tuple[str, str]]]:
    """The newest migrations; the database is there again at the end."""
    leaves = MigrationExecutor(connection).loader.graph.leaf_nodes()
    yield leaves
    migrate(leaves)


def test_sessions_of_all_modes_survive_the_way_back_and_forth(
    make_session: MakeSession, newest: list[tuple[str, str]]
) -> None:
    whole = make_session(is_started=False, comparison_mode="round_robin")
    grown = make_session(is_started=False, comparison_mode="adaptive", comparison_budget=40)
    took_part = set(SessionThread.objects.filter(session=whole).values_list("pillar", "thread"))
    migrate(BEFORE)
    migrate(newest)
    whole = JudgeSession.objects.get(pk=whole.pk)
    assert (whole.is_planned, whole.total_comparisons, whole.comparison_budget) == (True, 32, None)
    assert set(SessionThread.objects.filter(session=whole).values_list("pillar", "thread")) == took_part
    assert estimate_of(whole).with_position_swap == 32
    grown = JudgeSession.objects.get(pk=grown.pk)
    assert grown.is_planned
    assert grown.total_comparisons == grown.comparison_budget == grown.comparisons.count() > 0

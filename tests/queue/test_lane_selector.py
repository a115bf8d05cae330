"""What a lane shows: its running comparison and its last finished one, on either database."""

import pytest

from judge.selectors.lanes import lanes
from judge.services.lanes import run_lane
from tests.conftest import MakeSession

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def test_each_lane_shows_the_comparison_it_finished_last(make_session: MakeSession) -> None:
    session = make_session(worker_count=2)
    for worker_id in (0, 1, 0):
        run_lane(session.pk, worker_id)
    shown = lanes(session)
    assert [lane.last.queue_position for lane in shown if lane.last] == [2, 1]
    assert all(lane.last and lane.last.evaluation.scores.count() == 6 for lane in shown)
    assert not any(lane.is_running for lane in shown)

"""The tables of moves."""

import pytest

from judge.domain.states import (
    ACTION_SOURCES,
    ACTION_TARGETS,
    COMPARISON_MOVES,
    SESSION_MOVES,
    ComparisonStatus,
    SessionStatus,
)

S = SessionStatus


def test_every_state_has_its_moves_named():
    assert set(SESSION_MOVES) == set(SessionStatus)
    assert set(COMPARISON_MOVES) == set(ComparisonStatus)


def test_no_state_moves_to_itself():
    assert all(state not in targets for state, targets in SESSION_MOVES.items())
    assert all(state not in targets for state, targets in COMPARISON_MOVES.items())


def test_aborted_is_the_end_and_completed_only_reopens_for_a_retry():
    assert SESSION_MOVES[S.ABORTED] == frozenset()
    assert SESSION_MOVES[S.COMPLETED] == {S.QUEUED}


@pytest.mark.parametrize("action", list(ACTION_SOURCES))
def test_an_action_starts_only_where_the_table_allows_its_target(action: str):
    assert ACTION_SOURCES[action]
    assert all(ACTION_TARGETS[action] in SESSION_MOVES[source] for source in ACTION_SOURCES[action])


def test_actions_start_from_the_states_of_the_diagram():
    assert {action: set(sources) for action, sources in ACTION_SOURCES.items()} == {
        "start": {S.CREATED},
        "pause": {S.QUEUED, S.RUNNING},
        "resume": {S.PAUSED, S.FAILED},
        "abort": {S.CREATED, S.QUEUED, S.RUNNING, S.PAUSED, S.FAILED},
        "retry_failed": {S.COMPLETED, S.FAILED},
    }


def test_a_judged_comparison_is_never_judged_again():
    assert COMPARISON_MOVES[ComparisonStatus.COMPLETED] == frozenset()
    assert COMPARISON_MOVES[ComparisonStatus.FAILED] == {ComparisonStatus.PENDING}


def test_the_tables_cannot_be_changed():
    with pytest.raises(TypeError):
        SESSION_MOVES[S.ABORTED] = frozenset({S.QUEUED})  # type: ignore[index]

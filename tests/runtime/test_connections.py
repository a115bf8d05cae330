"""Workers keep their database connections from task to task, and let go of those that are broken or old."""

from typing import Any

import pytest
from celery.signals import task_postrun, task_prerun
from django.conf import settings
from django.db import connection

from llars.celery import app, keep_good_connections


def test_celery_itself_closes_no_connection_between_tasks() -> None:
    # The name that Celery's Django fixup asks for.
    assert app.conf.get("CELERY_DB_REUSE_MAX") == settings.CELERY_DB_REUSE_MAX > 1_000_000


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("signal", [task_prerun, task_postrun])
def test_a_broken_connection_is_closed_around_a_task_and_a_good_one_is_kept(
    signal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keep_good_connections in [receiver for _, receiver in signal.receivers]
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 600)
    connection.close()
    connection.ensure_connection()
    kept = connection.connection
    keep_good_connections()
    assert connection.connection is kept
    connection.errors_occurred = True
    monkeypatch.setattr(connection, "is_usable", lambda: False)
    keep_good_connections()
    assert connection.connection is None

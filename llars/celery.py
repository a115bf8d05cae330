"""The Celery application. Messages are wake-ups only; the database is the record."""

import os
import sys
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import (
    after_task_publish,
    beat_init,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_init,
    worker_shutting_down,
)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "llars.settings")

app = Celery("llars")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect(weak=False)
def keep_our_logging(**kwargs: object) -> None:
    """Logging stays as the settings have it. Celery's own would add handlers that print what errors say, and set the
    level of everything to that of its command line."""


@worker_init.connect(weak=False)
def take_turns_quickly(**kwargs: object) -> None:
    """Lanes are threads that mostly wait. With Python's own 5 ms each answer from the database or Redis would wait that
    long for a lane that happens to compute, a dozen times per comparison."""
    sys.setswitchinterval(0.0005)


@task_prerun.connect(weak=False)
@task_postrun.connect(weak=False)
def keep_good_connections(**kwargs: object) -> None:
    """Close connections that are broken or old, as Django does around a request. Celery's own way would open a new one
    for every task, and the database would forget how it runs our statements."""
    from django.db import close_old_connections

    close_old_connections()


@worker_init.connect(weak=False)
def serve_metrics(**kwargs: object) -> None:
    """Show Prometheus what this worker does, where the operator wants that."""
    from llars.metrics import serve_worker

    serve_worker()


@worker_shutting_down.connect(weak=False)
def give_comparisons_back(**kwargs: object) -> None:
    """On SIGTERM: cut running calls and give their comparisons back, so that the worker ends within seconds."""
    from judge.services.leases import STOPPING

    STOPPING.set()


@beat_init.connect(weak=False)
def note_each_recovery(sender: Any, **kwargs: object) -> None:
    """Beat leaves a mark beside its schedule whenever it has sent a recovery: container_health reads how old it is."""
    from llars.container_health import beat_mark

    mark = beat_mark(Path(sender.schedule_filename))

    def sent(sender: object = None, **kwargs: object) -> None:
        if sender == "judge.recover":
            mark.touch()

    after_task_publish.connect(sent, weak=False)

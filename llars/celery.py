"""The Celery application. Messages are wake-ups only; the database is the record."""

import os
import sys

from celery import Celery
from celery.signals import worker_init, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "llars.settings")

app = Celery("llars")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect(weak=False)
def take_turns_quickly(**kwargs: object) -> None:
    """Lanes are threads that mostly wait. With Python's own 5 ms each answer from the database or Redis would wait that
    long for a lane that happens to compute, a dozen times per comparison."""
    sys.setswitchinterval(0.0005)


@worker_shutting_down.connect(weak=False)
def give_comparisons_back(**kwargs: object) -> None:
    """On SIGTERM: cut running calls and give their comparisons back, so that the worker ends within seconds."""
    from judge.services.leases import STOPPING

    STOPPING.set()

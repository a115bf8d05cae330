"""Imported once by the process that workers are forked from: all that a worker would import, and no connection."""

import celery.apps.beat
import celery.apps.worker
import celery.bin.beat
import celery.bin.worker
import celery.concurrency.thread
import celery.worker.consumer
import django
import kombu.transport.redis
from django.core.checks import run_checks

django.setup()
run_checks()  # imports pages and API too, as every worker does when it starts

import judge.tasks  # noqa: E402

__all__ = ["celery", "judge", "kombu"]

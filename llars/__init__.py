"""Project package: settings, urls, servers, the embedded run."""

from llars.celery import app as celery_app

__all__ = ["celery_app"]

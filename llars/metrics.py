"""Metrics for Prometheus: at the web server what the database knows, at each worker what its process counted."""

import hmac
import logging
import threading
from collections.abc import Iterable, Iterator
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest, make_wsgi_app
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

logger = logging.getLogger(__name__)

# Worker processes of one machine that may serve beside each other, each at the next free port.
PORTS_TRIED: Final = 32
CHALLENGE: Final = 'Bearer realm="metrics"'

Environ = dict[str, Any]


def is_authorised(header: str) -> bool:
    """Whether the Authorization header carries the configured token; the comparison takes the same time for all."""
    expected = f"Bearer {settings.METRICS_TOKEN}".encode()
    return bool(settings.METRICS_TOKEN) and hmac.compare_digest(header.encode(errors="replace"), expected)


# The web server ----------------------------------------------------------------------------------------------------


class DatabaseCollector(Collector):
    """Gauges that are read from the database when somebody asks: four short queries, no names, no texts."""

    def collect(self) -> Iterable[Metric]:
        """All gauges as they are at this moment."""
        from judge.selectors.depth import queue_depth
        from judge.selectors.provider_load import busy_providers

        depth = queue_depth()
        yield _gauge("sessions", "Sessions by status.", "status", depth.sessions)
        waiting = {"pending": depth.pending, "running": depth.running}
        yield _gauge("queue_comparisons", "Comparisons of live sessions by status.", "status", waiting)
        yield _gauge("queue_expired_leases", "Comparisons whose lease ran out and that wait for recovery.", "",
                     {"": depth.expired})  # fmt: skip
        yield _gauge("queue_standstill_seconds", "Longest time without a claim or an end in a session with work.", "",
                     {"": depth.standstill})  # fmt: skip
        loads = busy_providers()
        for name, meaning, attribute in _OF_PROVIDERS:
            values = {str(load.provider_id): float(getattr(load, attribute)) for load in loads}
            yield _gauge(name, meaning, "provider", values)


_OF_PROVIDERS: Final = (
    ("provider_running", "Comparisons that hold a place of the provider.", "running"),
    ("provider_limit", "Places of the provider at present.", "limit"),
    ("provider_cooling", "1 while the provider rests at its own wish.", "is_resting"),
    ("provider_breaker_open", "1 while the provider is not called because calls failed.", "is_open"),
)


def _gauge(name: str, meaning: str, label: str, values: dict[str, Any]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"llars_{name}", meaning, labels=[label] if label else None)
    for key, value in values.items():
        family.add_metric([key] if label else [], value)
    return family


_DATABASE = CollectorRegistry()
_DATABASE.register(DatabaseCollector())


@login_not_required
def scrape(request: HttpRequest) -> HttpResponse:
    """What the database knows, for whoever sends the token. Without a token in the settings there is no such page."""
    if not settings.METRICS_TOKEN:
        raise Http404
    if not is_authorised(request.headers.get("Authorization", "")):
        return HttpResponse("Send the token.\n", status=401, headers={"WWW-Authenticate": CHALLENGE})
    return HttpResponse(generate_latest(_DATABASE), content_type=CONTENT_TYPE_LATEST)


urlpatterns = [path("", scrape)]


# A worker ----------------------------------------------------------------------------------------------------------


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    # Two processes at one port would each be asked now and then.
    allow_reuse_port = False


class _Handler(WSGIRequestHandler):
    # Somebody who connects and says nothing keeps no thread for good.
    timeout = 10

    def log_message(self, format: str, *args: object) -> None:
        """Scrapes are no events."""


def serve_worker() -> WSGIServer | None:
    """Serve this process' counts from now on; returns the server, or None where none is wanted or possible.

    Of several workers on one machine each takes the next free port. That none is free is logged and stops no worker:
    judging matters more than being counted.
    """
    if not settings.METRICS_PORT:
        return None
    for port in range(settings.METRICS_PORT, min(settings.METRICS_PORT + PORTS_TRIED, 65536)):
        try:
            server = make_server(settings.METRICS_HOST, port, _worker_app(), _Server, _Handler)
        except OSError:
            continue
        threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
        logger.info("metrics_served port=%s", port)
        return server
    logger.error("metrics_not_served first_port=%s tried=%s", settings.METRICS_PORT, PORTS_TRIED)
    return None


def _worker_app() -> Any:
    """The counts as a WSGI application; guarded like the web server's wherever a token is set."""
    from judge.metrics import REGISTRY

    counts = make_wsgi_app(REGISTRY)

    def guarded(environ: Environ, start_response: Any) -> Iterator[bytes]:
        if settings.METRICS_TOKEN and not is_authorised(environ.get("HTTP_AUTHORIZATION", "")):
            start_response("401 Unauthorized", [("WWW-Authenticate", CHALLENGE)])
            return iter([b"Send the token.\n"])
        return iter(counts(environ, start_response))

    return guarded

"""Prometheus: what the web server and the workers show, to whom, and that no text is among it."""

import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from wsgiref.simple_server import WSGIServer

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from judge import metrics
from judge.models import JudgeModel, JudgeSession, ProviderState
from judge.services import wakeups
from llars.embedded.ports import any_free
from llars.metrics import serve_worker
from tests.factories import JudgeModelFactory, SessionFactory, judged, running

TOKEN = "example-token-of-a-scraper"
BEARER = {"Authorization": f"Bearer {TOKEN}"}

Figures = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(autouse=True)
def sent_wakeups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakeups, "_send", lambda task, *ids: None)


@pytest.fixture
def token(settings: Any) -> str:
    settings.METRICS_TOKEN = TOKEN
    return TOKEN


def figures(text: str) -> Figures:
    """All samples of an answer."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def figure(read: Figures, name: str, **labels: object) -> float:
    return read[name, frozenset((key, str(value)) for key, value in labels.items())]


def scraped(client: Client) -> str:
    answer = client.get("/metrics", headers=BEARER)
    assert answer.status_code == 200
    return answer.content.decode()


def busy_session(model: JudgeModel) -> JudgeSession:
    """One verdict, one comparison in a lane, four waiting."""
    session = SessionFactory(model=model, status="running", worker_count=2)
    first, second = session.comparisons.order_by("queue_position")[:2]
    judged(first)
    running(second)
    return session


def test_without_a_token_in_the_settings_there_is_no_such_page(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"bearer  {TOKEN}", TOKEN, "ä"])
def test_without_the_right_token_nothing_is_shown(client: Client, token: str, header: str) -> None:
    answer = client.get("/metrics", headers={"Authorization": header})
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="metrics"')
    assert b"llars_" not in answer.content


@pytest.mark.django_db
def test_the_web_server_shows_the_depth_of_the_queue(client: Client, token: str) -> None:
    model = JudgeModelFactory()
    session = busy_session(model)
    SessionFactory(model=model)  # planned, not started: its comparisons do not wait for anybody
    JudgeSession.objects.filter(pk=session.pk).update(started_at=timezone.now() - timedelta(seconds=90))
    session.comparisons.filter(status="completed").update(completed_at=timezone.now() - timedelta(seconds=80))
    session.comparisons.filter(status="running").update(
        started_at=timezone.now() - timedelta(seconds=70), lease_expires_at=timezone.now() - timedelta(seconds=1)
    )
    read = figures(scraped(client))
    assert figure(read, "llars_sessions", status="running") == 1
    assert figure(read, "llars_sessions", status="created") == 1
    assert figure(read, "llars_sessions", status="failed") == 0
    assert figure(read, "llars_queue_comparisons", status="pending") == session.total_comparisons - 2
    assert figure(read, "llars_queue_comparisons", status="running") == 1
    assert figure(read, "llars_queue_expired_leases") == 1
    assert 70 <= figure(read, "llars_queue_standstill_seconds") < 80
    provider = model.provider_id
    assert figure(read, "llars_provider_running", provider=provider) == 1
    assert figure(read, "llars_provider_limit", provider=provider) == 5
    assert figure(read, "llars_provider_cooling", provider=provider) == 0


@pytest.mark.django_db
def test_providers_that_rest_or_are_kept_away_are_shown(client: Client, token: str) -> None:
    now = timezone.now()
    resting, broken, fine = (JudgeModelFactory().provider for _ in range(3))
    ProviderState.objects.create(provider=resting, blocked_until=now + timedelta(minutes=5), concurrency=2)
    ProviderState.objects.create(provider=broken, breaker_reason="connection_failed", breaker_opened_at=now)
    ProviderState.objects.create(provider=fine, blocked_until=now - timedelta(minutes=5))
    read = figures(scraped(client))
    assert figure(read, "llars_provider_cooling", provider=resting.pk) == 1
    assert figure(read, "llars_provider_limit", provider=resting.pk) == 2
    assert figure(read, "llars_provider_breaker_open", provider=broken.pk) == 1
    assert ("llars_provider_limit", frozenset({("provider", str(fine.pk))})) not in read


@pytest.mark.django_db
def test_no_name_and_no_text_is_among_the_figures(client: Client, token: str) -> None:
    model = JudgeModelFactory()
    session = busy_session(model)
    text = scraped(client)
    for word in (session.name, session.owner.username, model.model_name, model.provider.name, "Example", "example"):
        assert word not in text


@pytest.mark.django_db
def test_a_scrape_costs_the_same_few_queries_however_much_runs(client: Client, token: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            scraped(client)
        return len(captured)

    busy_session(JudgeModelFactory())
    few = queries()
    for _ in range(3):
        busy_session(JudgeModelFactory())
    assert queries() == few == 4


def counted(name: str, **labels: object) -> float:
    found = metrics.REGISTRY.get_sample_value(name, {key: str(value) for key, value in labels.items()})
    return found or 0.0


@pytest.mark.parametrize(
    ("call", "name", "labels", "rise"),
    [
        (lambda: metrics.claimed(7), "llars_claims_total", {"provider": 7}, 1),
        (lambda: metrics.call_ended(7), "llars_calls_total", {"provider": 7}, 1),
        (lambda: metrics.call_ended(7, "empty"), "llars_call_failures_total", {"provider": 7, "code": "empty"}, 1),
        (lambda: metrics.call_ended(7, latency_ms=2500), "llars_call_seconds_sum", {"provider": 7}, 2.5),
        (lambda: metrics.call_ended(7), "llars_call_seconds_count", {"provider": 7}, 0),
        (lambda: metrics.call_ended(7, first_token_ms=500), "llars_first_token_seconds_sum", {"provider": 7}, 0.5),
        (lambda: metrics.call_ended(7, prompt_tokens=9), "llars_tokens_total", {"provider": 7, "kind": "prompt"}, 9),
        (lambda: metrics.call_ended(7, completion_tokens=-5), "llars_tokens_total",
         {"provider": 7, "kind": "completion"}, 0),
        (lambda: metrics.retried(7, "empty"), "llars_call_retries_total", {"provider": 7, "code": "empty"}, 1),
        (lambda: metrics.released("not_allowed"), "llars_releases_total", {"reason": "not_allowed"}, 1),
        (lambda: metrics.lease_expired(3), "llars_lease_expiries_total", {}, 3),
        (lambda: metrics.stale(), "llars_stale_attempts_total", {}, 1),
        (lambda: metrics.poisoned(), "llars_poisoned_total", {}, 1),
        (lambda: metrics.breaker_opened(7, "empty"), "llars_breaker_openings_total",
         {"provider": 7, "reason": "empty"}, 1),
        (lambda: metrics.cooled(7), "llars_coolings_total", {"provider": 7}, 1),
    ],
)  # fmt: skip
def test_each_call_counts_what_it_says(
    call: Callable[[], None], name: str, labels: dict[str, object], rise: float
) -> None:
    before = counted(name, **labels)
    call()
    assert counted(name, **labels) - before == pytest.approx(rise)


@pytest.fixture
def start_server(settings: Any) -> Iterator[Callable[[], WSGIServer | None]]:
    """Serve a worker's counts as its start does; all servers are gone afterwards."""
    settings.METRICS_HOST, settings.METRICS_PORT = "127.0.0.1", any_free()
    started: list[WSGIServer] = []

    def start() -> WSGIServer | None:
        server = serve_worker()
        started.extend([server] if server else [])
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def fetched(server: WSGIServer, headers: dict[str, str] | None = None) -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}/metrics", headers=headers or {})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
        return str(answer.read().decode())


def test_workers_of_one_machine_serve_their_counts_at_ports_of_their_own(
    start_server: Callable[[], WSGIServer], settings: Any
) -> None:
    settings.METRICS_TOKEN = ""
    first, second = start_server(), start_server()
    assert settings.METRICS_PORT == first.server_port < second.server_port
    metrics.claimed(8)
    for server in (first, second):
        read = figures(fetched(server))
        assert figure(read, "llars_claims_total", provider=8) >= 1
        assert figure(read, "process_cpu_seconds_total") > 0


def test_where_a_token_is_set_a_worker_asks_for_it(start_server: Callable[[], WSGIServer], token: str) -> None:
    server = start_server()
    with pytest.raises(urllib.error.HTTPError) as refused:
        fetched(server)
    assert refused.value.code == 401
    refused.value.close()
    assert "llars_claims_total" in fetched(server, BEARER)


def test_a_worker_without_a_free_port_judges_all_the_same(
    start_server: Callable[[], WSGIServer | None], settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.METRICS_HOST = "192.0.2.1"  # no address of any machine
    assert start_server() is None
    assert "metrics_not_served" in caplog.text
    settings.METRICS_PORT = 0
    assert start_server() is None

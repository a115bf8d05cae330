"""What this process did, as Prometheus counts it. Labels are ids and codes, never names or texts.

Each function costs a few microseconds and never raises, so that the queue may call it anywhere. The counts belong to
the process: a worker serves them at ``LLARS_METRICS_PORT`` (llars/metrics.py). What the database knows, such as the
depth of the queue, is asked there and not counted here.
"""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, disable_created_metrics

# One more series for each of ours, and nobody asks for it.
disable_created_metrics()

REGISTRY: Final = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

# Seconds. A call is cut after ten minutes, a first token is waited for one.
_CALL_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600)
_FIRST_TOKEN_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60)


def _counter(name: str, meaning: str, *labels: str) -> Counter:
    return Counter(f"llars_{name}", meaning, labels, registry=REGISTRY)


_CLAIMS = _counter("claims", "Comparisons that a lane took.", "provider")
_CALLS = _counter("calls", "Calls of a model that ended, whatever came of them.", "provider")
_FAILURES = _counter("call_failures", "Calls that brought no accepted verdict, by error code.", "provider", "code")
_RETRIES = _counter("call_retries", "Calls that were made again, by the code of the one before.", "provider", "code")
_TOKENS = _counter("tokens", "Tokens as the provider reported them.", "provider", "kind")
_LEASES = _counter("lease_expiries", "Leases that ran out and were given back or failed.")
_STALE = _counter("stale_attempts", "Answers that came after their claim was lost.")
_POISON = _counter("poisoned", "Comparisons that failed because they ended their worker again and again.")
_RELEASED = _counter("releases", "Comparisons given back unjudged, by reason.", "reason")
_OPENINGS = _counter("breaker_openings", "Times that a provider's breaker opened.", "provider", "reason")
_COOLINGS = _counter("coolings", "Times that a provider asked for a rest.", "provider")
_CALL_SECONDS = Histogram(
    "llars_call_seconds", "Length of a call.", ("provider",), registry=REGISTRY, buckets=_CALL_BUCKETS
)
_FIRST_TOKEN_SECONDS = Histogram(
    "llars_first_token_seconds", "Wait for the first token.", ("provider",), registry=REGISTRY,
    buckets=_FIRST_TOKEN_BUCKETS,
)  # fmt: skip


def claimed(provider_id: int) -> None:
    """A lane took a comparison that this provider is to judge."""
    _CLAIMS.labels(provider_id).inc()


def call_ended(
    provider_id: int,
    code: str = "",
    latency_ms: int | None = None,
    first_token_ms: int | None = None,
    prompt_tokens: int | None = None,
    completion_tokens: int | None = None,
) -> None:
    """A call ended. ``code`` is the ErrorCode of why it brought no accepted verdict, empty when it did.

    Milliseconds and tokens that are unknown are None: they are not observed, and never counted as nought.
    """
    _CALLS.labels(provider_id).inc()
    if code:
        _FAILURES.labels(provider_id, str(code)).inc()
    if latency_ms is not None:
        _CALL_SECONDS.labels(provider_id).observe(latency_ms / 1000)
    if first_token_ms is not None:
        _FIRST_TOKEN_SECONDS.labels(provider_id).observe(first_token_ms / 1000)
    _count_tokens(provider_id, "prompt", prompt_tokens)
    _count_tokens(provider_id, "completion", completion_tokens)


def _count_tokens(provider_id: int, kind: str, tokens: int | None) -> None:
    if tokens is not None and tokens > 0:  # a server may report nonsense; a counter refuses to go down
        _TOKENS.labels(provider_id, kind).inc(tokens)


def retried(provider_id: int, code: str) -> None:
    """A call is to be made again because the one before ended with ``code``."""
    _RETRIES.labels(provider_id, str(code)).inc()


def released(reason: str = "") -> None:
    """A comparison was given back unjudged: a code, or empty when its process was asked to end."""
    _RELEASED.labels(str(reason)).inc()


def lease_expired(count: int = 1) -> None:
    """Recovery found so many leases that had run out, poisoned ones included."""
    _LEASES.inc(count)


def stale() -> None:
    """An answer was thrown away, since somebody else had the comparison by then."""
    _STALE.inc()


def poisoned(count: int = 1) -> None:
    """So many comparisons failed because they ended their worker three times."""
    _POISON.inc(count)


def breaker_opened(provider_id: int, reason: str) -> None:
    """A provider is not called any more until a probe succeeds; ``reason`` is a code."""
    _OPENINGS.labels(provider_id, str(reason)).inc()


def cooled(provider_id: int) -> None:
    """A provider asked for a rest (Retry-After)."""
    _COOLINGS.labels(provider_id).inc()

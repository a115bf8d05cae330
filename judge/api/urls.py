"""Addresses under ``/api/``. Each works with and without its last slash; the description lists the one with it."""

from collections.abc import Callable, Iterator
from typing import Any

from django.urls import URLPattern, include, path

from judge.api.views import auth, docs, live, modes, planning, providers, results, sessions

View = Callable[..., Any]
SESSION = "sessions/<int:pk>/"


def both(route: str, view: Any, name: str) -> Iterator[URLPattern]:
    """The address, and its twin without the slash: a POST cannot be redirected without losing its body."""
    yield path(route, view.as_view(), name=name)
    yield path(route.rstrip("/"), view.as_view(schema=None))


def _session_routes() -> Iterator[URLPattern]:
    for action in sessions.ACTIONS:
        yield from both(f"{SESSION}{action}/", sessions.action_view(action), action)
    yield from both(f"{SESSION}estimate/", planning.SessionEstimateView, "session-estimate")
    yield from both(f"{SESSION}duplicate/", planning.DuplicateView, "duplicate")
    yield from both(f"{SESSION}current/", live.CurrentView, "current")
    yield from both(f"{SESSION}queue/", live.QueueView, "queue")
    yield from both(f"{SESSION}comparisons/", live.ComparisonsView, "comparisons")
    yield from both(f"{SESSION}comparisons/<int:comparison_pk>/", live.ComparisonView, "comparison")
    yield from both(f"{SESSION}workers/", live.WorkersView, "workers")
    yield from both(f"{SESSION}health/", live.HealthView, "health")
    yield from both(f"{SESSION}results/", results.ResultsView, "results")
    yield from both(f"{SESSION}thread-leaderboard/", results.LeaderboardView, "thread-leaderboard")
    yield from both(f"{SESSION}elo-distribution/", results.EloDistributionView, "elo-distribution")


judge_patterns = [
    *both("comparison-modes/", modes.ComparisonModesView, "comparison-modes"),
    *both("estimate/", planning.EstimateView, "estimate"),
    *both("providers/", providers.ProvidersView, "providers"),
    *both("providers/<int:pk>/", providers.ProviderView, "provider"),
    *both("providers/<int:pk>/test/", providers.ProviderTestView, "provider-test"),
    *both("providers/<int:pk>/models/", providers.ProviderModelsView, "provider-models"),
    *both("providers/<int:pk>/models/<int:model_pk>/", providers.ProviderModelView, "provider-model"),
    *both("sessions/", sessions.SessionsView, "sessions"),
    *both(SESSION, sessions.SessionView, "session"),
    *_session_routes(),
]

app_name = "judge-api"
urlpatterns = [
    path("docs/", docs.DocsView.as_view(url_name="schema"), name="docs"),
    *both("auth/token/", auth.TokenView, "token"),
    *both("auth/token/revoke/", auth.RevokeTokenView, "token-revoke"),
    path("judge/", include(judge_patterns)),
]

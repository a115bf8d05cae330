"""Health of one process, for load balancers and compose."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.urls import path

from llars import reach

# All checks together; a load balancer that waits longer has given up before it hears why.
SECONDS = 1.5


@login_not_required
def live(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "live"})


@login_not_required
def ready(request: HttpRequest) -> JsonResponse:
    """Whether the process can do its work, with the reason, within two seconds even where a server hangs.

    200 "ready"; 200 "degraded" without Redis: pages and API answer, sessions can be started and paused, and workers
    judge again once Redis is back; 503 "unready" without the database, or while its migrations are not applied.
    """
    checks = reach.servers(SECONDS)
    if checks["database"] != reach.OK:
        return JsonResponse({"status": "unready", "checks": checks}, status=503)
    return JsonResponse({"status": "ready" if checks["redis"] == reach.OK else "degraded", "checks": checks})


urlpatterns = [path("live", live), path("ready", ready)]

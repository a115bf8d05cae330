"""Health of one process, for load balancers and compose."""

from django.contrib.auth.decorators import login_not_required
from django.db import OperationalError, connection
from django.http import HttpRequest, JsonResponse
from django.urls import path


@login_not_required
def live(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "live"})


@login_not_required
def ready(request: HttpRequest) -> JsonResponse:
    """The process can do its work: the database answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except OperationalError:
        return JsonResponse({"status": "database unreachable"}, status=503)
    return JsonResponse({"status": "ready"})


urlpatterns = [path("live", live), path("ready", ready)]

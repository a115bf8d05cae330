"""Error answers that the project gives itself: pages for people, JSON below /api/."""

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.utils.translation import gettext as _
from django.views.defaults import page_not_found


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """An unknown address. Says nothing of what exists beside it."""
    if request.path.startswith("/api/"):
        body = {"error": _("Not found."), "error_type": "not_found", "details": {}}
        return JsonResponse(body, status=404)
    return page_not_found(request, exception)

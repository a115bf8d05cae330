"""The button "test this provider", on the pages and in the administration: begin a test, and look how it goes."""

from typing import cast
from urllib.parse import urlsplit

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import reswap, retarget

from judge import partials
from judge.models import LLMProvider, ProviderCheck
from judge.selectors.providers import testable_provider
from judge.services.provider_check import poll_check, request_check
from judge.web.requests import PageRequest, is_swap, person

MAX_NAME = 200


@require_POST
def start_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask a worker to test the provider, or the model of it that ``model_name`` names."""
    provider = testable_provider(request.user, pk)
    name = request.POST.get("model_name", "").strip().replace("\x00", "")[:MAX_NAME]
    try:
        check = request_check(pk, name, person(request).pk)
    except LLMProvider.DoesNotExist:  # deleted since
        raise Http404 from None
    # Read again: a test whose message could not be sent has failed by now.
    check = poll_check(check.pk)
    if is_swap(request):
        return HttpResponse(partials.provider_check(provider, check))
    return redirect("judge:provider", pk) if provider.owner_id else redirect("admin:judge_llmprovider_change", pk)


@require_safe
def test_part(request: HttpRequest, pk: int, check_pk: int) -> HttpResponse:
    """How a test goes: the seconds so far, which nobody is read aloud; once it has ended, the whole of it in their
    place, and on the provider's own page what it found out about each model."""
    provider = testable_provider(request.user, pk)
    if not provider.checks.filter(pk=check_pk).exists():
        raise Http404
    check = poll_check(check_pk)
    if check.state == ProviderCheck.RUNNING:
        return HttpResponse(partials.provider_check_seconds(provider, check))
    parts = partials.provider_check(provider, check)
    shown_on = urlsplit(cast(PageRequest, request).htmx.current_url or "").path
    if shown_on == reverse("judge:provider", args=[pk]):
        parts += partials.models_found(provider)
    return reswap(retarget(HttpResponse(parts), "#provider-check"), "outerHTML")

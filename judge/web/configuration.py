"""Planning a session: the form, its live estimate, and what it creates."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from judge.selectors.access import ADD, require
from judge.services.control import start
from judge.services.errors import ConfigRefused, Text
from judge.services.estimates import estimate
from judge.services.sessions import create_session
from judge.web.forms import SessionForm
from judge.web.requests import person


@require_http_methods(["GET", "HEAD", "POST"])
def config_page(request: HttpRequest) -> HttpResponse:
    """Show the form; create the session, and start it if asked to."""
    require(request.user, ADD)
    form = SessionForm(request.user, request.POST or None, initial={"language": (get_language() or "de")[:2]})
    if request.method == "POST" and form.is_valid():
        try:
            session = create_session(person(request), form.config())
        except ConfigRefused as refused:
            form.refuse(refused.errors)
        else:
            if "start" in request.POST:
                start(session.pk)
            else:
                messages.success(request, _("The session is planned. Start it when you are ready."))
            return redirect("judge:session", session.pk)
    context = {"nav": "config", "form": form, "estimate": None}
    return render(request, "judge/config.html", context, status=422 if form.errors else 200)


def _named(form: SessionForm, errors: Mapping[str, Iterable[Any]]) -> list[Text]:
    """The errors, each behind the label of the field it belongs to."""
    return [
        f"{form.fields[field].label}: {text}" if field in form.fields else text
        for field, texts in errors.items()
        for text in texts
    ]


@require_POST
def estimate_part(request: HttpRequest) -> HttpResponse:
    """What the plan would take, counted by the planner; or what is still missing for it."""
    require(request.user, ADD)
    form = SessionForm(request.user, request.POST)
    counted = None
    missing: list[Text] = []
    form.is_valid()
    if set(form.errors) <= {"session_name"}:
        try:
            counted = estimate(person(request), form.config(default_name="–"))
        except ConfigRefused as refused:
            missing = _named(form, refused.errors)
    else:
        missing = _named(form, {field: texts for field, texts in form.errors.items() if field != "session_name"})
    context = {"estimate": counted, "missing": missing}
    return render(request, "judge/partials/estimate.html", context)

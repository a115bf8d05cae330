"""Planning a session: the form, its live preview, and what it creates."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from judge.models import JudgeSession
from judge.selectors.access import ADD, require, visible_session
from judge.services.control import start
from judge.services.errors import ConfigRefused, Text
from judge.services.planning.previews import Preview, preview
from judge.services.sessions import create_session
from judge.web.copies import changed_pillars, copy_of, missing_in_copy, taken_over
from judge.web.forms import NUMBERS, SessionForm
from judge.web.plan_words import judge_groups, mode_cards, preset_cards, strategy_cards
from judge.web.requests import person

# An id that no column could hold must not get into a query, nor more digits than Python turns into a number.
MAX_ID = 2**63 - 1
MAX_DIGITS = len(str(MAX_ID))


@require_http_methods(["GET", "HEAD", "POST"])
def config_page(request: HttpRequest) -> HttpResponse:
    """Show the form; create the session, and start it if asked to. Without scripts it also counts and recommends."""
    require(request.user, ADD)
    if request.method != "POST":
        return _page(request, _first_form(request))
    if "preset" in request.POST or "count" in request.POST:
        typed = _with_preset(request)
        asked = SessionForm(request.user, typed)
        return _page(request, SessionForm.keeping(request.user, typed), asked, _preview(request, asked))
    form = SessionForm(request.user, request.POST)
    session = _created(request, form)
    if session is None:
        asked = SessionForm(request.user, request.POST)
        return _page(request, form, asked, _preview(request, asked), status=400)
    return redirect("judge:session", session.pk)


@require_POST
def estimate_part(request: HttpRequest) -> HttpResponse:
    """What the plan would take, counted by the planner, or what is still missing for it; and the size of every mode."""
    require(request.user, ADD)
    form = SessionForm(request.user, request.POST)
    found = _preview(request, form)
    context = _of_preview(form, found)
    # Of what nobody has typed yet, or any more, nothing is said at its field.
    for name in NUMBERS:
        if not form[name].data:
            form.errors.pop(name, None)
    context |= {"slots": [form[name] for name in NUMBERS], "oob": True}
    return render(request, "judge/partials/estimate_swap.html", context)


@require_POST
def preset_part(request: HttpRequest) -> HttpResponse:
    """The fields that decide the plan, set as recommended; the page then asks for its estimate."""
    require(request.user, ADD)
    form = SessionForm.keeping(request.user, _with_preset(request))
    answer = render(request, "judge/partials/plan_fields.html", _of_form(form, None))
    answer["HX-Trigger-After-Settle"] = "plan:set"
    return answer


def _created(request: HttpRequest, form: SessionForm) -> JudgeSession | None:
    """The session, started if that was asked for; None: the form says why there is none."""
    if not form.is_valid():
        return None
    try:
        session = create_session(person(request), form.config())
    except ConfigRefused as refused:
        form.refuse(refused.errors)
        return None
    if "start" in request.POST:
        start(session.pk)
    else:
        messages.success(request, _("The session is planned. Start it when you are ready."))
    return session


def _first_form(request: HttpRequest) -> SessionForm:
    """An empty form, or one that is filled in from another session. Raises Http404 for one that is not visible."""
    origin = request.GET.get("from")
    if origin is None:
        return SessionForm(request.user, initial={"language": (get_language() or "de")[:2]})
    is_number = origin.isascii() and origin.isdigit() and len(origin) <= MAX_DIGITS
    if not is_number or int(origin) > MAX_ID:
        raise Http404
    session = visible_session(request.user, int(origin))
    form = SessionForm(request.user, initial=copy_of(session))
    changed = changed_pillars(session)
    messages.info(request, taken_over(session, bool(changed)))
    for text in changed:
        messages.warning(request, text)
    for missing in missing_in_copy(session, form):
        messages.warning(request, missing)
    return form


def _with_preset(request: HttpRequest) -> QueryDict:
    """What was typed, with the changes of the recommendation that was asked for, if there is one."""
    typed = request.POST.copy()
    key = typed.get("preset")
    if key is not None:
        found = _preview(request, SessionForm(request.user, request.POST)).recommendations
        changes = next((one.changes for one in found if one.key == key), {})
        for field, value in changes.items():
            if value is False:
                typed.pop(field, None)
            else:
                typed[field] = "" if value is None else str(value)
    return typed


def _preview(request: HttpRequest, form: SessionForm) -> Preview:
    form.is_valid()
    return preview(person(request), form.config(default_name="–"), form.unusable)


def _page(
    request: HttpRequest,
    shown: SessionForm,
    asked: SessionForm | None = None,
    found: Preview | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page with the form as it is ``shown``, and what was ``found`` out about what was ``asked``."""
    context = {"nav": "config", **_of_preview(asked or shown, found), **_of_form(shown, found)}
    return render(request, "judge/config.html", context, status=status)


def _of_form(form: SessionForm, found: Preview | None) -> dict[str, Any]:
    return {
        "form": form,
        "modes": mode_cards(form["comparison_mode"], found),
        "strategies": strategy_cards(form["sampling_strategy"]),
        "judges": list(judge_groups(form["judge_model_ids"], form.models)),
    }


def _of_preview(form: SessionForm, found: Preview | None) -> dict[str, Any]:
    if found is None:
        return {"presets": preset_cards(None)}
    wrong = {field: texts for field, texts in form.errors.items() if field in form.unusable}
    size = str(found.estimate.with_position_swap) if found.estimate else None
    return {
        "form": form,
        "estimate": found.estimate,
        "missing": _named(form, {**wrong, **found.errors}),
        "modes": mode_cards(form["comparison_mode"], found),
        "presets": preset_cards(found),
        # A plan that has changed its size since is not confirmed any more.
        "is_confirmed": form.data.get("confirm_large_plan") == size,
    }


def _named(form: SessionForm, errors: Mapping[str, Iterable[Any]]) -> list[Text]:
    """The errors, each behind the label of the field it belongs to."""
    return [
        f"{form.fields[field].label}: {text}" if field in form.fields else text
        for field, texts in errors.items()
        for text in texts
    ]

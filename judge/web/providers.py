"""A person's own providers: list, one provider with its models, and their forms."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from judge import partials
from judge.models import JudgeModel
from judge.selectors import providers
from judge.selectors.access import ADD, require
from judge.services import provider_settings
from judge.services.errors import ActionRefused, ConfigRefused
from judge.services.newest_check import newest_check
from judge.web.provider_forms import ModelForm, ProviderForm
from judge.web.requests import person

NAV = {"nav": "providers"}


@require_safe
def providers_page(request: HttpRequest) -> HttpResponse:
    """The person's own providers, and what the system offers."""
    shown = list(providers.provider_list(request.user))
    context = {
        **NAV,
        "own": [provider for provider in shown if provider.owner_id is not None],
        "offered": [provider for provider in shown if provider.owner_id is None],
        "manages_system": providers.may_manage_system(request.user),
    }
    return render(request, "judge/providers.html", context)


@require_safe
def provider_page(request: HttpRequest, pk: int) -> HttpResponse:
    """One provider of the person's own: its last test, its models, its settings."""
    provider = providers.own_provider(request.user, pk)
    context = {**NAV, "provider": provider, "check": partials.provider_check(provider, newest_check(pk))}
    return render(request, "judge/provider.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_provider_page(request: HttpRequest) -> HttpResponse:
    """Set up a provider."""
    require(request.user, ADD)
    form = ProviderForm(None, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = provider_settings.create_provider(person(request), form.cleaned_data, form.typed_key or "")
        except ConfigRefused as refused:
            form.refuse(refused.errors)
        else:
            messages.success(request, _("The provider is set up. Add a model, then test it."))
            return redirect("judge:provider", made.pk)
    context = {**NAV, "form": form, "provider": None}
    return render(request, "judge/provider_form.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def change_provider_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a provider. The key goes in and does not come out."""
    provider = providers.own_provider(request.user, pk)
    form = ProviderForm(provider, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            changed = provider_settings.change_provider(pk, form.cleaned_data, form.typed_key)
        except ConfigRefused as refused:
            form.refuse(refused.errors)
        except ActionRefused as refused:
            form.add_error(None, str(refused.message))
        else:
            messages.success(request, _("The provider was changed."))
            if provider.may_receive_personal_data and not changed.may_receive_personal_data:
                text = _("The approval for personal data was for the old address. Please ask staff for a new one.")
                messages.warning(request, text)
            return redirect("judge:provider", pk)
    context = {**NAV, "form": form, "provider": provider}
    return render(request, "judge/provider_form.html", context, status=422 if form.errors else 200)


@require_POST
def delete_provider(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a provider with its models; refused while sessions are judged by them."""
    provider = providers.own_provider(request.user, pk)
    try:
        provider_settings.delete_provider(pk)
    except ActionRefused as refused:
        messages.warning(request, str(refused.message))
        return redirect("judge:provider", pk)
    messages.success(request, _("The provider “%(name)s” was deleted.") % {"name": provider.name})
    return redirect("judge:providers")


@require_http_methods(["GET", "HEAD", "POST"])
def new_model_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a model; ``?model_name=`` fills in a name that the server's list holds."""
    return _model_form(request, pk, None)


@require_http_methods(["GET", "HEAD", "POST"])
def change_model_page(request: HttpRequest, pk: int, model_pk: int) -> HttpResponse:
    """Change a model, or withdraw it from new sessions."""
    return _model_form(request, pk, providers.own_model(request.user, pk, model_pk))


def _model_form(request: HttpRequest, pk: int, model: JudgeModel | None) -> HttpResponse:
    provider = providers.own_provider(request.user, pk)
    form = ModelForm(model, request.POST or None, request.GET.get("model_name", "")[:200])
    if request.method == "POST" and form.is_valid():
        try:
            if model is None:
                provider_settings.add_model(pk, form.cleaned_data)
            else:
                provider_settings.change_model(model.pk, form.cleaned_data)
        except ConfigRefused as refused:
            form.refuse(refused.errors)
        else:
            messages.success(request, _("The model was saved."))
            return redirect("judge:provider", pk)
    context = {**NAV, "form": form, "provider": provider, "model": model}
    return render(request, "judge/model_form.html", context, status=422 if form.errors else 200)


@require_POST
def delete_model(request: HttpRequest, pk: int, model_pk: int) -> HttpResponse:
    """Delete a model that no session is judged by."""
    model = providers.own_model(request.user, pk, model_pk)
    try:
        provider_settings.delete_model(model.pk)
    except ActionRefused as refused:
        messages.warning(request, str(refused.message))
    else:
        messages.success(request, _("The model “%(name)s” was deleted.") % {"name": model.model_name})
    return redirect("judge:provider", pk)

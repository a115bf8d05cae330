"""The pages of pillars: what is in one, a thread to read, a file to bring in."""

from typing import Any

from django.contrib.auth.decorators import permission_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_http_methods

from pillars.forms import ImportForm
from pillars.models import Pillar
from pillars.selectors import pillars_with_counts, threads_of_pillar, threads_with_messages
from pillars.services.imports import ImportRefused, import_threads

THREADS_PER_PAGE = 50


@require_GET
@permission_required("pillars.view_emailthread", raise_exception=True)
def pillars_page(request: HttpRequest) -> HttpResponse:
    """All pillars and how many threads each holds."""
    return render(request, "pillars/pillars.html", {"nav": "pillars", "pillars": pillars_with_counts()})


@require_GET
@permission_required("pillars.view_emailthread", raise_exception=True)
def pillar_page(request: HttpRequest, number: int) -> HttpResponse:
    """The threads of a pillar, page by page."""
    pillar = get_object_or_404(pillars_with_counts(), number=number)
    page = Paginator(threads_of_pillar(pillar), THREADS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "pillars/pillar.html", {"nav": "pillars", "pillar": pillar, "page": page})


@require_GET
@permission_required("pillars.view_emailthread", raise_exception=True)
def thread_page(request: HttpRequest, number: int, thread_id: int) -> HttpResponse:
    """One thread of a pillar to read."""
    pillar = get_object_or_404(Pillar, number=number)
    thread = get_object_or_404(threads_with_messages().filter(memberships__pillar=pillar), pk=thread_id)
    return render(request, "pillars/thread.html", {"nav": "pillars", "pillar": pillar, "thread": thread})


@require_http_methods(["GET", "POST"])
@permission_required("pillars.add_emailthread", raise_exception=True)
def upload_page(request: HttpRequest) -> HttpResponse:
    """Bring a file into a pillar, and say what came of it or what is wrong with it, row by row."""
    form = ImportForm(initial={"pillar": request.GET.get("pillar")})
    context: dict[str, Any] = {"nav": "upload", "form": form}
    if request.method == "POST":
        context["form"] = form = ImportForm(request.POST, request.FILES)
        if form.is_valid():
            try:
                context["outcome"] = outcome = import_threads(user=request.user, **form.import_arguments())
                context["form"] = ImportForm(initial={"pillar": outcome.batch.pillar.number})
            except ImportRefused as refused:
                context["problems"] = refused.problems
    return render(request, "pillars/upload.html", context)

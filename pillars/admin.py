"""Pillars, threads and imports for staff."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import JSONField, Max, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.crypto import get_random_string
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from pillars.content import content_hash
from pillars.forms import ImportForm, LetterField, ObjectField
from pillars.models import EmailThread, ImportBatch, Message, Pillar, PillarThread
from pillars.readers.base import Problem
from pillars.selectors import is_held, pillars_with_counts
from pillars.services.imports import ImportOutcome, ImportRefused, import_threads
from pillars.services.threads import refresh_thread


@admin.register(Pillar)
class PillarAdmin(admin.ModelAdmin):
    """A pillar that holds threads cannot be deleted."""

    list_display = ("number", "name", "name_de", "color", "thread_count")
    list_display_links = ("number", "name")
    search_fields = ("name", "name_de", "description")

    def view_on_site(self, pillar: Pillar) -> str:
        return reverse("pillars:pillar", args=(pillar.number,))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pillar]:
        return pillars_with_counts()

    @admin.display(description=_("threads"), ordering="thread_count")
    def thread_count(self, pillar: Pillar) -> int:
        return int(pillar.thread_count)  # type: ignore[attr-defined]  # annotated


class LetterForm(forms.ModelForm):
    """One letter of a thread."""

    content = LetterField(label=_("content"), widget=forms.Textarea(attrs={"rows": 12, "cols": 80}))


class LettersFormSet(forms.BaseInlineFormSet):
    """The letters of one thread: appended in order, never the same as another thread's."""

    def clean(self) -> None:
        super().clean()
        if any(self.errors):
            return
        letters = [form.instance for form in self._kept()]
        twin = EmailThread.objects.filter(content_hash=content_hash(self.instance.subject, letters))
        if twin.exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(_("Another thread already holds exactly these letters."), code="same_letters")

    def save_new(self, form: forms.ModelForm, commit: bool = True) -> Message:
        # Places are not edited: two letters that change places would break the unique key half-way.
        last = self.instance.messages.aggregate(last=Max("position"))["last"]
        form.instance.position = 0 if last is None else last + 1
        form.instance.thread = self.instance
        return super().save_new(form, commit=True)

    def _kept(self) -> list[forms.ModelForm]:
        forms_in_use = [*self.initial_forms, *(form for form in self.extra_forms if form.has_changed())]
        return [form for form in forms_in_use if not self._should_delete_form(form)]  # type: ignore[attr-defined]  # not in the stubs


class MessageInline(admin.StackedInline):
    model = Message
    form = LetterForm
    formset = LettersFormSet
    fields = ("role", "sender", "sent_at", "content")
    extra = 0
    min_num = 1

    def get_formset(self, request: HttpRequest, obj: EmailThread | None = None, **kwargs: Any) -> Any:
        return super().get_formset(request, obj, **{**kwargs, "validate_min": True})

    # Verdicts were given on these very letters; another text is another thread.

    def has_add_permission(self, request: HttpRequest, obj: EmailThread | None = None) -> bool:
        return super().has_add_permission(request, obj) and not _is_locked(obj)

    def has_change_permission(self, request: HttpRequest, obj: EmailThread | None = None) -> bool:
        return super().has_change_permission(request, obj) and not _is_locked(obj)

    def has_delete_permission(self, request: HttpRequest, obj: EmailThread | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not _is_locked(obj)


class PillarFilter(admin.RelatedFieldListFilter):
    """By pillar, under the word that the pages use."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("pillars")


def _is_locked(thread: EmailThread | None) -> bool:
    return thread is not None and is_held(thread)


class PillarInline(admin.TabularInline):
    model = PillarThread
    fields = ("pillar",)
    extra = 0


@admin.register(EmailThread)
class EmailThreadAdmin(admin.ModelAdmin):
    """Threads with their letters and the pillars they belong to."""

    change_list_template = "pillars/admin/thread_change_list.html"
    list_display = ("__str__", "external_id", "subject", "pillar_numbers", "language", "message_count", "word_count")
    list_display_links = ("__str__", "external_id")
    list_filter = (("pillars", PillarFilter), "language", "source")
    list_per_page = 50
    search_fields = ("external_id", "subject", "source")
    search_help_text = _("Searches ids, subjects and sources, not the letters.")
    readonly_fields = ("message_count", "word_count", "counsellor_word_count", "client_word_count", "batch")
    inlines = (PillarInline, MessageInline)
    formfield_overrides = {JSONField: {"form_class": ObjectField}}

    def get_readonly_fields(self, request: HttpRequest, obj: EmailThread | None = None) -> tuple[str, ...]:
        return (*self.readonly_fields, "subject", "language") if _is_locked(obj) else self.readonly_fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmailThread]:
        return super().get_queryset(request).prefetch_related("pillars")

    @admin.display(description=_("import"))
    def batch(self, thread: EmailThread) -> str:
        if thread.import_batch is None:
            return "–"
        address = reverse("admin:pillars_importbatch_change", args=(thread.import_batch.pk,))
        return format_html('<a href="{}">{}</a>', address, thread.import_batch)

    @admin.display(description=_("pillars"))
    def pillar_numbers(self, thread: EmailThread) -> str:
        return ", ".join(str(number) for number in sorted(pillar.number for pillar in thread.pillars.all()))

    def save_model(self, request: HttpRequest, obj: EmailThread, form: Any, change: bool) -> None:
        if not change:
            # The letters come after the thread; until then a hash that is no thread's keeps the unique key.
            obj.content_hash = get_random_string(64)
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        refresh_thread(form.instance)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.import_view)
        return [path("import/", view, name="pillars_emailthread_import"), *super().get_urls()]

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Upload a file into a pillar; shows what came of it, or the problems with their rows."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = ImportForm(request.POST or None, request.FILES or None)
        outcome: ImportOutcome | None = None
        problems: tuple[Problem, ...] = ()
        if request.method == "POST" and form.is_valid():
            try:
                outcome = import_threads(user=request.user, **form.import_arguments())
            except ImportRefused as refused:
                problems = refused.problems
        context = {
            **self.admin_site.each_context(request),
            "title": _("Import threads"),
            "opts": self.opts,
            "form": form,
            "outcome": outcome,
            "problems": problems,
        }
        return TemplateResponse(request, "pillars/admin/import.html", context)


@admin.register(ImportBatch)
class ImportBatchAdmin(admin.ModelAdmin):
    """A record, so only to be read."""

    list_display = (
        "created_at",
        "file_name",
        "pillar",
        "status",
        "threads_added",
        "threads_assigned",
        "threads_known",
        "imported_by",
    )
    list_filter = ("status", "pillar")
    list_select_related = ("pillar", "imported_by")
    search_fields = ("file_name",)
    date_hierarchy = "created_at"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ImportBatch | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ImportBatch | None = None) -> bool:
        return False

"""Forms of the pages and of the admin."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.forms.fields import InvalidJSONInput
from django.utils.translation import gettext_lazy as _

from pillars.models import Language, Pillar
from pillars.readers.base import MAX_FILE_BYTES, WHOLE_FILE, Problem, ProblemCode
from pillars.readers.schema import unstorable


class ImportForm(forms.Form):
    """One file of threads for one pillar."""

    pillar = forms.ModelChoiceField(Pillar.objects.order_by("number"), label=_("Pillar"), to_field_name="number")
    file = forms.FileField(
        label=_("File"),
        allow_empty_file=True,  # the reader says so, as for every other problem of a file
        help_text=_("JSON in UTF-8: a list of threads, or one thread."),
        widget=forms.ClearableFileInput(attrs={"accept": ".json,application/json"}),
    )
    language = forms.ChoiceField(
        label=_("Language"),
        choices=Language.choices,
        initial=Language.GERMAN,
        help_text=_("For threads whose language is not in the file."),
    )
    only_label = forms.CharField(
        label=_("Only threads with this label"),
        required=False,
        max_length=200,
        help_text=_("For files that hold several pillars: the text of “pillar” in the file. Empty: all threads."),
    )

    def clean_file(self) -> UploadedFile:
        """Refuse by size before anything is read."""
        file: UploadedFile = self.cleaned_data["file"]
        if file.size is None or file.size > MAX_FILE_BYTES:
            raise forms.ValidationError(
                _("The file is larger than %(megabytes)d MB."),
                code="file_too_large",
                params={"megabytes": MAX_FILE_BYTES // (1024 * 1024)},
            )
        return file

    def import_arguments(self) -> dict[str, Any]:
        """What import_threads() takes, from a valid form; reads the file."""
        file = self.cleaned_data["file"]
        return {
            "data": file.read(),
            "file_name": file.name,
            "pillar": self.cleaned_data["pillar"],
            "language": self.cleaned_data["language"],
            "only_label": self.cleaned_data["only_label"] or None,
        }


class LetterField(forms.CharField):
    """A text that stays as it was written: white space kept, and the browser's line ends are no change."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "strip": False})

    def to_python(self, value: Any) -> str:
        """The text with the line ends of every system as one."""
        return str(super().to_python(value) or "").replace("\r\n", "\n").replace("\r", "\n")

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether more than line ends differ."""
        return self.to_python(initial) != self.to_python(data)


class ObjectField(forms.JSONField):
    """A JSON object that every database can hold: no NaN, no NUL, not endlessly nested. Left empty it is {}."""

    def to_python(self, value: Any) -> Any:
        """The object, by the rules that hold for imported metadata."""
        try:
            found = super().to_python(value)
        except RecursionError:
            raise _refusal(ProblemCode.TOO_DEEP) from None
        except ValueError:  # a number of thousands of digits
            raise _refusal(ProblemCode.INVALID_NUMBER) from None
        if value not in self.empty_values and not isinstance(found, dict):
            raise _refusal(ProblemCode.NOT_AN_OBJECT)
        if found and (code := unstorable(found)):
            raise _refusal(code)
        return found or {}

    def bound_data(self, data: Any, initial: Any) -> Any:
        """What was typed, also where it cannot be parsed, or cannot be written as it was read."""
        try:
            found = super().bound_data(data, initial)
        except (RecursionError, ValueError):
            return InvalidJSONInput(data)
        return InvalidJSONInput(data) if unstorable({"": found}) else found


def _refusal(code: ProblemCode) -> forms.ValidationError:
    return forms.ValidationError(Problem(WHOLE_FILE, "", code).message, code=str(code))

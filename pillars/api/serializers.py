"""Shapes of the API; the decisions are in services and selectors."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from rest_framework import serializers

from pillars.models import EmailThread, Language, Message, Pillar
from pillars.readers.base import MAX_FILE_BYTES

MAX_ASSIGNED_AT_ONCE = 10_000


class PillarSerializer(serializers.ModelSerializer[Pillar]):
    """A pillar and how many threads it holds."""

    thread_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = Pillar
        fields = ("number", "name", "name_de", "description", "color", "thread_count")


class ThreadSerializer(serializers.ModelSerializer[EmailThread]):
    """A thread in a list. Lengths are in words as white space separates them."""

    class Meta:
        model = EmailThread
        fields = (
            "id",
            "external_id",
            "subject",
            "language",
            "source",
            "message_count",
            "word_count",
            "counsellor_word_count",
            "client_word_count",
            "created_at",
        )


class MessageSerializer(serializers.ModelSerializer[Message]):
    """One letter."""

    class Meta:
        model = Message
        fields = ("position", "role", "sender", "content", "sent_at")


class ThreadDetailSerializer(ThreadSerializer):
    """A thread with its letters in order and the numbers of its pillars."""

    pillars: serializers.Field = serializers.SlugRelatedField(slug_field="number", many=True, read_only=True)
    messages = MessageSerializer(many=True, read_only=True)

    class Meta(ThreadSerializer.Meta):
        fields = (*ThreadSerializer.Meta.fields, "metadata", "pillars", "messages")  # type: ignore[assignment]


class ImportOptionsSerializer(serializers.Serializer[Any]):
    """What an import may be told beside the file."""

    language = serializers.ChoiceField(
        Language.choices, required=False, help_text="For threads that name none; German if missing."
    )
    only_label = serializers.CharField(
        required=False, max_length=200, help_text="Take only threads whose `pillar` in the file is this."
    )
    source = serializers.CharField(  # type: ignore[assignment]  # a field of that name, not the argument
        required=False, allow_blank=True, max_length=200, default=""
    )


class ImportUploadSerializer(ImportOptionsSerializer):
    """A multipart upload."""

    file = serializers.FileField(allow_empty_file=True)

    def validate_file(self, file: UploadedFile) -> UploadedFile:
        """Refuse by size before anything is read."""
        if file.size is None or file.size > MAX_FILE_BYTES:
            raise serializers.ValidationError(
                _("The file is larger than %(megabytes)d MB.") % {"megabytes": MAX_FILE_BYTES // (1024 * 1024)}
            )
        return file


class LetterInputSerializer(serializers.Serializer[Any]):
    """One letter of a file."""

    role = serializers.ChoiceField(["counsellor", "client"])
    content = serializers.CharField()
    sender = serializers.CharField(required=False)
    sent_at = serializers.DateTimeField(required=False)


class ThreadInputSerializer(serializers.Serializer[Any]):
    """One thread of a file. Describes the body for the schema; the reader of files checks it."""

    id = serializers.CharField()
    subject = serializers.CharField(required=False)
    pillar = serializers.CharField(required=False)
    language = serializers.ChoiceField(Language.choices, required=False)
    messages = LetterInputSerializer(many=True)


class ImportResultSerializer(serializers.Serializer[Any]):
    """What came of an import."""

    batch_id = serializers.IntegerField()
    added = serializers.IntegerField()
    assigned = serializers.IntegerField()
    known = serializers.IntegerField()


class ProblemSerializer(serializers.Serializer[Any]):
    """One rule that one place of the file breaks; row 0 is the file as a whole."""

    row = serializers.IntegerField()
    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()
    code = serializers.CharField()


class ImportRefusedSerializer(serializers.Serializer[Any]):
    """The import changed nothing."""

    error = serializers.CharField()
    error_type = serializers.CharField()
    details = ProblemSerializer(many=True)


class AssignSerializer(serializers.Serializer[Any]):
    """Threads to put into the pillar."""

    thread_ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        allow_empty=False,
        max_length=MAX_ASSIGNED_AT_ONCE,
    )


class AssignResultSerializer(serializers.Serializer[Any]):
    """How many of the threads were not in the pillar before."""

    assigned = serializers.IntegerField()

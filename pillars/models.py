"""The data: pillars, e-mail threads and their messages. Knows nothing of judging."""

from django.conf import settings
from django.db import models
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _


class Language(models.TextChoices):
    """Languages a thread or a prompt can be written in."""

    GERMAN = "de", _("German")
    ENGLISH = "en", _("English")


class Role(models.TextChoices):
    """Who wrote a message."""

    COUNSELLOR = "counsellor", _("Counsellor")
    CLIENT = "client", _("Client")


class PillarColor(models.TextChoices):
    """Colours mean pillars and nothing else; each is a class in the style sheet, never a free value."""

    RED = "red", _("red")
    ORANGE = "orange", _("orange")
    GREEN = "green", _("green")
    BLUE = "blue", _("blue")
    PURPLE = "purple", _("purple")
    TEAL = "teal", _("teal")
    BROWN = "brown", _("brown")
    GREY = "grey", _("grey")


class Pillar(models.Model):
    """A numbered group of threads that are compared with the threads of other groups."""

    number = models.PositiveSmallIntegerField(_("number"), unique=True)
    name = models.CharField(_("name (English)"), max_length=120)
    name_de = models.CharField(_("name (German)"), max_length=120, blank=True)
    description = models.TextField(_("description"), blank=True)
    color = models.CharField(_("colour"), max_length=10, choices=PillarColor, default=PillarColor.GREY)

    class Meta:
        ordering = ("number",)
        verbose_name = _("pillar")
        verbose_name_plural = _("pillars")
        constraints = [models.CheckConstraint(condition=models.Q(number__gte=1), name="pillar_number_from_1")]

    def __str__(self) -> str:
        return f"{self.number} {self.label}"

    @property
    def label(self) -> str:
        """The name in the reader's language."""
        return self.name_de if self.name_de and (get_language() or "").startswith("de") else self.name


class ImportBatch(models.Model):
    """One import: which file, by whom, what came of it. Threads point back to it, so that it can be undone."""

    class Status(models.TextChoices):
        IMPORTED = "imported", _("imported")
        REFUSED = "refused", _("refused")

    pillar = models.ForeignKey(Pillar, models.PROTECT, related_name="import_batches", verbose_name=_("pillar"))
    file_name = models.CharField(_("file"), max_length=255)
    format = models.CharField(_("format"), max_length=40)
    status = models.CharField(_("status"), max_length=10, choices=Status)
    imported_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("by")
    )
    created_at = models.DateTimeField(_("when"), auto_now_add=True)
    threads_added = models.PositiveIntegerField(_("threads added"), default=0)
    threads_assigned = models.PositiveIntegerField(_("threads assigned"), default=0)
    threads_known = models.PositiveIntegerField(_("threads already known"), default=0)
    # [{"row": 3, "field": "messages.0.role", "message": "..."}]: places and rules, never a text of the file.
    problems = models.JSONField(_("problems"), default=list, blank=True)

    class Meta:
        ordering = ("-created_at", "-pk")
        verbose_name = _("import")
        verbose_name_plural = _("imports")

    def __str__(self) -> str:
        return f"{self.file_name} ({self.created_at:%Y-%m-%d %H:%M})"


class EmailThread(models.Model):
    """An e-mail exchange between a person seeking help and counsellors."""

    external_id = models.CharField(_("external id"), max_length=200)
    subject = models.CharField(_("subject"), max_length=500, blank=True)
    language = models.CharField(_("language"), max_length=5, choices=Language, default=Language.GERMAN)
    source = models.CharField(_("source"), max_length=200, blank=True)
    metadata = models.JSONField(_("metadata"), default=dict, blank=True)
    # sha256 over subject, roles and contents: the same exchange is one thread however often it is imported.
    content_hash = models.CharField(_("content hash"), max_length=64, unique=True, editable=False)
    message_count = models.PositiveIntegerField(_("messages"), default=0, editable=False)
    word_count = models.PositiveIntegerField(_("words"), default=0, editable=False)
    counsellor_word_count = models.PositiveIntegerField(_("words of counsellors"), default=0, editable=False)
    client_word_count = models.PositiveIntegerField(_("words of clients"), default=0, editable=False)
    import_batch = models.ForeignKey(
        ImportBatch, models.SET_NULL, null=True, blank=True, editable=False, related_name="threads"
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    pillars = models.ManyToManyField(Pillar, through="PillarThread", related_name="threads")

    class Meta:
        ordering = ("pk",)
        verbose_name = _("thread")
        verbose_name_plural = _("threads")
        # Serves the import's question "is this id known?" and the admin's search.
        indexes = [models.Index(fields=["external_id"], name="thread_external_id")]

    def __str__(self) -> str:
        return f"T{self.pk}"


class Message(models.Model):
    """One e-mail of a thread. Order is ``position``; a missing time stays missing."""

    thread = models.ForeignKey(EmailThread, models.CASCADE, related_name="messages")
    position = models.PositiveIntegerField(_("position"))
    role = models.CharField(_("role"), max_length=10, choices=Role)
    sender = models.CharField(_("sender"), max_length=200, blank=True)
    content = models.TextField(_("content"))
    sent_at = models.DateTimeField(_("sent at"), null=True, blank=True)

    class Meta:
        ordering = ("thread", "position")
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        constraints = [
            models.UniqueConstraint(fields=["thread", "position"], name="message_position_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="message_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.thread_id}/{self.position}"


class PillarThread(models.Model):
    """A thread belongs to a pillar; it may belong to several."""

    pillar = models.ForeignKey(Pillar, models.PROTECT, related_name="memberships", verbose_name=_("pillar"))
    thread = models.ForeignKey(EmailThread, models.CASCADE, related_name="memberships", verbose_name=_("thread"))
    metadata = models.JSONField(_("metadata"), default=dict, blank=True)

    class Meta:
        verbose_name = _("pillar assignment")
        verbose_name_plural = _("pillar assignments")
        constraints = [models.UniqueConstraint(fields=["pillar", "thread"], name="thread_once_per_pillar")]

    def __str__(self) -> str:
        return f"P{self.pillar_id}/T{self.thread_id}"

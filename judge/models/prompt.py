"""What the judge is told."""

import hashlib

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from pillars.models import Language


class PromptVersion(models.Model):
    """A prompt template in one language; never edited once a session used it, so that findings stay explainable."""

    language = models.CharField(_("language"), max_length=5, choices=Language)
    version = models.PositiveIntegerField(_("version"))
    text = models.TextField(_("text"))
    sha256 = models.CharField(_("hash"), max_length=64, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("language", "-version")
        verbose_name = _("prompt version")
        verbose_name_plural = _("prompt versions")
        constraints = [models.UniqueConstraint(fields=["language", "version"], name="prompt_version_once")]

    def __str__(self) -> str:
        return f"{self.language} v{self.version}"

    def save(self, *args: object, **kwargs: object) -> None:
        """Store with its hash.

        Raises:
            ValidationError: the text of a used version would change.
        """
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        if self.pk and digest != self.sha256 and self.is_used:
            raise ValidationError({"text": _("This version was used by a session. Add a new version instead.")})
        self.sha256 = digest
        super().save(*args, **kwargs)  # type: ignore[arg-type]

    @property
    def is_used(self) -> bool:
        """Whether a session is bound to this version."""
        return self.sessions.exists()

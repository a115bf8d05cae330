"""What is scored."""

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from judge.domain import rubric as domain


class Rubric(models.Model):
    """A set of criteria. Once a session used it, it is not edited but copied."""

    name = models.CharField(_("name"), max_length=120, unique=True)
    is_default = models.BooleanField(_("default"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)
        verbose_name = _("rubric")
        verbose_name_plural = _("rubrics")
        constraints = [
            models.UniqueConstraint(fields=["is_default"], condition=Q(is_default=True), name="one_default_rubric")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_used(self) -> bool:
        """Whether a session is bound to this rubric, so that it must not change any more."""
        return self.sessions.exists()

    def as_domain(self, language: str) -> domain.Rubric:
        """The rubric as the prompt and the verdict schema need it, in one language."""
        return domain.Rubric(
            name=self.name, criteria=tuple(criterion.as_domain(language) for criterion in self.criteria.all())
        )


class Criterion(models.Model):
    """One aspect that is scored for both threads on a scale within 1 to 5."""

    rubric = models.ForeignKey(Rubric, models.CASCADE, related_name="criteria", verbose_name=_("rubric"))
    key = models.CharField(
        _("key"), max_length=40, validators=[RegexValidator(r"^[a-z][a-z0-9_]*$", _("lower-case letters, digits, _"))]
    )
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    label = models.CharField(_("label (English)"), max_length=80)
    label_de = models.CharField(_("label (German)"), max_length=80)
    description = models.TextField(_("description (English)"))
    description_de = models.TextField(_("description (German)"))
    weight = models.FloatField(_("weight"), default=1.0)
    scale_min = models.PositiveSmallIntegerField(_("scale from"), default=1)
    scale_max = models.PositiveSmallIntegerField(_("scale to"), default=5)

    class Meta:
        ordering = ("rubric", "position", "pk")
        verbose_name = _("criterion")
        verbose_name_plural = _("criteria")
        constraints = [
            models.UniqueConstraint(fields=["rubric", "key"], name="criterion_key_once"),
            models.CheckConstraint(condition=Q(weight__gt=0), name="criterion_weight_positive"),
            models.CheckConstraint(
                condition=Q(scale_min__gte=1, scale_max__lte=5, scale_min__lt=F("scale_max")), name="criterion_scale"
            ),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def text(self) -> str:
        """The label in the reader's language."""
        return self.label_de if (get_language() or "").startswith("de") else self.label

    def as_domain(self, language: str) -> domain.Criterion:
        """The criterion in the prompt's language."""
        german = language == "de"
        return domain.Criterion(
            key=self.key,
            label=self.label_de if german else self.label,
            description=self.description_de if german else self.description,
            weight=self.weight,
            scale_min=self.scale_min,
            scale_max=self.scale_max,
        )

"""How the pages of a plan write large numbers and shares."""

from decimal import Decimal

from django import template
from django.utils.formats import number_format
from django.utils.translation import gettext

from judge import wording
from judge.models.session import MODE_LABELS
from judge.services.planning.coverage import PillarShare

register = template.Library()

NOTHING = "–"
# The drawing's width in SVG units: whole numbers, so that no language's decimal comma gets into an attribute.
SCALE = 1000
# Below so many minutes they are said as such, and below so many hours with a tenth.
MINUTES_ALONE = 100
TENTHS_BELOW = 10


@register.filter
def grouped(number: float | Decimal | None) -> str:
    """A whole number with its digits grouped; a dash where there is none."""
    return NOTHING if number is None else number_format(round(number), force_grouping=True)


@register.filter
def money(cost: Decimal | None) -> str:
    """A sum with two decimals, four below one; a dash where it is unknown."""
    if cost is None:
        return NOTHING
    return number_format(cost, decimal_pos=2 if cost >= 1 or not cost else 4, force_grouping=True)


@register.filter
def minutes(count: int) -> str:
    """Whole minutes as people say them: 12 min, 2.1 h, 40 h."""
    if count < MINUTES_ALONE:
        return gettext("%(minutes)s min") % {"minutes": count}
    hours = count / 60
    return gettext("%(hours)s h") % {"hours": number_format(hours, 1) if hours < TENTHS_BELOW else grouped(hours)}


@register.filter
def mode_name(code: str) -> object:
    """The name of a mode."""
    return wording.words(MODE_LABELS, code)


@register.inclusion_tag("judge/partials/share.html")
def share_bar(share: PillarShare) -> dict[str, str]:
    """Draw how much of a pillar is compared, with a mark at the goal."""
    return {"used": str(round(SCALE * min(1.0, share.coverage))), "goal": str(round(SCALE * share.goal))}

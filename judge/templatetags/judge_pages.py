"""How the judge's pages write numbers and codes."""

from decimal import Decimal
from typing import Any

from django import template
from django.utils.formats import number_format
from django.utils.translation import gettext

from judge import wording
from judge.models.comparison import COMPARISON_LABELS
from judge.models.session import STATUS_LABELS

register = template.Library()

NOTHING = "–"
# The drawing's inner width in SVG units: whole numbers, so that no language's decimal comma gets into an attribute.
SCALE = 1000


@register.filter
def percent(rate: float | None) -> str:
    """A rate 0-1 as whole percent; a dash where there is none."""
    if rate is None:
        return NOTHING
    return gettext("%(number)s%%") % {"number": number_format(round(100 * rate))}


@register.filter
def whole(value: float | None) -> str:
    """A number without decimals; a dash where there is none."""
    return NOTHING if value is None else number_format(round(value), decimal_pos=0)


@register.filter
def tenth(value: float | None) -> str:
    """A number with one decimal; a dash where there is none."""
    return NOTHING if value is None else number_format(value, decimal_pos=1)


@register.filter
def thousandth(value: float | None) -> str:
    """A number with three decimals; a dash where there is none."""
    return NOTHING if value is None else number_format(value, decimal_pos=3)


@register.filter
def price(value: Decimal | None) -> str:
    """A price with the decimals it needs, two at least; a dash where it is unknown."""
    if value is None:
        return NOTHING
    decimals = max(2, -int(value.normalize().as_tuple().exponent))
    return number_format(value, decimal_pos=decimals)


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds as people say them: 40 s, 3 min, 2 h 5 min."""
    if seconds is None:
        return NOTHING
    if seconds < 60:
        return gettext("%(seconds)s s") % {"seconds": round(seconds)}
    minutes = round(seconds / 60)
    if minutes < 60:
        return gettext("%(minutes)s min") % {"minutes": minutes}
    return gettext("%(hours)s h %(minutes)s min") % {"hours": minutes // 60, "minutes": minutes % 60}


@register.filter
def milliseconds(value: int | None) -> str:
    """Milliseconds as seconds with one decimal; a dash where there are none."""
    if value is None:
        return NOTHING
    return gettext("%(seconds)s s") % {"seconds": number_format(value / 1000, decimal_pos=1)}


@register.filter
def session_status(code: str) -> Any:
    """The word for a session's status."""
    return wording.words(STATUS_LABELS, code)


@register.filter
def comparison_status(code: str) -> Any:
    """The word for a comparison's status."""
    return wording.words(COMPARISON_LABELS, code)


@register.filter
def reason(code: str) -> Any:
    """Why a session stands still, in words."""
    return wording.words(wording.REASON_WORDS, code)


@register.filter
def error_words(code: str) -> Any:
    """What went wrong with a comparison, in words."""
    return wording.words(wording.ERROR_WORDS, code)


@register.filter
def outcome_words(code: str) -> Any:
    """What came of one call, in words."""
    return wording.words(wording.OUTCOME_WORDS, code)


@register.filter
def flag_words(code: str) -> Any:
    """What is suspicious about a comparison, in words."""
    return wording.words(wording.FLAG_WORDS, code)


@register.inclusion_tag("judge/partials/interval.html")
def interval(
    value: float, low: float | None, high: float | None, start: float = 0.0, end: float = 1.0
) -> dict[str, Any]:
    """Draw a value with its interval on an axis from ``start`` to ``end``, with the axis' middle marked."""

    def place(number: float) -> int:
        share = (number - start) / (end - start) if end > start else 0.5
        return round(SCALE * min(1.0, max(0.0, share)))

    drawn = low is not None and high is not None
    return {
        "point": place(value),
        "low": place(low) if low is not None and drawn else None,
        "high": place(high) if high is not None and drawn else None,
    }

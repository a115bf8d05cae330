"""The results in words: one calm paragraph that says no more than the numbers carry."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from judge.selectors.results import SessionResults
from judge.templatetags.judge_pages import percent, thousandth
from judge.wording import CONSISTENCY_WORDS, words
from pillars.models import Pillar


def sentences(results: SessionResults, pillars: dict[int, Pillar], is_over: bool) -> list[str]:
    """What can be said of a session's results, sentence by sentence; ``is_over``: no more verdicts are to come."""
    judged = [row for row in results.pillars if row["n"] and row["number"] in pillars]
    if not judged:
        return [_("No pair is complete yet, so nothing can be said about the pillars.")]
    leader = judged[0]
    said = [_leader(leader, pillars[leader["number"]]), _difference(results, leader["number"], pillars)]
    if results.position_swap and results.position_swap["pairs"]:
        said += _orders(results.position_swap)
    if results.is_partial and not is_over:
        said.append(
            _("%(complete)s of %(total)s pairs are complete; these numbers may still change.")
            % {"complete": results.pairs_complete, "total": results.pairs_total}
        )
    return [sentence for sentence in said if sentence]


def _leader(row: dict[str, Any], pillar: Pillar) -> str:
    values = {
        "number": pillar.number,
        "label": pillar.label,
        "wins": row["wins"],
        "ties": row["ties"],
        "n": row["n"],
        "rate": percent(row["score_rate"]),
        "low": percent(row["low"]),
        "high": percent(row["high"]),
    }
    start = (
        ngettext(
            "Pillar %(number)s, %(label)s, comes first: of %(n)s pair it won %(wins)s and tied %(ties)s",
            "Pillar %(number)s, %(label)s, comes first: of %(n)s pairs it won %(wins)s and tied %(ties)s",
            row["n"],
        )
        % values
    )
    if row["low"] is None:
        return _("%(start)s, a score of %(rate)s. That is too little for an interval.") % {"start": start, **values}
    return _("%(start)s, a score of %(rate)s (95%% interval %(low)s to %(high)s).") % {"start": start, **values}


def _difference(results: SessionResults, leader: int, pillars: dict[int, Pillar]) -> str:
    unclear = []
    met = 0
    for cell in results.matrix:
        if leader in (cell["pillar_a"], cell["pillar_b"]) and cell["n"]:
            met += 1
            other = cell["pillar_b"] if cell["pillar_a"] == leader else cell["pillar_a"]
            if not cell["clear"] and other in pillars:
                unclear.append(pillars[other])
    if not met:
        return ""
    if not unclear:
        return ngettext(
            "The difference to the other pillar is clear.", "The difference to each of the other pillars is clear.", met
        )
    names = ", ".join(f"{pillar.number} ({pillar.label})" for pillar in unclear)
    return ngettext(
        "There is no clear difference between it and pillar %(names)s: their order may be chance.",
        "There is no clear difference between it and the pillars %(names)s: their order may be chance.",
        len(unclear),
    ) % {"names": names}


def _orders(swap: dict[str, Any]) -> list[str]:
    said = [
        _("Shown in both orders, %(rate)s of %(n)s pairs kept their verdict; this consistency is %(label)s.")
        % {
            "rate": percent(swap["consistency_rate"]),
            "n": swap["pairs"],
            "label": words(CONSISTENCY_WORDS, swap["label"]),
        }
    ]
    if swap["dominant_bias"] == "primacy":
        said.append(_("The judge prefers what it reads first (p = %(p)s).") % {"p": thousandth(swap["p_value"])})
    elif swap["dominant_bias"] == "recency":
        said.append(_("The judge prefers what it reads last (p = %(p)s).") % {"p": thousandth(swap["p_value"])})
    return said

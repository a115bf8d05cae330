"""A new session that begins as the copy of another one."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext as _

from judge.domain.states import ComparisonMode
from judge.models import JudgeSession
from judge.services.planning.configuration import threads_by_pillar
from judge.services.planning.duplication import config_of
from judge.web.forms import SessionForm


def copy_of(session: JudgeSession) -> dict[str, Any]:
    """The form's values for a session like this one."""
    values = asdict(config_of(session))
    return {"session_name": values.pop("name"), **values}


def taken_over(session: JudgeSession, changed: bool) -> str:
    """What a copy has in common with its origin, in a sentence."""
    if changed or session.comparison_mode == ComparisonMode.ADAPTIVE:
        return _("Filled in from “%(name)s”.") % {"name": session.name}
    text = _("Filled in from “%(name)s”, with its seed: the same threads meet. Empty the seed for a new draw.")
    return text % {"name": session.name}


def changed_pillars(session: JudgeSession) -> list[str]:
    """For each pillar that holds other threads than when the session was created, that it does (three queries)."""
    then: defaultdict[int, set[int]] = defaultdict(set)
    for pillar, thread in session.session_threads.values_list("pillar", "thread"):
        then[pillar].add(thread)
    pillars = list(session.pillars.order_by("number"))
    now = threads_by_pillar(pillars)
    text = _("%(pillar)s: %(then)s threads when that session was created, %(now)s now, so the plan is another one.")
    return [
        text % {"pillar": pillar.label, "then": len(then[pillar.pk]), "now": len(now[pillar.number])}
        for pillar in pillars
        if then[pillar.pk] != set(now[pillar.number])
    ]


def missing_in_copy(session: JudgeSession, form: SessionForm) -> Iterator[str]:
    """What of a session cannot be chosen again: judges that are not offered any more, pillars without threads."""
    offered = {model.pk for model in form.models}
    for judge in session.session_judges.select_related("model"):
        if judge.model_id not in offered:
            yield _("The judge %(name)s is not available any more. Choose another one.") % {
                "name": judge.model.model_name
            }
    chosen = set(session.pillars.values_list("pk", flat=True))
    for pillar in form.pillars:
        if pillar.pk in chosen and not pillar.thread_count:
            yield _("The pillar %(name)s has no threads any more.") % {"name": pillar.label}

"""A new session that begins as the copy of another one."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext as _

from judge.models import JudgeSession
from judge.services.planning.duplication import config_of
from judge.web.forms import SessionForm


def copy_of(session: JudgeSession) -> dict[str, Any]:
    """The form's values for a session like this one."""
    values = asdict(config_of(session))
    return {"session_name": values.pop("name"), **values}


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

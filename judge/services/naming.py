"""A session's name and notes, the only things about it that may be changed once it was created."""

from django.utils.translation import gettext_lazy as _

from judge.models import JudgeSession
from judge.services.errors import ConfigRefused, Text
from judge.services.planning.configuration import MAX_NAME

MAX_DESCRIPTION = 10_000


def rename(session_id: int, name: str | None, description: str | None) -> None:
    """Give a session another name or other notes; None keeps what is there.

    Raises ConfigRefused with messages by field, named as in the API (``session_name``); nothing is changed then.
    """
    changes: dict[str, str] = {}
    errors: dict[str, list[Text]] = {}
    if name is not None:
        changes["name"] = name.strip()
        if not changes["name"]:
            errors["session_name"] = [_("Give the session a name.")]
        elif len(changes["name"]) > MAX_NAME:
            errors["session_name"] = [_("The name is too long (%(limit)s characters at most).") % {"limit": MAX_NAME}]
    if description is not None:
        changes["description"] = description.strip()
        if len(changes["description"]) > MAX_DESCRIPTION:
            errors["description"] = [_("The notes are too long.")]
    if errors:
        raise ConfigRefused(errors)
    if changes:
        JudgeSession.objects.filter(pk=session_id).update(**changes)

"""Which session a person may read or run. Pages, API and sockets all ask here."""

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from judge.models import JudgeSession

VIEW = "judge.view_judgesession"
ADD = "judge.add_judgesession"
CHANGE = "judge.change_judgesession"
DELETE = "judge.delete_judgesession"

Person = User | AnonymousUser


def may(user: Person, permission: str) -> bool:
    """Whether an active person holds a model permission."""
    return user.is_active and user.has_perm(permission)


def require(user: Person, permission: str) -> None:
    """Raise PermissionDenied unless the person holds the model permission."""
    if not may(user, permission):
        raise PermissionDenied


def visible_session(user: Person, pk: int) -> JudgeSession:
    """A session the person may read, with owner, rubric and prompt version.

    Raises:
        Http404: there is no such session, or it is not shown to this person; both look alike.
        PermissionDenied: it is theirs to see, but they lack the permission to view sessions.
    """
    session = (
        JudgeSession.objects.visible_to(user).select_related("owner", "rubric", "prompt_version").filter(pk=pk).first()
    )
    if session is None:
        raise Http404
    require(user, VIEW)
    return session


def editable_session(user: Person, pk: int, permission: str = CHANGE) -> JudgeSession:
    """A session the person may start, pause, resume, abort, or (``permission`` DELETE) delete.

    Raises:
        Http404: there is no such session, or it is not shown to this person; both look alike.
        PermissionDenied: it is shown to them, but not theirs to run, or they lack the permission.
    """
    session = visible_session(user, pk)
    require(user, permission)
    if not may_edit(user, session):
        raise PermissionDenied
    return session


def may_edit(user: Person, session: JudgeSession) -> bool:
    """Whether the session is the person's to run, by ownership, share or staff."""
    return session.owner_id == user.pk or JudgeSession.objects.editable_by(user).filter(pk=session.pk).exists()

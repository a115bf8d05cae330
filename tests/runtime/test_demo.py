"""The demo's people and session, against interruptions and against somebody who deletes things."""

import pytest
from django.contrib.auth.models import User

from judge.models import JudgeSession
from llars.quickstart import demo, follow
from tests.factories import SessionFactory

pytestmark = pytest.mark.django_db


class Interrupted(BaseException):
    """Somebody pressed Ctrl-C."""


def test_passwords_that_were_drawn_are_told_and_fit(db: None) -> None:
    said: list[str] = []
    demo.ensure_people(None, said.append)
    told = {line.split()[3]: line.split()[-1] for line in said if line.strip().startswith("Log in as")}
    assert set(told) == {"admin", "researcher"}
    assert all(User.objects.get(username=name).check_password(password) for name, password in told.items())


def test_a_password_that_could_not_be_told_belongs_to_nobody(db: None) -> None:
    def interrupted(text: str) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        demo.ensure_people(None, interrupted)
    assert not User.objects.exists()


def test_people_who_exist_keep_their_passwords_and_nothing_is_told(db: None) -> None:
    demo.ensure_people("example-password-1", lambda text: None)
    said: list[str] = []
    demo.ensure_people("example-password-2", said.append)
    assert not said
    assert User.objects.get(username="admin").check_password("example-password-1")


def test_a_demo_session_that_is_deleted_meanwhile_ends_the_following_and_not_the_run(db: None) -> None:
    session: JudgeSession = SessionFactory()
    JudgeSession.objects.filter(pk=session.pk).delete()
    with pytest.raises(follow.DemoFailed, match="deleted"):
        follow.follow(session, list, lambda text: None, None)

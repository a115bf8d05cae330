"""The chaos run's own judgement: it finds a broken promise, and its schedule depends on the seed alone."""

from dataclasses import replace

import pytest
from django.db.models import F

from judge.domain.states import SessionStatus
from judge.models import JudgeAttempt, JudgeEvaluation, JudgeSession
from tests.chaos.findings import Findings
from tests.chaos.judgement import judge_verdicts
from tests.chaos.options import Options, parse
from tests.chaos.schedule import Fault, plan
from tests.conftest import MakeSession
from tests.factories import judged


@pytest.fixture
def session(make_session: MakeSession) -> JudgeSession:
    """A session that was judged without any fault."""
    made = make_session(threads=2)
    for comparison in made.comparisons.all():
        judged(comparison)
    JudgeSession.objects.filter(pk=made.pk).update(
        status=SessionStatus.COMPLETED, completed_comparisons=F("total_comparisons")
    )
    return made


def broken(session: JudgeSession, calls: int = 4) -> set[str]:
    """The promises that do not hold for the session."""
    findings = Findings()
    judge_verdicts(findings, session, calls)
    return {what for what, _, _, good in findings.lines if not good}


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_the_judgement_names_the_promise_that_was_broken(session: JudgeSession) -> None:
    assert broken(session) == set()
    assert broken(session, calls=5) == {"calls the server counted"}
    JudgeSession.objects.filter(pk=session.pk).update(completed_comparisons=3)
    assert broken(session) == {"counted as completed"}
    JudgeSession.objects.filter(pk=session.pk).update(completed_comparisons=4)
    first = JudgeEvaluation.objects.filter(comparison__session=session)[0]
    again = JudgeAttempt.objects.get(comparison=first.comparison)
    again.pk, again.number = None, 2
    again.save()
    assert broken(session) == {"calls accepted", "comparisons with two accepted calls"}
    first.delete()
    assert "comparisons lost" in broken(session)


def test_the_same_seed_gives_the_same_faults_and_all_of_them_come_before_the_end() -> None:
    options = Options(seed=7)
    schedule = plan(options)
    assert schedule == plan(options)
    assert schedule != plan(replace(options, seed=8))
    assert [sum(planned.fault == fault for planned in schedule) for fault in Fault] == [150, 50, 5, 3]
    assert max(planned.after for planned in schedule) < options.comparisons


@pytest.mark.parametrize("comparisons", [20, 40, 60, 500, 1500])
def test_a_run_has_the_comparisons_that_were_asked_for(comparisons: int) -> None:
    options = Options(comparisons=comparisons)
    assert 20 * options.samples * options.repetitions == comparisons


def test_sqlite_cannot_be_asked_to_crash(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--database", "sqlite"])
    assert "--crashes 0" in capsys.readouterr().err

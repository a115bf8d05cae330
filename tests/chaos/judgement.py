"""Holding a session that went through chaos against what was promised."""

from django.db.models import Count, Sum

from judge.models import JudgeAttempt, JudgeComparison, JudgeEvaluation, JudgeSession, ThreadEloScore
from judge.selectors.progress import status_counts
from judge.services.results import rebuild_results
from tests.chaos.derived import derived_tables, verdicts_in_plan_order, wait_for_results
from tests.chaos.findings import Findings
from tests.chaos.options import Options
from tests.chaos.replay import replayed_elo
from tests.chaos.schedule import Fault
from tests.chaos.story import Story

RESUMES_WITHIN = 60.0
PRECISION = 1e-9


def judge_faults(findings: Findings, story: Story, options: Options) -> None:
    """What was done, and how the run went through it."""
    findings.equal("workers killed", story.faults[Fault.KILL], options.kills)
    findings.equal("workers frozen beyond their leases", story.faults[Fault.FREEZE], options.freezes)
    findings.equal("database crashes", story.faults[Fault.CRASH], options.crashes)
    findings.equal("Redis emptied, once by its death", story.faults[Fault.FLUSH], options.flushes)
    findings.equal("processes that ended by themselves", story.ended_by_themselves, 0)
    findings.equal("pauses and failures nobody asked for", story.rescued_sessions, 0)
    findings.at_most("longest standstill in seconds", story.longest_standstill, RESUMES_WITHIN)
    findings.at_most("lanes at once", story.lanes_at_once, options.lanes)
    findings.at_most("highest lane", max(story.lanes_seen, default=0), options.lanes - 1)
    findings.inform("failed as poison, each after three claims", story.poisoned)
    findings.equal("failed otherwise", story.unjustly_poisoned, 0)
    findings.inform("seconds", story.seconds)


def judge_verdicts(findings: Findings, session: JudgeSession, calls: int) -> None:
    """One verdict for each comparison, counters that add up, and every call on record."""
    session.refresh_from_db()
    total = session.total_comparisons
    evaluations = JudgeEvaluation.objects.filter(comparison__session=session)
    attempts = JudgeAttempt.objects.filter(comparison__session=session)
    accepted = attempts.filter(outcome=JudgeAttempt.ACCEPTED)
    lost = JudgeComparison.objects.filter(session=session).aggregate(n=Sum("lost_leases"))["n"] or 0
    findings.equal("status", str(session.status), "completed")
    findings.equal("comparisons lost", total - evaluations.values("comparison").distinct().count(), 0)
    findings.equal("verdicts doubled", evaluations.count() - evaluations.values("comparison").distinct().count(), 0)
    findings.equal("rows completed", status_counts(session)["completed"], total)
    findings.equal("counted as completed", session.completed_comparisons, total)
    findings.equal("counted as failed", session.failed_comparisons, 0)
    findings.equal("calls accepted", accepted.count(), total)
    twice = accepted.order_by().values("comparison").annotate(n=Count("pk")).filter(n__gt=1)
    findings.equal("comparisons with two accepted calls", twice.count(), 0)
    findings.at_most("calls the server counted", calls, attempts.count())
    findings.inform("calls repeated", calls - total)
    findings.inform("calls repeated, % of comparisons", 100 * (calls - total) / total)
    findings.inform("leases that ran out", lost)
    findings.inform("answers thrown away as too late", attempts.filter(outcome="stale_attempt").count())
    findings.equal("faults of the program", attempts.filter(outcome="internal_error").count(), 0)


def judge_results(findings: Findings, session: JudgeSession, twin: JudgeSession, calls_of_twin: int) -> None:
    """Derived tables against their rebuild, other code, and the same plan judged without any fault."""
    findings.true("results have seen every verdict", wait_for_results(session) and wait_for_results(twin))
    stored, undisturbed = derived_tables(session), derived_tables(twin)
    ratings = dict(ThreadEloScore.objects.filter(session=session).values_list("thread", "elo_score"))
    rebuild_results(session.pk)
    findings.true("derived tables equal their rebuild", stored == derived_tables(session))
    replayed = replayed_elo(session)
    findings.true(
        "ELO equals a replay in plan order",
        ratings.keys() == replayed.keys() and all(abs(ratings[key] - replayed[key]) < PRECISION for key in ratings),
    )
    # On a busy machine a lease of two seconds may run out although nobody is killed.
    lost = JudgeComparison.objects.filter(session=twin).aggregate(n=Sum("lost_leases"))["n"]
    findings.at_most("calls of the same plan judged undisturbed", calls_of_twin, twin.total_comparisons + lost)
    findings.true(
        "verdicts equal the undisturbed ones", verdicts_in_plan_order(session) == verdicts_in_plan_order(twin)
    )
    findings.true("derived tables equal the undisturbed ones", stored == undisturbed)

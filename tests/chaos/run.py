"""Judging a session while its surroundings fail."""

import random
import time

from judge.domain.states import ComparisonStatus, SessionStatus
from judge.models import JudgeComparison, JudgeSession
from judge.services import control
from judge.services.recovery import POISON_AFTER
from tests.chaos.asking import ask
from tests.chaos.crew import Crew
from tests.chaos.options import Options
from tests.chaos.schedule import Fault, Planned, plan
from tests.chaos.servers import Servers
from tests.chaos.story import Story

TICK = 0.05
# Faults that became due while the workers were starting come one after the other all the same.
GAP = 0.4
LINE_SECONDS = 30.0
GIVE_UP_AFTER = 120.0
LEASE_SECONDS = 2
ENDED = (SessionStatus.COMPLETED, SessionStatus.FAILED, SessionStatus.ABORTED)


class ChaosRun:
    """One session under a schedule of faults. Everything happens in the caller's thread."""

    def __init__(self, servers: Servers, crew: Crew, session: JudgeSession, options: Options) -> None:
        self._servers = servers
        self._crew = crew
        self._session = session
        self._schedule = plan(options)
        self._flushes = options.flushes
        self._rng = random.Random(options.seed)
        self._next_fault = 0.0
        self._next_line = 0.0
        self.story = Story()

    def judge(self) -> Story:
        """Judge the session to its end. Raises TimeoutError when nothing is judged for two minutes."""
        control.start(self._session.pk)
        self._until_ended()
        if self._rescue_poisoned():
            self._until_ended()
        return self.story

    def _until_ended(self) -> None:
        while self._session.status not in ENDED:
            time.sleep(TICK)
            self._crew.thaw()
            ask(lambda: self.story.sample(self._session))
            for report in self._crew.replace_ended():
                self.story.ended_by_themselves += 1
                print(report, flush=True)
            self._resume_if_paused()
            self._hurt()
            self._tell()
            if self.story.standstill > GIVE_UP_AFTER:
                raise TimeoutError(f"nothing was judged for {GIVE_UP_AFTER:.0f} s: {self.story}")

    def _tell(self) -> None:
        """Say now and then how far it is."""
        if time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + LINE_SECONDS
            faults = ", ".join(f"{count} {fault}" for fault, count in self.story.faults.items())
            print(
                f"{self.story.judged} of {self._session.total_comparisons} judged; {faults or 'no fault'}", flush=True
            )

    def _hurt(self) -> None:
        """Let the next fault happen if it is due and finds somebody to hit."""
        if not self._schedule or self._schedule[0].after > self.story.judged or time.monotonic() < self._next_fault:
            return
        if self._inject(self._schedule[0]):
            self.story.faults[self._schedule.pop(0).fault] += 1
            self._next_fault = time.monotonic() + GAP

    def _inject(self, planned: Planned) -> bool:
        if planned.fault == Fault.CRASH:
            self._servers.crash_database(planned.number % 2 == 0, self._rng.uniform(0, 1))
        elif planned.fault == Fault.FLUSH:
            # One of them is the death of the server, whose keys and messages die with it.
            if planned.number == self._flushes // 2:
                self._servers.kill_redis(self._rng.uniform(0, 1))
            else:
                self._servers.flush_redis()
        else:
            working = ask(self._crew.working)
            if not working:
                return False
            victim = self._rng.choice(working)
            if planned.fault == Fault.KILL:
                self._crew.kill(victim)
            else:
                self._crew.freeze(victim, LEASE_SECONDS + self._rng.uniform(0.5, 2))
        return True

    def _resume_if_paused(self) -> None:
        """Nobody pressed "pause" here: a session that paused itself is a finding, and goes on to find more."""
        if self._session.status == SessionStatus.PAUSED:
            self.story.rescued_sessions += 1
            self._session = ask(lambda: control.resume(self._session.pk))

    def _rescue_poisoned(self) -> bool:
        """Retry what failed as poison.

        Three lost leases are what the rule calls poison, and it cannot know that here the killer came from outside:
        with a kill for every ten comparisons some lose three workers by chance. So these failures are right, as long as
        each was really claimed that often; a researcher would press "retry failed", and so does the run.
        """
        failed = JudgeComparison.objects.filter(session=self._session, status=ComparisonStatus.FAILED)
        self.story.poisoned = ask(failed.filter(error_code="poison").count)
        justified = failed.filter(error_code="poison", attempt_count__gte=POISON_AFTER)
        self.story.unjustly_poisoned = ask(failed.count) - ask(justified.count)
        if ask(failed.exists):
            self._session = ask(lambda: control.retry_failed(self._session.pk))
            return True
        return False

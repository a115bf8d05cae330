"""When the next call of a claimed comparison may be made: after a delay, after its provider's rest, at its pace.

A lane that waits holds its comparison, if it is not for long; whatever ends the waiting gives it back uncounted.
"""

import random
from dataclasses import dataclass

from judge.domain.errors import ErrorCode
from judge.domain.limits import LONGEST_WAIT
from judge.models import JudgeSession
from judge.services import rates
from judge.services.claiming import Claim
from judge.services.leases import Lease
from judge.services.provider_states import standing
from judge.services.rates import RateLimits

# How soon a waiting lane learns that a person paused its session (seconds).
LOOK_EVERY = 1.0
# Lanes that wait for the same moment do not return in step.
SPREAD_SECONDS = 1.0


class NotNow(Exception):
    """The call is not to be made now. ``reason``: the provider's; None when the session or this process is to stop."""

    def __init__(self, reason: ErrorCode | None = None) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(frozen=True)
class Turns:
    """The turns of one claimed comparison at its provider."""

    claimed: Claim
    lease: Lease
    limits: RateLimits

    def wait(self, tokens: int, delay: float, is_first: bool) -> None:
        """Wait until a call of about so many tokens may be made, ``delay`` seconds from now at the earliest.

        The first call needs no look at the provider's state: the claim has just seen it. Raises NotNow.
        """
        self._pause(delay)
        if not is_first:
            self._rest()
        while seconds := rates.reserve(self.limits, tokens):
            self._pause(seconds)
            if not self._rest():
                return
            # The moment that was booked passed while the provider rested: all who waited would call at once.

    def _rest(self) -> bool:
        """Wait while the provider rests; whether it did."""
        has_rested = False
        while True:
            provider = standing(self.limits.provider_id)
            if provider.breaker_reason:
                raise NotNow(ErrorCode(provider.breaker_reason))
            if not provider.blocked_seconds:
                return has_rested
            self._pause(provider.blocked_seconds + SPREAD_SECONDS * random.random())  # noqa: S311  spread, no secret
            has_rested = True

    def _pause(self, seconds: float) -> None:
        if seconds > LONGEST_WAIT:
            raise NotNow(ErrorCode.RATE_LIMITED)
        while seconds > 0:
            step = min(LOOK_EVERY, seconds)
            self.lease.wait(step)
            seconds -= step
            if self.lease.should_stop() or not self._is_live():
                raise NotNow
        if self.lease.should_stop():
            raise NotNow

    def _is_live(self) -> bool:
        return JudgeSession.objects.live().filter(pk=self.claimed.session_id).exists()

"""A provider's requests and tokens per minute, kept across all lanes, sessions and machines.

Each call books its moment in the provider's row before it is made. Providers without such limits cost no query.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from django.db.models import F

from judge.domain.limits import LONGEST_WAIT, MINUTE, book
from judge.models import LLMProvider, ProviderState
from judge.services.provider_states import locked_state
from judge.services.transactions import in_transaction

# Tokens of an answer before its length is known, and characters of a prompt per token (German has fewer than English).
EXPECTED_ANSWER_TOKENS = 1_000
CHARACTERS_PER_TOKEN = 3
# A call is not believed to have used more than this many times what was expected.
MOST_TIMES_BOOKED = 20


@dataclass(frozen=True)
class RateLimits:
    """A provider's pace; None: no limit."""

    provider_id: int
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    @classmethod
    def of(cls, provider: LLMProvider) -> "RateLimits":
        """The limits that are set for a provider."""
        return cls(provider.pk, provider.requests_per_minute, provider.tokens_per_minute)

    @property
    def is_limited(self) -> bool:
        """Whether calls must book their moment."""
        return self.requests_per_minute is not None or self.tokens_per_minute is not None


def expected_tokens(messages: list[dict[str, str]]) -> int:
    """A guess at what a call will use, prompt and answer; `settle` puts it right afterwards."""
    characters = sum(len(message["content"]) for message in messages)
    return characters // CHARACTERS_PER_TOKEN + EXPECTED_ANSWER_TOKENS


def reserve(limits: RateLimits, tokens: int) -> float:
    """Book a call of about so many tokens; returns the seconds to wait until it may be made (0 without limits).

    Above LONGEST_WAIT nothing is booked: nobody waits that long, and moments booked in vain would keep others waiting.
    """
    if not limits.is_limited:
        return 0.0
    return in_transaction(partial(_reserve, limits, tokens))


def settle(limits: RateLimits, booked: int, used: int | None) -> None:
    """Correct the booking once the provider has said how many tokens the call used; unknown stays as it was booked."""
    if limits.tokens_per_minute is None or used is None or used == booked:
        return
    # A server may report nonsense; the provider must not be left alone for hours because of it.
    difference = timedelta(seconds=(min(used, MOST_TIMES_BOOKED * booked) - booked) * MINUTE / limits.tokens_per_minute)
    ProviderState.objects.filter(pk=limits.provider_id).update(next_token_at=F("next_token_at") + difference)


def _reserve(limits: RateLimits, tokens: int) -> float:
    state, now = locked_state(limits.provider_id)
    booking = book(
        now.timestamp(),
        _timestamp(state.next_request_at),
        _timestamp(state.next_token_at),
        tokens,
        limits.requests_per_minute,
        limits.tokens_per_minute,
    )
    seconds = booking.start - now.timestamp()
    if seconds > LONGEST_WAIT:
        return seconds
    state.next_request_at = datetime.fromtimestamp(booking.next_request, UTC)
    state.next_token_at = datetime.fromtimestamp(booking.next_token, UTC)
    state.save(update_fields=["next_request_at", "next_token_at"])
    return seconds


def _timestamp(moment: datetime | None) -> float:
    return moment.timestamp() if moment is not None else 0.0

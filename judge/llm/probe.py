"""The test of a provider: a few bounded calls that tell what its server and one of its models can do.

Nothing is sent but a made-up question, and nothing is kept of the answers but codes and numbers.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any, Final

from judge.domain.errors import ErrorCode
from judge.domain.findings import OUR_FIELDS, OUTPUT_MODES, Connection, OutputMode, ProviderFindings, Reasoning, Trial
from judge.llm import probe_question, transport
from judge.llm.addresses import AddressRefused, check_address
from judge.llm.answers import Answer
from judge.llm.budget import Limits
from judge.llm.client import stream_chat
from judge.llm.endpoint import Endpoint
from judge.llm.failures import CallFailed
from judge.llm.listing import list_models

_E = ErrorCode

MOST_CALLS: Final = 6
MOST_MODELS: Final = 200
CALL_SECONDS: Final = 30.0
ALL_SECONDS: Final = 90.0
# Enough for a model that reasons a while before its dozen tokens of answer.
_MAX_TOKENS: Final = 2_000
_MOST_BYTES: Final = 500_000
_LEAST_SECONDS: Final = 1.0
# After these the next question would end alike.
_ENDING: Final = frozenset(
    {
        _E.CONNECTION_FAILED,
        _E.ADDRESS_REFUSED,
        _E.UNAUTHORIZED,
        _E.INSUFFICIENT_QUOTA,
        _E.RATE_LIMITED,
        _E.MODEL_NOT_FOUND,
        _E.TIMEOUT_FIRST_TOKEN,
        _E.TIMEOUT_SILENCE,
        _E.TIMEOUT_TOTAL,
        _E.CANCELLED,
    }
)
_CONNECTIONS: Final[dict[str, Connection]] = {
    transport.UNKNOWN_NAME: "unknown_name",
    transport.TLS_CERTIFICATE: "tls_certificate",
    transport.TLS_FAILED: "tls_failed",
    transport.CONNECTING_TIMED_OUT: "timeout",
    transport.TLS_TIMED_OUT: "timeout",
}


def probe(
    endpoint: Endpoint, stop: Callable[[], bool] = lambda: False, seconds: float = ALL_SECONDS
) -> "ProviderFindings":
    """Test a server and the endpoint's model; an empty model name means: the one that is listed, if it is only one.

    At most six calls of at most 30 s, `seconds` in all. `stop` ends it early (problem: cancelled).
    """
    return Probe(endpoint, stop, seconds).run()


class Probe:
    """One test: what was found so far, and what time is left."""

    def __init__(self, endpoint: Endpoint, stop: Callable[[], bool], seconds: float) -> None:
        # The flag is on for the test, so that an answer without a finish reason is an answer that can be described.
        self._endpoint = replace(endpoint, may_omit_finish_reason=True, refused_parameters=frozenset())
        self._stop = stop
        self._started = time.monotonic()
        self._seconds = seconds
        self._latencies: list[int] = []
        self._found = ProviderFindings()

    def run(self) -> ProviderFindings:
        """Look at the address, the list of models and the answers, in this order, as far as it goes."""
        if self._address_is_allowed() and self._list() and self._choose_model():
            self._find_mode()
        middle = round(median(self._latencies)) if self._latencies else None
        self._note(median_latency_ms=middle, duration_ms=round(1000 * (time.monotonic() - self._started)))
        return self._found

    def _note(self, **values: Any) -> None:
        self._found = replace(self._found, **values)

    def _limits(self) -> Limits:
        total = min(CALL_SECONDS, self._seconds_left())
        # A little less for the first token, so that a server that is silent is told from one that is slow.
        silence = 0.95 * total
        return Limits(min(10.0, total), first_token=silence, silence=silence, total=total, max_bytes=_MOST_BYTES)

    def _seconds_left(self) -> float:
        return self._started + self._seconds - time.monotonic()

    def _address_is_allowed(self) -> bool:
        try:
            check_address(self._endpoint.base_url, self._endpoint.local_hosts)
        except AddressRefused as refused:
            self._note(address=refused.code, problem=_E.ADDRESS_REFUSED.value)
            return False
        return True

    def _list(self) -> bool:
        """Ask for the models; returns whether it is worth going on. Many a server has no list and answers all the
        same."""
        try:
            names = list_models(self._endpoint, self._limits(), self._stop)
        except CallFailed as failure:
            if failure.code in _ENDING - {_E.MODEL_NOT_FOUND}:
                self._end(failure)
                return False
            self._note(connection="ok")
            return True
        self._note(connection="ok", models_listed=True, models=tuple(names[:MOST_MODELS]), models_total=len(names))
        wanted = self._endpoint.model_name
        if wanted:
            self._note(model_found="listed" if wanted in names else "not_listed")
        return True

    def _choose_model(self) -> bool:
        if not self._endpoint.model_name and self._found.models_total == 1:
            self._endpoint = replace(self._endpoint, model_name=self._found.models[0])
            self._note(model_found="listed")
        self._note(model_name=self._endpoint.model_name)
        return bool(self._endpoint.model_name)

    def _find_mode(self) -> None:
        """Ask in each mode from the best to the worst, until one brings an answer of the wanted shape."""
        last = _E.TIMEOUT_TOTAL
        for mode in OUTPUT_MODES:
            if not self._may_ask():
                break
            try:
                answer = self._answer(mode)
            except CallFailed as failure:
                last = failure.code
                self._try_noted(mode, last, failure.latency_ms)
                if last in _ENDING:
                    self._end(failure)
                    return
                continue
            outcome = probe_question.outcome(answer.text)
            self._try_noted(mode, outcome, answer.latency_ms)
            if outcome == probe_question.OBEYED:
                self._note(output_mode=mode)
                return
        if not self._latencies:
            self._note(problem=last.value)

    def _may_ask(self) -> bool:
        return self._found.calls < MOST_CALLS and self._seconds_left() > _LEAST_SECONDS

    def _answer(self, mode: OutputMode) -> Answer:
        """One answer in this mode; a field of the request that the server refuses is left out from then on."""
        while True:
            try:
                return self._ask(mode)
            except CallFailed as failure:
                if not self._left_out(failure) or not self._may_ask():
                    raise

    def _ask(self, mode: OutputMode) -> Answer:
        self._note(calls=self._found.calls + 1)
        pieces = 0

        def count(piece: str) -> None:
            nonlocal pieces
            pieces += 1

        endpoint = replace(self._endpoint, structured_output=mode)
        messages = probe_question.question(mode)
        answer = stream_chat(endpoint, messages, probe_question.SCHEMA, self._limits(), _MAX_TOKENS, count, self._stop)
        if not self._latencies:
            self._describe(answer, pieces)
        self._latencies.append(answer.latency_ms)
        return answer

    def _left_out(self, failure: CallFailed) -> bool:
        name = failure.parameter
        if failure.code is not _E.BAD_REQUEST or name in self._found.refused_parameters:
            return False
        if name not in OUR_FIELDS | self._endpoint.parameters.keys():
            return False
        self._note(refused_parameters=tuple(sorted({*self._found.refused_parameters, name})))
        kept = {key: value for key, value in self._endpoint.parameters.items() if key != name}
        refused = frozenset(self._found.refused_parameters)
        self._endpoint = replace(self._endpoint, parameters=kept, refused_parameters=refused)
        return True

    def _describe(self, answer: Answer, pieces: int) -> None:
        reasoning: Reasoning = "none"
        if answer.reasoning_text:
            reasoning = "separate"
        elif probe_question.begins_with_reasoning(answer.text):
            reasoning = "block"
        has_usage = answer.prompt_tokens is not None and answer.completion_tokens is not None
        self._note(
            key="accepted" if self._endpoint.api_key else "not_set",
            streaming="streams" if pieces > 1 else "whole",
            events=pieces,
            first_token_ms=answer.first_token_ms,
            total_ms=answer.latency_ms,
            usage="reported" if has_usage else "missing",
            finish_reason="reported" if answer.finish_reason else "missing",
            suggests_may_omit_finish_reason=not answer.finish_reason,
            reasoning=reasoning,
        )

    def _try_noted(self, mode: OutputMode, outcome: str, latency_ms: int | None) -> None:
        self._note(trials=(*self._found.trials, Trial(mode, str(outcome), latency_ms)))

    def _end(self, failure: CallFailed) -> None:
        """The test stops here, and the findings say why."""
        self._note(problem=failure.code.value)
        if failure.code is _E.CONNECTION_FAILED:
            self._note(connection=_CONNECTIONS.get(failure.message, "refused"))
        elif failure.code is _E.ADDRESS_REFUSED:
            self._note(address="local")
        elif failure.code is _E.UNAUTHORIZED:
            self._note(connection="ok", key="refused")
        elif failure.code is _E.INSUFFICIENT_QUOTA:
            self._note(connection="ok", key="no_quota")
        elif self._found.connection == "not_tried" and failure.code is not _E.CANCELLED:
            self._note(connection="timeout" if failure.code is not _E.RATE_LIMITED else "ok")

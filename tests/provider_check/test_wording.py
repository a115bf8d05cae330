"""Every finding is said in words, and a person learns what to do."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.utils.translation import override

from judge.check_wording import failed_sentence, sentences
from judge.domain.errors import ErrorCode
from judge.domain.findings import ProviderFindings

GOOD = ProviderFindings(
    connection="ok", key="accepted", models_listed=True, models=("m",), models_total=1, model_name="m",
    model_found="listed", streaming="streams", events=4, first_token_ms=90, total_ms=1240, usage="reported",
    finish_reason="reported", output_mode="json_schema", reasoning="none", median_latency_ms=1240, calls=1,
)  # fmt: skip


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    with override("en"):
        yield


def said(findings: ProviderFindings) -> dict[str, tuple[str, str]]:
    return {finding.code: (finding.level, str(finding.text)) for finding in sentences(findings)}


def test_of_a_good_provider_only_good_is_said() -> None:
    assert [(finding.code, finding.level) for finding in sentences(GOOD)] == [
        (code, "good") for code in ("connection", "key", "models", "output_mode", "streaming", "latency")
    ]
    assert said(GOOD)["models"][1] == "The server offers one model."
    assert said(replace(GOOD, models_total=1234))["models"][1] == "The server offers 1234 models."
    assert said(GOOD)["latency"][1] == "A short answer takes 1.2 seconds."


def test_numbers_are_written_as_in_the_language_of_the_page() -> None:
    with override("de"):
        assert "1,2" in said(GOOD)["latency"][1]


@pytest.mark.parametrize(
    ("findings", "code", "level", "words"),
    [
        (ProviderFindings(address="local", problem="address_refused"), "address", "problem", "must not be called"),
        (
            ProviderFindings(connection="refused", problem="connection_failed"),
            "connection",
            "problem",
            "Nobody",
        ),
        (ProviderFindings(connection="unknown_name", problem="connection_failed"), "connection", "problem", "spelling"),
        (ProviderFindings(connection="tls_certificate"), "connection", "problem", "SSL_CERT_FILE"),
        (ProviderFindings(connection="tls_failed"), "connection", "problem", "http://"),
        (ProviderFindings(connection="timeout"), "connection", "problem", "in time"),
        (ProviderFindings(connection="ok", key="refused", problem="unauthorized"), "key", "problem", "refused the key"),
        (ProviderFindings(connection="ok", key="no_quota", problem="insufficient_quota"), "key", "problem", "quota"),
        (ProviderFindings(connection="ok", problem="model_not_found", model_name="m"), "problem", "problem", "/v1"),
        (ProviderFindings(connection="ok"), "model", "note", "name one"),
        (replace(GOOD, key="not_set"), "key", "good", "without a key"),
        (replace(GOOD, models_listed=False), "models", "note", "no list"),
        (replace(GOOD, model_found="not_listed"), "model", "note", "The model m is not"),
        (replace(GOOD, output_mode=""), "output_mode", "problem", "hardly suited"),
        (replace(GOOD, output_mode="text"), "output_mode", "note", "no form"),
        (replace(GOOD, streaming="whole"), "streaming", "note", "one piece"),
        (replace(GOOD, usage="missing"), "usage", "note", "costs stay unknown"),
        (replace(GOOD, suggests_may_omit_finish_reason=True), "finish_reason", "problem", "may omit"),
        (replace(GOOD, reasoning="separate"), "reasoning", "note", "apart"),
        (replace(GOOD, reasoning="block"), "reasoning", "note", "Only what follows"),
        (replace(GOOD, refused_parameters=("max_tokens",)), "refused_parameter", "note", "takes account"),
        (replace(GOOD, refused_parameters=("top_k",)), "refused_parameter", "problem", "remove it"),
    ],
)
def test_each_finding_is_put_into_words(findings: ProviderFindings, code: str, level: str, words: str) -> None:
    assert said(findings)[code][0] == level
    assert words in said(findings)[code][1]


@pytest.mark.parametrize("code", sorted(ErrorCode))
def test_no_problem_is_shown_as_a_code(code: ErrorCode) -> None:
    text = said(ProviderFindings(connection="ok", model_name="m", problem=code.value))["problem"][1]
    assert text.endswith(".")
    assert " " in text


@pytest.mark.parametrize("reason", ["not_sent", "no_worker", "interrupted", "key_unreadable", "internal_error"])
def test_each_reason_for_no_findings_has_words_of_its_own(reason: str) -> None:
    assert str(failed_sentence(reason)) != str(failed_sentence("something else")) or reason == "internal_error"

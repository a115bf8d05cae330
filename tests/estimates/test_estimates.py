"""The estimate of a configuration is that of the session that comes of it, in every number."""

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from judge.domain.prompt import render_prompt
from judge.domain.schema_text import with_schema
from judge.domain.verdict import json_schema
from judge.models import JudgeEvaluation, JudgeModel, PromptVersion, Rubric
from judge.services.planning.estimates import Estimate, estimate
from judge.services.planning.size import estimate_of
from judge.services.rates import EXPECTED_ANSWER_TOKENS, expected_tokens
from judge.services.sessions import create_session
from judge.services.texts import rendered_threads
from tests.estimates.conftest import MakeConfig, fill
from tests.factories import JudgeModelFactory, LLMProviderFactory, SessionFactory, judged

pytestmark = pytest.mark.django_db


def numbers_of(found: Estimate) -> tuple[int, int]:
    return found.base_comparisons, found.with_position_swap


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({"samples_per_pillar": 10}, (30, 60)),
        ({"samples_per_pillar": 10, "repetitions_per_pair": 3}, (90, 180)),
        ({"samples_per_pillar": 4, "sampling_strategy": "fixed"}, (12, 24)),
        ({"samples_per_pillar": 4, "sampling_strategy": "bootstrap"}, (12, 24)),
        ({"samples_per_pillar": 4, "sampling_strategy": "proportional"}, None),
        ({"comparison_mode": "round_robin"}, (300, 600)),
        ({"comparison_mode": "free_for_all"}, (435, 870)),
        ({"comparison_mode": "free_for_all", "max_threads_per_pillar": 4}, (66, 132)),
        ({"comparison_mode": "adaptive", "comparison_budget": 101}, (50, 100)),
    ],
)
def test_the_numbers_are_those_of_the_plan(
    choices: dict[str, Any], expected: tuple[int, int] | None, owner: User, ten_each: None, config: MakeConfig
) -> None:
    found = estimate(owner, config(**choices))
    assert expected is None or numbers_of(found) == expected
    session = create_session(owner, config(**choices))
    assert session.total_comparisons == found.with_position_swap
    if session.comparison_mode != "adaptive":
        assert session.comparisons.count() == found.with_position_swap
        for share in found.pillars:
            pairs = session.pairs
            used = set(pairs.filter(pillar_a__number=share.number).values_list("thread_a", flat=True))
            used |= set(pairs.filter(pillar_b__number=share.number).values_list("thread_b", flat=True))
            assert (share.threads, share.used, share.coverage) == (10, len(used), len(used) / 10)
    assert estimate_of(session) == found


def test_threads_that_come_later_change_no_sessions_estimate(owner: User, ten_each: None, config: MakeConfig) -> None:
    found = estimate(owner, config(comparison_mode="round_robin"))
    session = create_session(owner, config(comparison_mode="round_robin"))
    fill(1, 5)
    assert estimate_of(session) == found


def test_without_a_seed_the_estimate_is_the_same_each_time(owner: User, config: MakeConfig) -> None:
    for number in (1, 3, 5):
        for words in range(12):
            fill(number, 1, [("client", "word " * words * 30)])
    assert len({repr(estimate(owner, config(seed=None, samples_per_pillar=2))) for _ in range(4)}) == 1


@pytest.mark.parametrize("mode", ["json_schema", "text"])
@pytest.mark.parametrize("language", ["de", "en"])
def test_prompt_tokens_are_measured_as_a_call_books_them(
    mode: str, language: str, owner: User, model: JudgeModel, config: MakeConfig
) -> None:
    """Two threads, so there is one pair: its two prompts as they would be sent, without the room for the answer."""
    model.structured_output = mode
    model.save()
    letters = [("client", "Größere Frage " * 40), ("counsellor", "Antwort " * 70), ("client", "Danke")]
    first, second = fill(1, 1, letters)[0], fill(3, 1)[0]
    found = estimate(owner, config(pillar_ids=(1, 3), comparison_mode="round_robin", language=language))
    prompt = _prompt((first, second), language, mode)
    one = expected_tokens(prompt) - EXPECTED_ANSWER_TOKENS
    assert found.with_position_swap == 2
    # Both orders are as long as each other; each call rounds down by itself. The last space of a letter is cut.
    assert 2 * one <= found.prompt_tokens <= 2 * one + 4


def _prompt(threads: tuple[int, int], language: Any, mode: str) -> list[dict[str, str]]:
    rubric = Rubric.objects.get(is_default=True).as_domain(language)
    template = PromptVersion.objects.filter(language=language).latest("version").text
    texts = [thread.text for thread in rendered_threads(threads, language)]
    prompt = render_prompt(template, rubric, *texts, language, "0123456789abcdef")
    return (prompt if mode == "json_schema" else with_schema(prompt, json_schema(rubric), language)).messages()


def test_tokens_are_summed_over_the_pairs_that_are_planned(owner: User, config: MakeConfig) -> None:
    """Every thread of one pillar is 3,000 characters longer than before: so are all prompts it stands in."""
    fill(1, 3, [("client", "x" * 3_000)])
    fill(3, 2, [("client", "x")])
    short = estimate(owner, config(pillar_ids=(1, 3), comparison_mode="round_robin"))
    fill(5, 3, [("client", "x" * 6_000)])
    long = estimate(owner, config(pillar_ids=(5, 3), comparison_mode="round_robin"))
    assert short.with_position_swap == long.with_position_swap == 12
    assert long.prompt_tokens - short.prompt_tokens == 12 * 1_000
    swapless = estimate(owner, config(pillar_ids=(5, 3), comparison_mode="round_robin", position_swap=False))
    assert swapless.prompt_tokens == long.prompt_tokens // 2


def test_what_is_unknown_is_none_and_never_nought(
    owner: User, model: JudgeModel, ten_each: None, config: MakeConfig
) -> None:
    found = estimate(owner, config())
    assert (found.completion_tokens, found.cost, found.seconds_per_comparison) == (None, None, 10.0)
    _answered(owner, model, tokens=[500, 700, 800], milliseconds=2_000)
    found = estimate(owner, config())
    assert (found.completion_tokens, found.cost) == (60 * 700, None)
    assert found.seconds_per_comparison == 2.0
    assert found.with_workers == {"1": 2, "2": 1, "3": 1, "4": 1, "5": 1}
    model.input_price, model.output_price = Decimal("0.5"), Decimal("2")
    model.save()
    expected = (found.prompt_tokens * Decimal("0.5") + 60 * 700 * 2) / 1_000_000
    assert estimate(owner, config()).cost == expected


def test_several_judges_add_up_and_one_unknown_makes_the_sum_unknown(
    owner: User, model: JudgeModel, ten_each: None, config: MakeConfig
) -> None:
    second = JudgeModelFactory(input_price=1, output_price=1)
    model.input_price = model.output_price = Decimal(0)
    model.save()
    alone = estimate(owner, config())
    _answered(owner, model, tokens=[600], milliseconds=4_000)
    both = config(judge_model_ids=(model.pk, second.pk))
    found = estimate(owner, both)
    assert (found.with_position_swap, found.prompt_tokens) == (120, 2 * alone.prompt_tokens)
    assert found.seconds_per_comparison == (4 + 10) / 2
    assert (found.completion_tokens, found.cost) == (None, None)
    _answered(owner, second, tokens=[900], milliseconds=4_000)
    found = estimate(owner, both)
    assert found.completion_tokens == 60 * 600 + 60 * 900
    # The first judge is free because its prices say so.
    assert found.cost == Decimal(alone.prompt_tokens + 60 * 900) / 1_000_000


def _answered(owner: User, model: JudgeModel, tokens: list[int], milliseconds: int) -> None:
    session = SessionFactory(owner=owner, model=model, pillar_ids=(2, 4))
    for comparison, count in zip(session.comparisons.all(), tokens, strict=False):
        evaluation = judged(comparison).evaluation
        JudgeEvaluation.objects.filter(pk=evaluation.pk).update(completion_tokens=count, latency_ms=milliseconds)


def test_an_estimate_takes_as_many_queries_for_many_threads_as_for_few(
    owner: User, ten_each: None, config: MakeConfig
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            estimate(owner, config())
        statements = [query["sql"].replace('LENGTH("pillars_message"."content")', "") for query in captured]
        assert not [sql for sql in statements if '"content"' in sql]
        return len(captured)

    few = queries()
    for number in (1, 3, 5):
        fill(number, 20)
    assert queries() == few <= 10


def test_a_judge_whose_provider_must_not_receive_threads_is_counted_all_the_same(
    owner: User, ten_each: None, config: MakeConfig
) -> None:
    provider = LLMProviderFactory(base_url="https://example.org/v1", is_simulated=False)
    found = estimate(owner, config(judge_model_ids=(JudgeModelFactory(provider=provider).pk,)))
    assert found.with_position_swap == 60
    assert found.warnings[0].code == "provider_not_allowed"
    assert [warning.code for warning in found.obstacles] == ["provider_not_allowed"]

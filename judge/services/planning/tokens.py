"""Tokens and cost of a plan, summed over exactly the pairs that it has."""

from dataclasses import dataclass
from decimal import Decimal

from judge.selectors.history import ModelHistory
from judge.services.planning.basis import PlanBasis
from judge.services.planning.prompt_lengths import PromptLengths, tokens

MILLION = 1_000_000


@dataclass(frozen=True)
class PlanTokens:
    """Tokens of all judges together, and their cost in the unit of the models' prices. None: unknown."""

    prompt: int
    completion: int | None
    cost: Decimal | None


def plan_tokens(basis: PlanBasis, lengths: PromptLengths, histories: list[ModelHistory]) -> PlanTokens:
    """Count the tokens of a plan. ``histories`` stand in the order of the judges."""
    prompts = [tokens(characters) for characters in _characters(basis, lengths)]
    answers = [_answers(basis, history) for history in histories]
    known = [count for count in answers if count is not None]
    costs = [
        _cost(judge.model.input_price, judge.model.output_price, prompt, answer)
        for judge, prompt, answer in zip(basis.judges, prompts, answers, strict=True)
    ]
    priced = [cost for cost in costs if cost is not None]
    return PlanTokens(
        prompt=sum(prompts),
        completion=sum(known) if len(known) == len(answers) else None,
        cost=sum(priced, Decimal()) if len(priced) == len(costs) else None,
    )


def _characters(basis: PlanBasis, lengths: PromptLengths) -> list[float]:
    """Characters that each judge is sent: both threads of every pair, as often as the pair is presented."""
    orders = 2 if basis.plan.position_swap else 1
    texts = sum(uses * lengths.threads[thread] for thread, uses in basis.outline.uses.items())
    return [orders * (basis.outline.pairs * fixed + texts) for fixed in lengths.fixed]


def _answers(basis: PlanBasis, history: ModelHistory) -> int | None:
    if history.completion_tokens is None:
        return None
    return round(history.completion_tokens * basis.outline.comparisons / len(basis.judges))


def _cost(input_price: Decimal | None, output_price: Decimal | None, prompt: int, answer: int | None) -> Decimal | None:
    if input_price is None or output_price is None or answer is None:
        return None
    return (prompt * input_price + answer * output_price) / MILLION

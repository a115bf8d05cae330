"""The end of a judged claim, without the model's server: a valid answer, parsed as any other."""

import json
from dataclasses import dataclass

from judge.domain.verdict import STEPS, parse_verdict
from judge.llm.answers import Answer
from judge.models import JudgeAttempt
from judge.services.attempts import open_attempt
from judge.services.cases import load_case
from judge.services.claiming import TakenClaim
from judge.services.verdicts import complete


@dataclass(frozen=True)
class Holder:
    """A lane that holds a claim, or believes so, with the call that it wrote down."""

    claimed: TakenClaim
    attempt: JudgeAttempt

    @classmethod
    def of(cls, claimed: TakenClaim) -> "Holder":
        """The holder of a fresh claim, about to make its first call."""
        return cls(claimed, open_attempt(claimed, 1, "0" * 64))

    def complete(self, winner: str, score: float = 3.5) -> bool:
        """Store the verdict that the model gave; returns whether the claim still held."""
        case = load_case(self.claimed)
        scores = {key: {"reasoning": "because", "score_a": score, "score_b": 3} for key in case.brief.rubric.keys}
        document = {
            "chain_of_thought": dict.fromkeys(STEPS, "a thought"),
            "criteria_scores": scores,
            "winner": winner,
            "confidence": 0.5,
            "final_justification": "because",
        }
        text = json.dumps(document)
        answer = Answer(text, "", "stop", case.brief.endpoint.model_name, 10, 20, 30, 5, 200)
        return complete(self.claimed, case, parse_verdict(text, case.brief.rubric), answer, self.attempt)

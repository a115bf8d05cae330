"""Models that reason before they answer: the verdict comes from the answer alone, and watchers see the answer alone."""

from dataclasses import replace

import pytest

from judge.domain.errors import ErrorCode
from judge.domain.states import Winner
from judge.domain.verdict import InvalidAnswer, parse_verdict
from judge.llm.endpoint import Endpoint
from judge.simulated.server import SimulatedServer
from tests.llm.asking import PATIENT, RUBRIC, ask, code

# What a careful reader must not take for the verdict: it stands in the reasoning, and names the other winner.
DRAFT = 'The form is {"winner": "A" | "B"}, so perhaps {"winner": "B", "confidence": 1}? No: {A} is better.'


def think(opening: str = "<think>", closing: str = "</think>", value: str = DRAFT) -> dict[str, str]:
    return {"kind": "think_block", "opening": opening, "closing": closing, "value": value}


FORMS = [
    think(),
    think("<THINK>", "</Think>"),
    think("\n <thinking>\n", "</thinking>"),
    think("<thought>", "</thought>"),
    think("<reasoning>", "</reasoning>"),
    think("<seed:think>", "</seed:think>"),
    think("[THINK]", "[/THINK]"),
    think("<think></think><think>", "</think>"),
    think(""),  # the opening tag stood in the prompt
    think("", value=""),
    think(value='It says "{" and then "</', closing="</think>"),
]


@pytest.mark.parametrize("form", FORMS)
def test_a_block_before_the_answer_is_passed_over(server: SimulatedServer, endpoint: Endpoint, form: dict) -> None:
    plain = parse_verdict(ask(endpoint).text, RUBRIC)
    server.script(form)
    answer = ask(endpoint)
    assert parse_verdict(answer.text, RUBRIC) == plain
    assert answer.text.startswith(form["opening"] + form["value"] + form["closing"]), "raw text is kept exactly"


@pytest.mark.parametrize("form", [form for form in FORMS if form["opening"]])
def test_watchers_see_the_answer_without_its_block(server: SimulatedServer, endpoint: Endpoint, form: dict) -> None:
    plain = ask(endpoint).text
    server.script(form)
    pieces: list[str] = []
    ask(endpoint, on_text=pieces.append)
    assert "".join(pieces) == plain
    assert len(pieces) > 20


def test_reasoning_that_never_ends_is_no_verdict(server: SimulatedServer, endpoint: Endpoint) -> None:
    server.script(think(closing=""))
    pieces: list[str] = []
    answer = ask(endpoint, on_text=pieces.append)
    assert '"winner": "A"' in answer.text
    assert pieces == []
    with pytest.raises(InvalidAnswer) as caught:
        parse_verdict(answer.text, RUBRIC)
    assert caught.value.problems == ("answer: unfinished reasoning",)


def test_a_draft_in_front_of_a_lone_closing_tag_is_not_chosen_between(
    server: SimulatedServer, endpoint: Endpoint
) -> None:
    """It may be reasoning, or a verdict followed by a quoted tag with somebody else's verdict: asked again."""
    server.script(think("", value='{"winner": "B"} or so'))
    with pytest.raises(InvalidAnswer) as caught:
        parse_verdict(ask(endpoint).text, RUBRIC)
    assert caught.value.problems == ("answer: more than one JSON object",)


FIELDS = pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "parts"])


@FIELDS
@pytest.mark.parametrize("streamed", [True, False])
def test_reasoning_in_a_field_of_its_own_stays_apart(
    server: SimulatedServer, endpoint: Endpoint, field: str, streamed: bool
) -> None:
    plain = ask(endpoint).text
    fault = {"kind": "reasoning_field", "field": field, "value": DRAFT}
    server.script(fault if streamed else {**fault, "streamed": False})
    pieces: list[str] = []
    answer = ask(endpoint, on_text=pieces.append)
    assert (answer.reasoning_text, answer.text) == (DRAFT, plain)
    assert "".join(pieces) == plain
    assert parse_verdict(answer.text, RUBRIC).winner is Winner.A


@FIELDS
def test_reasoning_is_a_sign_of_life(server: SimulatedServer, endpoint: Endpoint, field: str) -> None:
    server.script({"kind": "reasoning_field", "field": field, "value": DRAFT * 2, "ms": 2_400})
    answer = ask(endpoint, limits=replace(PATIENT, first_token=1.6, silence=1.6))
    assert answer.latency_ms >= 2_400
    assert answer.first_token_ms is not None
    assert answer.first_token_ms < 1_600


@FIELDS
def test_a_verdict_in_the_reasoning_alone_is_an_empty_answer(
    server: SimulatedServer, endpoint: Endpoint, field: str
) -> None:
    verdict = ask(endpoint).text
    server.script({"kind": "reasoning_field", "field": field, "value": verdict, "text": ""})
    assert code(endpoint) is ErrorCode.EMPTY


def test_a_closing_tag_left_over_from_a_reasoning_field_is_dropped(server: SimulatedServer, endpoint: Endpoint) -> None:
    plain = parse_verdict(ask(endpoint).text, RUBRIC)
    server.script(think("", value="\n"))
    assert parse_verdict(ask(endpoint).text, RUBRIC) == plain


def test_a_quoted_tag_inside_the_verdict_changes_nothing(server: SimulatedServer, endpoint: Endpoint) -> None:
    server.script({"kind": "justified", "value": 'The text holds "</think>{}" and <think>.'})
    assert parse_verdict(ask(endpoint).text, RUBRIC).reasoning == 'The text holds "</think>{}" and <think>.'

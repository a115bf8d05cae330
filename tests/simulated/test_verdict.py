"""The simulated judge's decisions: valid, deterministic, steerable, and right about planted quality."""

import json
from itertools import combinations
from statistics import mean

import pytest

from judge.domain.prompt import DEFAULT_PROMPTS, PromptMessage, reask_message, render_prompt, render_thread
from judge.domain.rubric import DEFAULT_CRITERIA, Criterion, Rubric
from judge.domain.verdict import json_schema, parse_verdict
from judge.simulated.quality import QualityIndex, demo_index
from judge.simulated.verdict import SimulatedSettings, decide
from pillars.demo.library import demo_threads, planted_quality

GERMAN = Rubric("default", DEFAULT_CRITERIA["de"])
EXACT = SimulatedSettings(noise=0, tie_width=0)
NO_INDEX = QualityIndex({})
OWN = Rubric("own", (Criterion("tone", "Tone", "Tone", scale_min=0, scale_max=10), Criterion("items", "I", "I")))


def sent(thread_a: str, thread_b: str, rubric: Rubric = GERMAN, language="de", nonce: str = "n0nce-1234"):
    return render_prompt(DEFAULT_PROMPTS[language], rubric, thread_a, thread_b, language, nonce).messages()


def schema_of(rubric: Rubric) -> dict:
    return {"type": "json_schema", "json_schema": {"name": "verdict", "schema": json_schema(rubric)}}


def judged(settings: SimulatedSettings, thread_a: str, thread_b: str, index: QualityIndex = NO_INDEX) -> dict:
    document = decide(settings, index, "m", sent(thread_a, thread_b), schema_of(GERMAN))
    assert isinstance(document, dict)
    return document


def letter(text: str) -> str:
    return f"[Ratsuchende Person]\n{text}"


def letters(count: int) -> list[str]:
    return [letter(f"Brief {number}") for number in range(count)]


def rendered_demo() -> dict[str, tuple[int, str]]:
    return {
        thread["id"]: (
            number,
            render_thread([PromptMessage(m["role"], m["content"]) for m in thread["messages"]], "de"),
        )
        for number, threads in demo_threads().items()
        for thread in threads
    }


@pytest.mark.parametrize("rubric", [GERMAN, OWN], ids=["default", "own"])
@pytest.mark.parametrize("with_schema", [True, False], ids=["schema", "prompt only"])
@pytest.mark.parametrize("language", ["de", "en"])
def test_every_rubric_gets_a_valid_verdict(rubric: Rubric, with_schema: bool, language) -> None:
    threads = [render_thread([PromptMessage("client", f"{number} ü")], language) for number in range(12)]
    for a, b in combinations(threads, 2):
        messages = sent(a, b, rubric, language)
        document = decide(SimulatedSettings(), NO_INDEX, "m", messages, schema_of(rubric) if with_schema else None)
        assert parse_verdict(json.dumps(document), rubric).scores[0].key == rubric.keys[0]


def test_scores_use_the_rubrics_own_scale() -> None:
    found = set()
    for a, b in combinations(letters(15), 2):
        document = decide(SimulatedSettings(), NO_INDEX, "m", sent(a, b, OWN), schema_of(OWN))
        assert isinstance(document, dict)
        found.add(document["criteria_scores"]["tone"]["score_a"])
    assert max(found) > 5
    assert min(found) < 2


@pytest.mark.parametrize(("language", "words"), [("de", "ohne Sprachmodell"), ("en", "no LLM")])
def test_the_justification_says_that_there_is_no_llm(language, words: str) -> None:
    a, b = (render_thread([PromptMessage("client", text)], language) for text in ("x", "y"))
    document = decide(SimulatedSettings(), NO_INDEX, "m", sent(a, b, language=language))
    assert isinstance(document, dict)
    assert words in document["final_justification"]


def test_a_request_without_two_threads_gets_a_sentence_and_no_verdict() -> None:
    answer = decide(SimulatedSettings(), NO_INDEX, "m", [{"role": "user", "content": "ping"}])
    assert isinstance(answer, str)
    assert "no LLM" in answer


class TestDeterminism:
    def test_the_nonce_changes_nothing(self) -> None:
        a, b = letters(2)
        first, second = (
            decide(SimulatedSettings(), NO_INDEX, "m", sent(a, b, nonce=nonce))
            for nonce in ("nonce-00001", "nonce-00002")
        )
        assert first == second

    @pytest.mark.parametrize("change", ["seed", "model", "thread", "re-ask"])
    def test_what_is_sent_and_the_seed_change_the_answers(self, change: str) -> None:
        def answers(changed: bool) -> list:
            settings = SimulatedSettings(seed=2 if changed and change == "seed" else 1)
            model = "n" if changed and change == "model" else "m"
            documents = []
            for a, b in combinations(letters(8), 2):
                messages = list(sent(a + "!" if changed and change == "thread" else a, b))
                if changed and change == "re-ask":
                    messages.append({"role": "user", "content": reask_message(("answer: empty",), "de")})
                documents.append(decide(settings, NO_INDEX, model, messages))
            return documents

        assert answers(False) == answers(False)
        assert answers(False) != answers(True)


class TestBias:
    def share_of_a(self, bias: float) -> float:
        settings = SimulatedSettings(position_bias=bias, tie_width=0)
        pairs = [pair for a, b in combinations(letters(40), 2) for pair in ((a, b), (b, a))]
        return mean(judged(settings, a, b)["winner"] == "A" for a, b in pairs)

    def test_without_bias_neither_slot_is_preferred(self) -> None:
        assert self.share_of_a(0) == pytest.approx(0.5, abs=0.04)

    def test_bias_prefers_the_slot_it_names(self) -> None:
        assert self.share_of_a(3) > 0.6
        assert self.share_of_a(-3) < 0.4

    def test_overwhelming_bias_hides_quality(self) -> None:
        assert self.share_of_a(1_000) == 1


def test_without_noise_both_orders_agree() -> None:
    for a, b in combinations(letters(12), 2):
        assert {judged(EXACT, a, b)["winner"], judged(EXACT, b, a)["winner"]} == {"A", "B"}


def test_equal_texts_tie() -> None:
    assert judged(SimulatedSettings(noise=0), letter("x"), letter("x"))["winner"] == "TIE"


def test_a_difference_of_fifteen_hundredths_mostly_decides() -> None:
    texts = letters(800)
    index = QualityIndex({text: 0.65 if number % 2 else 0.5 for number, text in enumerate(texts)})
    pairs = list(zip(texts[1::2], texts[::2], strict=True))
    winners = [judged(SimulatedSettings(tie_width=0), better, worse, index)["winner"] for better, worse in pairs]
    assert 0.82 <= mean(winner == "A" for winner in winners) <= 0.92


def test_scores_mostly_agree_with_the_winner() -> None:
    agreeing = []
    for a, b in combinations(letters(20), 2):
        document = judged(SimulatedSettings(), a, b)
        gap = sum(entry["score_a"] - entry["score_b"] for entry in document["criteria_scores"].values())
        if document["winner"] != "TIE" and gap:
            agreeing.append((gap > 0) == (document["winner"] == "A"))
    assert len(agreeing) > 100
    assert mean(agreeing) > 0.9


def test_every_demo_thread_is_known_in_both_languages() -> None:
    index, qualities = demo_index(), planted_quality()
    for threads in demo_threads().values():
        for thread in threads:
            messages = [PromptMessage(item["role"], item["content"]) for item in thread["messages"]]
            assert index.quality(render_thread(messages, "de")) == qualities[thread["id"]]
            assert index.quality(render_thread(messages, "en")) == qualities[thread["id"]]


def test_a_noiseless_judge_finds_the_planted_order_of_the_demo_threads() -> None:
    qualities, demo = planted_quality(), rendered_demo()
    for (first, (_, text_a)), (second, (_, text_b)) in combinations(demo.items(), 2):
        gap = qualities[first] - qualities[second]
        expected = "TIE" if gap == 0 else "A" if gap > 0 else "B"
        assert judged(EXACT, text_a, text_b, demo_index())["winner"] == expected


def test_a_noisy_judge_still_ranks_the_pillars_as_planted() -> None:
    points: dict[int, list[float]] = {}
    for (number_a, text_a), (number_b, text_b) in combinations(rendered_demo().values(), 2):
        if number_a != number_b:
            winner = judged(SimulatedSettings(), text_a, text_b, demo_index())["winner"]
            score = {"A": 1.0, "B": 0.0, "TIE": 0.5}[winner]
            points.setdefault(number_a, []).append(score)
            points.setdefault(number_b, []).append(1 - score)
    assert sorted(points, key=lambda number: -mean(points[number])) == [3, 1, 5, 2, 4]

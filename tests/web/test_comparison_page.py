"""One comparison whole, and the list of all."""

from typing import Any

import pytest
from django.test import Client

from judge.models import JudgeAttempt, JudgeComparison, JudgeSession

pytestmark = pytest.mark.django_db


def page_of(reader: Client, comparison: JudgeComparison) -> str:
    answer = reader.get(f"/judge/session/{comparison.session_id}/comparisons/{comparison.pk}/")
    assert answer.status_code == 200
    return answer.content.decode()


def judged_one(session: JudgeSession, **changes: Any) -> JudgeComparison:
    comparison = session.comparisons.filter(status="completed").order_by("queue_position")[0]
    JudgeComparison.objects.filter(pk=comparison.pk).update(**changes)
    return comparison


def test_the_whole_reasoning_stands_there(session: JudgeSession, reader: Client) -> None:
    comparison = judged_one(session)
    evaluation = comparison.evaluation
    evaluation.reasoning = "Example reasoning. " * 200 + "Its very end."
    evaluation.chain_of_thought = {"step_6_comparison": "Example weighing.", "step_1_overview": "Example beginning."}
    evaluation.save()
    page = page_of(reader, comparison)
    assert "Its very end." in page
    assert page.index("Example beginning.") < page.index("Example weighing.")
    for score in evaluation.scores.all():
        assert score.criterion.label in page


def test_flags_are_said_in_words(session: JudgeSession, reader: Client) -> None:
    page = page_of(reader, judged_one(session, flags=["instruction", "hidden_characters", "a_future_flag"]))
    assert "A text gives the judge instructions." in page
    assert "A text contains invisible characters." in page
    assert "a_future_flag" in page


def test_every_call_is_listed_with_what_came_back(session: JudgeSession, reader: Client) -> None:
    comparison = judged_one(session)
    JudgeAttempt.objects.create(
        comparison=comparison,
        claim_token="00000000-0000-0000-0000-000000000002",
        number=1,
        outcome="invalid_verdict",
        prompt_hash="0" * 64,
        raw_response="Example answer that is no verdict",
        problems=["winner: not one of A, B, TIE"],
        http_status=200,
        latency_ms=2500,
    )
    page = page_of(reader, comparison)
    assert "Example answer that is no verdict" in page
    assert "winner: not one of A, B, TIE" in page
    assert "The verdict is incomplete or out of range." in page
    assert "2.5 s" in page


def test_a_failed_comparison_has_a_cause_and_no_verdict(session: JudgeSession, reader: Client) -> None:
    comparison = session.comparisons.filter(status="pending")[0]
    JudgeComparison.objects.filter(pk=comparison.pk).update(status="failed", error_code="refused")
    page = page_of(reader, comparison)
    assert "The model refused to judge these texts." in page
    verdict = page[page.index('id="verdict-heading"') :]
    assert "wins" not in verdict[: verdict.index("</section>")]


def test_the_swap_twin_is_linked(session: JudgeSession, reader: Client) -> None:
    comparison = judged_one(session)
    twin = JudgeComparison.objects.get(pair=comparison.pair, position_order=3 - comparison.position_order)
    assert f"/comparisons/{twin.pk}/" in page_of(reader, comparison)


@pytest.mark.parametrize("status", ["pending", "running"])
def test_an_open_comparison_says_so(status: str, session: JudgeSession, reader: Client) -> None:
    page = page_of(reader, session.comparisons.filter(status=status)[0])
    assert {"pending": "waiting for its turn", "running": "being judged right now"}[status] in page


def test_a_comparison_of_another_session_is_not_found(session: JudgeSession, reader: Client) -> None:
    comparison = session.comparisons.all()[0]
    assert reader.get(f"/judge/session/{session.pk + 1}/comparisons/{comparison.pk}/").status_code == 404
    assert reader.get(f"/judge/session/{session.pk}/comparisons/{comparison.pk + 999}/").status_code == 404


def test_the_list_can_be_narrowed_to_a_status(session: JudgeSession, reader: Client) -> None:
    address = f"/judge/session/{session.pk}/comparisons/"
    everything = reader.get(address).content.decode()
    judged = reader.get(f"{address}?status=completed").content.decode()
    for comparison in session.comparisons.all():
        link = f"/comparisons/{comparison.pk}/"
        assert link in everything
        assert (link in judged) is (comparison.status == "completed")
    assert reader.get(f"{address}?status=nonsense&page=x").status_code == 200

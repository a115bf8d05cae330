"""What every page owes its readers: texts stay texts, nothing inline, nothing kept by browsers."""

import re
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.test import Client

from judge import partials
from judge.models import JudgeSession
from judge.selectors.lanes import lanes
from judge.services.results import refresh_results
from pillars.models import Message

pytestmark = pytest.mark.django_db

HOSTILE = (
    '<script>alert(1)</script><img src=x onerror=alert(2)><div hx-get="/judge/" hx-trigger="load" '
    'hx-swap-oob="true" id="session-actions">x</div><a href="javascript:alert(3)">y</a></textarea></template>'
)
PAGES = (
    "/judge/",
    "/judge/config/",
    "/judge/providers/",
    "{session}",
    "{session}results/",
    "{session}comparisons/",
    "{comparison}",
)


def addresses(session: JudgeSession) -> list[str]:
    place = f"/judge/session/{session.pk}/"
    comparison = session.comparisons.filter(status="completed")[0]
    whole = f"{place}comparisons/{comparison.pk}/"
    return [page.format(session=place, comparison=whole) for page in PAGES]


class Tags(HTMLParser):
    """All tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(page)
    return parser.found


@pytest.fixture
def hostile(session: JudgeSession) -> JudgeSession:
    """A session whose every text tries to become markup."""
    Message.objects.update(content=HOSTILE)
    session.pillars.update(name=HOSTILE[:100], name_de=HOSTILE[:100])
    JudgeSession.objects.filter(pk=session.pk).update(name=HOSTILE[:150], description=HOSTILE)
    for comparison in session.comparisons.filter(status="completed"):
        evaluation = comparison.evaluation
        evaluation.reasoning = evaluation.raw_response = evaluation.model_returned = HOSTILE
        evaluation.model_returned = HOSTILE[:190]
        evaluation.chain_of_thought = {HOSTILE: HOSTILE}
        evaluation.save()
        evaluation.scores.update(reasoning=HOSTILE)
        comparison.attempts.update(raw_response=HOSTILE, problems=[HOSTILE])
        comparison.judge.model.model_name = HOSTILE[:190]
        comparison.judge.model.save()
    refresh_results(session.pk)
    session.refresh_from_db()
    return session


def assert_inert(page: str) -> None:
    for tag, attributes in tags(page):
        assert tag != "img"
        assert tag != "script" or (attributes.get("src") or "").startswith("/static/")
        assert not [name for name in attributes if name.startswith("on") or name == "style"], (tag, attributes)
        assert not (attributes.get("href") or "").startswith("javascript")
        if "hx-get" in attributes:
            assert attributes.get("hx-trigger") != "load"


def test_hostile_texts_are_inert_on_every_page(hostile: JudgeSession, reader: Client) -> None:
    for address in addresses(hostile):
        page = reader.get(address).content.decode()
        assert_inert(page)
        assert page.count('id="session-actions"') <= 1


def test_hostile_texts_are_inert_in_what_the_sockets_send(hostile: JudgeSession) -> None:
    swaps = partials.joined(partials.live_page(hostile, can_edit=True))
    assert_inert(swaps)
    assert swaps.count('hx-swap-oob="true"') == swaps.count('" hx-swap-oob="true"')
    piece = partials.stream_piece(0, HOSTILE)
    assert [tag for tag, _ in tags(piece)] == ["div"]
    assert piece.startswith('<div id="lane-0-stream" hx-swap-oob="beforeend">')


def test_no_page_needs_what_the_policy_forbids(session: JudgeSession, reader: Client) -> None:
    assert "script-src" not in settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    for address in addresses(session):
        answer = reader.get(address)
        assert "unsafe" not in answer["Content-Security-Policy"]
        page = answer.content.decode()
        assert_inert(page)
        assert "<style" not in page
        assert not re.search(r"\bhx-on|\bhx-vals=['\"]js:", page)


def test_pages_are_kept_by_no_browser_and_no_history(session: JudgeSession, reader: Client) -> None:
    for address in addresses(session):
        answer = reader.get(address)
        assert "no-store" in answer["Cache-Control"]
        assert '"historyCacheSize":0' in answer.content.decode()


def test_every_part_has_one_root_with_the_id_it_is_swapped_by(session: JudgeSession) -> None:
    def roots(part: str) -> list[str]:
        parser, depth, found = Tags(), 0, []
        void = {"input", "meta", "link", "br", "line"}

        class Depth(Tags):
            def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
                nonlocal depth
                if depth == 0:
                    found.append(str(dict(attrs).get("id")))
                depth += tag not in void

            def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
                return

            def handle_endtag(self, tag: str) -> None:
                nonlocal depth
                depth -= tag not in void

        parser = Depth()
        parser.feed(part.strip())
        return found

    parts = {
        "session-state": partials.state(session),
        "session-actions": partials.actions(session, can_edit=True),
        "session-progress": partials.progress_bar(session),
        "session-queue": partials.queue_panel(session),
        "session-history": partials.history_panel(session),
        **{f"lane-{lane.worker_id}": partials.one_lane(session, lane) for lane in lanes(session)},
    }
    for name, part in parts.items():
        assert roots(part) == [name]


def test_a_swap_and_the_page_are_the_same_but_for_the_mark(session: JudgeSession) -> None:
    def parts(oob: bool) -> str:
        return partials.joined(partials.live_page(session, can_edit=True, oob=oob))

    assert re.sub(r"about .* left|[\d.]+ per minute", "", parts(True)).replace(' hx-swap-oob="true"', "") == re.sub(
        r"about .* left|[\d.]+ per minute", "", parts(False)
    )


def test_the_error_page_stands_without_the_rest_of_the_house() -> None:
    page = render_to_string("500.html")
    assert_inert(page)
    assert "LLARS Judge" in page
    assert "/static/" not in page

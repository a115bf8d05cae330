"""A researcher's way through the product: plan, watch, pause, go on, read. Black box: a browser and nothing else."""

import re
import time

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from judge.simulated.server import SimulatedServer
from tests.browser.conftest import QUICK, Product, Visit
from tests.queue.held import held

pytestmark = [pytest.mark.browser, pytest.mark.processes]

SECONDS = 1000
# Of the calls of a session, so that some are left however slowly the browser comes to its click.
ANSWERED = 8


def plan(page: Page, product: Product, name: str, samples: int) -> None:
    """Fill in the form for two pillars and two workers, and start."""
    page.goto(f"{product.address}/judge/config/")
    page.get_by_label("Name of the session").fill(name)
    for pillar in ("Role plays", "Live tests"):
        page.locator(".pillar-choices .choice", has_text=pillar).click()
    page.get_by_label("Samples per pillar").fill(str(samples))
    page.get_by_role("group", name="Workers").get_by_label("2", exact=True).check()
    expect(page.locator("#estimate strong")).to_have_text(str(2 * samples))
    page.get_by_role("button", name="Create and start").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()


def status(page: Page) -> Locator:
    return page.locator("#session-state .status")


def grows(stream: Locator) -> None:
    """The answer gets longer without anything being loaded."""
    expect(stream).to_have_text(re.compile(r".{20}", re.DOTALL), timeout=20 * SECONDS)
    text = stream.inner_text()
    expect(stream).not_to_have_text(text, timeout=20 * SECONDS)


def test_plan_watch_pause_resume_and_read(visit: Visit, product: Product, judge: SimulatedServer) -> None:
    page = visit.page
    with held(judge, after=ANSWERED):
        plan(page, product, "Example session", samples=8)
        expect(status(page)).to_have_text("running")
        for lane in ("#lane-0", "#lane-1"):
            grows(page.locator(f"{lane}-stream"))
            expect(page.locator(f"{lane} .message").first).to_be_visible()
        expect(page.locator("#session-history tbody tr").first).to_be_visible()
        page.get_by_role("button", name="Pause").click()
        expect(status(page)).to_have_text("paused")
        judge.judge.settings = QUICK  # whatever is claimed from now on is judged at once
    for lane in ("#lane-0", "#lane-1"):
        expect(page.locator(f"{lane} .lane-state")).to_have_text("idle")
    page.wait_for_timeout(SECONDS)  # the progress may be drawn a moment later than the lanes
    done = page.locator(".progress-facts strong").inner_text()
    page.wait_for_timeout(SECONDS)
    assert page.locator(".progress-facts strong").inner_text() == done
    page.reload()
    expect(status(page)).to_have_text("paused")
    expect(page.locator(".progress-facts strong")).to_have_text(done)

    page.get_by_role("button", name="Resume").click()
    expect(status(page)).to_have_text("completed", timeout=90 * SECONDS)
    expect(page.locator(".progress-facts strong")).to_have_text("16 of 16 comparisons")

    page.get_by_role("link", name="Results").click()
    expect(page.get_by_role("heading", name="In short")).to_be_visible()
    expect(page.locator("#results")).to_contain_text("comes first")
    expect(page.locator("#results")).not_to_contain_text("Partial")
    page.get_by_role("link", name="Example session").click()
    page.locator("#session-history tbody a").first.click()
    expect(page.get_by_role("heading", name="Chain of thought")).to_be_visible()
    assert visit.complaints == []


def test_two_pages_show_the_same_and_a_button_keeps_the_focus(
    visit: Visit, product: Product, judge: SimulatedServer
) -> None:
    with held(judge, after=ANSWERED):
        plan(visit.page, product, "Example of two pages", samples=8)
        expect(status(visit.page)).to_have_text("running")
        other = visit.page.context.new_page()
        other.goto(visit.page.url)
        visit.page.locator("#action-pause").focus()
        visit.page.wait_for_timeout(2 * SECONDS)
        assert visit.page.evaluate("document.activeElement.id") == "action-pause"
        visit.page.keyboard.press("Enter")
        expect(status(visit.page)).to_have_text("paused")
    for page in (visit.page, other):
        expect(status(page)).to_have_text("paused")
        expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert visit.complaints == []


def test_an_answer_slower_than_the_socket_still_finds_its_page(
    visit: Visit, product: Product, judge: SimulatedServer
) -> None:
    page = visit.page

    def late(route: Route) -> None:
        answer = route.fetch()
        time.sleep(2)
        route.fulfill(response=answer)

    with held(judge):
        plan(page, product, "Example of a slow answer", samples=8)
        expect(status(page)).to_have_text("running")
        page.route(re.compile(r"/pause/$"), late)
        page.locator("#action-pause").focus()
        page.keyboard.press("Enter")
        expect(status(page)).to_have_text("paused")
    expect(page.locator("#action-resume")).to_be_focused()
    assert visit.complaints == []


def test_without_a_socket_the_page_says_so_and_polls(visit: Visit, product: Product, judge: SimulatedServer) -> None:
    visit.page.route_web_socket(re.compile(r"/ws/"), lambda socket: socket.close(code=1011))
    judge.judge.settings = QUICK
    with held(judge, after=2):
        plan(visit.page, product, "Example without socket", samples=4)
        expect(visit.page.get_by_text("No live connection.")).to_be_visible()
    expect(status(visit.page)).to_have_text("completed", timeout=60 * SECONDS)


def test_a_narrow_screen_never_scrolls_sideways(visit: Visit, product: Product) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    session = f"/judge/session/{product.demo_session}/"
    pillar = ("/judge/pillars/", "/judge/pillar/1/", "/judge/upload/")
    for path in ("/judge/", "/judge/config/", *pillar, session, f"{session}results/", f"{session}comparisons/"):
        visit.page.goto(product.address + path)
        width = visit.page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, path


def test_no_text_is_left_in_the_browser(visit: Visit, product: Product) -> None:
    visit.page.goto(f"{product.address}/judge/session/{product.demo_session}/")
    visit.page.goto(f"{product.address}/judge/")
    kept = visit.page.evaluate("[...Object.keys(localStorage), ...Object.keys(sessionStorage)]")
    # htmx notes the address of the page it is on, and nothing of the page.
    assert set(kept) <= {"htmx-current-path-for-history"}


def test_the_keyboard_reaches_the_content_first(visit: Visit, product: Product) -> None:
    visit.page.goto(f"{product.address}/judge/")
    visit.page.keyboard.press("Tab")
    expect(visit.page.get_by_role("link", name="Skip to content")).to_be_focused()
    visit.page.keyboard.press("Enter")
    assert visit.page.evaluate("document.activeElement.id") == "content"

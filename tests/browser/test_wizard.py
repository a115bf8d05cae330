"""The new-session page in a browser: by keyboard alone, on a narrow screen, in both languages, with a lost server."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, StorageState, expect

from tests.browser.conftest import PATIENCE_MS, Product, Visit

pytestmark = [pytest.mark.browser, pytest.mark.processes]

ESTIMATE = re.compile(r"/judge/config/estimate/$")


def focused(page: Page) -> str:
    """The id of the element that has the focus."""
    return str(page.evaluate("document.activeElement.id"))


def comparisons(page: Page) -> Locator:
    return page.locator("#estimate strong")


def begin(page: Page, product: Product) -> None:
    """Open the page and wait until its script has asked for the first estimate."""
    with page.expect_response(ESTIMATE):
        page.goto(f"{product.address}/judge/config/")


@pytest.fixture(params=["en", "de"])
def languages(request: pytest.FixtureRequest, installed: Browser, log_in: StorageState) -> Iterator[Visit]:
    """A page of somebody who reads this language, and what its console complained of."""
    opened = installed.new_context(locale=request.param, viewport={"width": 1440, "height": 900}, storage_state=log_in)
    opened.set_default_timeout(PATIENCE_MS)
    page, heard = opened.new_page(), []
    page.on("console", lambda message: heard.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    yield Visit(page, heard)
    opened.close()


def tab_to(page: Page, element: Locator) -> None:
    """Press Tab until the element has the focus, as somebody without a mouse does."""
    for _ in range(80):
        if element.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard never came to {element}")


def test_a_session_is_planned_by_keyboard_alone(languages: Visit, product: Product) -> None:
    page = languages.page
    begin(page, product)
    expect(page.locator("html")).to_have_attribute("lang", re.compile("en|de"))
    tab_to(page, page.locator("#id_session_name"))
    page.keyboard.type("Example by keyboard")
    page.keyboard.press("Enter")  # starts nothing by accident
    for number in ("1", "5"):
        tab_to(page, page.locator(f"input[name=pillar_ids][value='{number}']"))
        page.keyboard.press("Space")
    tab_to(page, page.locator("#preset-quick"))
    page.keyboard.press("Enter")
    expect(comparisons(page)).to_have_text("10")
    expect(page.locator("#id_samples_per_pillar")).to_have_value("5")
    assert focused(page) == "preset-quick"
    tab_to(page, page.locator("input[value=pillar_sample]"))
    page.keyboard.press("ArrowDown")
    expect(page.locator("input[value=round_robin]")).to_be_checked()
    expect(page.locator("#id_samples_per_pillar")).to_be_hidden()
    page.keyboard.press("ArrowUp")
    tab_to(page, page.locator("#id_samples_per_pillar"))
    page.keyboard.press("Control+A")
    page.keyboard.type("3")
    expect(comparisons(page)).to_have_text("6")
    assert focused(page) == "id_samples_per_pillar"
    expect(page.locator("#estimate-said")).to_contain_text("6")
    assert page.url.endswith("/judge/config/")
    tab_to(page, page.locator("button:not([name])").last)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Example by keyboard")).to_be_visible()
    expect(page.locator("#session-state .status-created")).to_be_visible()
    assert languages.complaints == []


def test_typing_goes_on_while_the_estimate_is_refreshed(visit: Visit, product: Product) -> None:
    page = visit.page
    begin(page, product)
    for number in ("1", "3"):
        page.locator(f"input[name=pillar_ids][value='{number}']").check()
    name = page.locator("#id_session_name")
    name.click()
    for word in ("A", " name", " typed", " slowly"):
        page.keyboard.type(word)
        page.wait_for_timeout(600)
    assert (name.input_value(), focused(page)) == ("A name typed slowly", "id_session_name")
    limit = page.locator("#id_max_threads_per_pillar")
    limit.fill("0")
    expect(page.locator("#errors-max_threads_per_pillar li")).to_be_visible()
    expect(limit).to_have_attribute("aria-invalid", "true")
    assert focused(page) == "id_max_threads_per_pillar"
    limit.fill("2")
    expect(page.locator("#errors-max_threads_per_pillar li")).to_have_count(0)
    expect(limit).not_to_have_attribute("aria-invalid", "true")
    page.locator("input[value=free_for_all]").check()
    expect(comparisons(page)).to_have_text("12")
    expect(page.locator("#count-free_for_all")).to_have_text("12 comparisons")
    page.locator("input[value=adaptive]").check()
    page.locator("#id_comparison_budget").fill("8")
    expect(comparisons(page)).to_have_text("8")
    assert name.input_value() == "A name typed slowly"
    assert visit.complaints == []


def test_a_lost_server_is_told_and_nothing_that_was_typed_is_lost(visit: Visit, product: Product) -> None:
    page = visit.page
    begin(page, product)
    page.locator("#id_session_name").fill("Example of a lost server")
    page.route(ESTIMATE, lambda route: route.abort())
    page.locator("input[name=pillar_ids][value='1']").check()
    expect(page.locator("#estimate-failed")).to_be_visible()
    page.unroute(ESTIMATE)
    page.locator("input[name=pillar_ids][value='5']").check()
    expect(comparisons(page)).to_be_visible()
    expect(page.locator("#estimate-failed")).to_be_hidden()
    assert page.locator("#id_session_name").input_value() == "Example of a lost server"


def test_a_narrow_screen_shows_everything_without_scrolling_sideways(languages: Visit, product: Product) -> None:
    page = languages.page
    page.set_viewport_size({"width": 390, "height": 844})
    begin(page, product)
    for number in ("1", "3", "5"):
        page.locator(f"input[name=pillar_ids][value='{number}']").check()
    expect(page.locator(".shares li")).to_have_count(3)
    for mode in ("round_robin", "free_for_all", "adaptive", "pillar_sample"):
        count = page.locator(f"#count-{mode}").inner_text().split()[0]
        page.locator(f"input[value={mode}]").check()
        expect(comparisons(page)).to_have_text(count)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, mode
    summary, fields = page.locator("#estimate").bounding_box(), page.locator("#plan-fields").bounding_box()
    assert summary is not None
    assert fields is not None
    assert summary["y"] > fields["y"] + fields["height"]
    assert languages.complaints == []


def test_a_session_is_copied_and_renamed(visit: Visit, product: Product) -> None:
    page = visit.page
    page.goto(f"{product.address}/judge/session/{product.demo_session}/")
    name = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("link", name="Duplicate").click()
    expect(page.locator("#id_session_name")).to_have_value(f"{name} (copy)")
    expect(comparisons(page)).to_be_visible()
    page.get_by_role("button", name="Create only").click()
    expect(page.locator("#session-state .status-created")).to_be_visible()
    page.get_by_text("Change name and notes").click()
    page.get_by_label("Name of the session").fill("Example with a better name")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Example with a better name")).to_be_visible()

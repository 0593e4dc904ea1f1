"""Windows and slow lists of the dashboard: where the focus is, and that no input is lost."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.dashboard import OWNER, User, session
from tests.browser.windows import WINDOWS, assert_keeps_input, first_field, opener, visit

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def owner(browser: Browser, dashboard: dict[str, Any]) -> Iterator[User]:
    """A signed-in owner, whose pages must cause no error and no violation of the policy."""
    cookie = session(dashboard["base_url"], OWNER, dashboard["accounts"]["live"])
    user = User(browser, dashboard, cookie)
    yield user
    user.close()


def test_each_page_works_before_its_list_has_come(owner: User) -> None:
    """No page is blank while its list is awaited, and its main button opens a window at once."""
    page = owner.page
    with page.expect_response(lambda answer: "/v1/templates?" in answer.url):
        owner.go("/app/")  # the menu of templates, too, asks for them
    for name, (_, text) in WINDOWS.items():
        with owner.holding():
            visit(page, name)
            expect(page.locator(".loading, table, .empty").first).to_be_visible()
            main = opener(page, name)
            if main.is_enabled():
                main.click()
                first_field(page).fill(text)
        expect(page.locator(".loading")).to_have_count(0)
        expect(page.locator("table, .empty").first).to_be_visible()
        if page.get_by_role("dialog").count():
            expect(first_field(page)).to_have_value(text)
            page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_page_that_fails_says_why_in_the_console(owner: User) -> None:
    """An error in a page shows a notice, is logged, and leaves the other pages alone."""
    page, logged = owner.go("/app/keys"), list[str]()
    page.on("console", lambda message: logged.append(message.text))
    owner.interfere = _answer_wrongly
    page.get_by_role("navigation").get_by_role("link", name="Webhooks").click()
    expect(page.get_by_text("This page has failed.")).to_be_visible()
    owner.interfere = lambda _route: False
    assert any("TypeError" in text for text in logged)
    visit(page, "Suppressions")
    expect(page.get_by_text("This page has failed.")).to_have_count(0)


def _answer_wrongly(route: Route) -> bool:
    if not route.request.url.endswith("/v1/webhooks"):
        return False
    route.fulfill(json={"items": [{"types": None}], "total": 1})
    return True


@pytest.mark.parametrize("name", WINDOWS)
def test_a_window_keeps_what_is_entered(owner: User, name: str) -> None:
    """The focus is in the first field; Esc, a click beside and a selection lose nothing."""
    owner.go(f"/app/{'keys' if name == 'API keys' else name.lower()}")
    assert_keeps_input(owner, name)


def test_a_file_that_was_not_chosen_leaves_the_window(owner: User) -> None:
    """The browser's cancel event of a file field does not close the window around it."""
    page = owner.go("/app/suppressions")
    page.get_by_role("button", name="Import").click()
    page.locator("input[type=file]").dispatch_event("cancel", {"bubbles": True})
    page.get_by_role("dialog").get_by_role("button", name="Cancel").press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_filter_that_is_typed_survives_an_answer(owner: User) -> None:
    """Text that is not yet sent as a filter stays when the list comes."""
    page = owner.go("/app/")
    tag = page.get_by_label("Tag, as name:value")
    with owner.holding():
        visit(page, "Activity")
        tag.press_sequentially("order:1")
    expect(page.locator(".loading")).to_have_count(0)
    expect(tag).to_have_value("order:1")
    tag.press("Enter")
    expect(page.get_by_role("heading", name="No email matches")).to_be_visible()

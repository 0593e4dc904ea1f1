"""Windows and slow lists of the dashboard: where the focus is, and that no input is lost."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.dashboard import User
from tests.stack import wait_for

pytestmark = pytest.mark.stack

#: Page -> the button that opens its window, what is typed in the first field, and what it becomes.
WINDOWS: Final = {
    "Templates": ("New template", "Receipt", "Receipt"),
    "Domains": ("Add domain", "https://shop.example/?a", "shop.example"),
    "Webhooks": ("Add endpoint", *["https://shop.example/hooks"] * 2),
    "Suppressions": ("Add address", *["ada@shop.example"] * 2),
    "API keys": ("Create key", "shop", "shop"),
    "Members": ("Invite member", *["ada@shop.example"] * 2),
}
#: Windows without a field of text, which Back closes: where they are, and what opens them.
QUESTIONS: Final = (
    ("/app/templates/{template_id}", "Send a test"),
    ("/app/suppressions", "Import"),
    ("/app/keys", "Revoke"),
    ("/app/passkeys", "Sign out everywhere"),
)
_REFUSAL: Final = {"code": "x", "message": "Refused for this test.", "type": "x"}


def opener(page: Page, name: str) -> Locator:
    return page.locator("main header").get_by_role("button", name=WINDOWS[name][0])


def first_field(page: Page) -> Locator:
    return page.locator("dialog input").first


def visit(page: Page, name: str) -> None:
    """Open a page through the navigation, so that earlier answers are known."""
    page.get_by_role("navigation").get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


@contextmanager
def loading_slowly(user: User) -> Iterator[None]:
    """Leave the file of most pages and windows unanswered until the block ends."""
    held: list[Route] = []
    user.context.route("**/assets/later-*", lambda route: held.append(route))  # noqa: PLW0108  playwright marks it
    yield
    for route in held:
        route.continue_()
    user.context.unroute("**/assets/later-*")


def _refuse(route: Route) -> bool:
    if route.request.method != "POST" or "/v1/session" in route.request.url:
        return False
    route.fulfill(status=422, json={"error": _REFUSAL})
    return True


def _select_to_the_outside(page: Page, field: Locator) -> None:
    """Select text with the mouse, which is let go beside the window."""
    box = field.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(5, box["y"], steps=3)
    page.mouse.up()


def test_each_page_works_before_its_list_has_come(user: User) -> None:
    """No page is blank while its list is awaited, and its main button opens a window at once.

    That of a new key opens when it is known which permissions a key can have.
    """
    page = user.page
    user.go("/app/account")  # asks for none of the lists
    for name, (_, text, _) in WINDOWS.items():
        is_late = name == "API keys"
        with user.holding():
            visit(page, name)
            expect(page.locator(".loading, table, .empty").first).to_be_visible()
            main = opener(page, name)
            expect(main).to_be_enabled(enabled=not is_late)
            if not is_late:
                main.click()
                expect(first_field(page)).to_be_focused()
                first_field(page).fill(text)
        expect(page.locator(".loading")).to_have_count(0)
        expect(page.locator("table, .empty").first).to_be_visible()
        if not is_late:
            expect(first_field(page)).to_have_value(text)
            page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_windows_keep_what_is_entered(user: User) -> None:
    """By keyboard: the first field has the focus, a refusal and Esc lose nothing, and it closes.

    A click beside it and a selection that ends there lose nothing either; one window shows that.
    """
    user.go("/app/account")
    for name in WINDOWS:
        visit(user.page, name)
        _try_window(user, name)


def _try_window(user: User, name: str) -> None:
    """Open the window of a page, and leave it in each way."""
    page, (_, text, kept) = user.page, WINDOWS[name]
    main, dialog, field = opener(page, name), page.get_by_role("dialog"), first_field(page)
    expect(main).to_be_enabled()
    main.press("Enter")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")  # nothing is entered yet
    expect(dialog).to_have_count(0)
    expect(main).to_be_focused()
    page.keyboard.press("Enter")
    expect(field).to_be_focused()
    user.interfere = _refuse
    page.keyboard.type(text)
    expect(field).to_have_value(text)  # nothing changes while one types
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Refused for this test.")
    user.interfere = lambda _route: False
    for by_key in (True, False) if name == "Members" else (True,):
        if by_key:
            page.keyboard.press("Escape")
        else:
            page.mouse.click(5, 5)
        expect(dialog.last.get_by_role("button", name="Keep editing")).to_be_focused()
        page.keyboard.press("Enter")
        expect(dialog).to_have_count(1)
        expect(field).to_have_value(kept)
        expect(field).to_be_focused()
    if name == "Members":
        _select_to_the_outside(page, field)
        expect(dialog).to_have_count(1)
        expect(field).to_have_value(kept)
    page.keyboard.press("Escape")
    dialog.last.get_by_role("button", name="Discard").press("Enter")
    expect(dialog).to_have_count(0)
    expect(main).to_be_focused()


def _asks_before_unload(page: Page) -> bool:
    """Return whether the browser would ask before a reload or the end of the tab."""
    event = "new Event('beforeunload', { cancelable: true })"
    return not page.evaluate(f"dispatchEvent({event})")


def _back(page: Page) -> None:
    """Press Back in a window that stays, and wait until the next one counts."""
    page.go_back()
    wait_for(lambda: page.evaluate("history.state?.window"))


def test_back_belongs_to_the_window(user: User) -> None:
    """Back closes what holds nothing, and asks about what was typed, as a reload does.

    The test before shows of each window that it knows what was typed.
    """
    page = user.go("/app/account")
    dialog, question = page.get_by_role("dialog"), page.get_by_text("Discard what you entered?")
    for name in ("Domains", "Members"):
        _, text, kept = WINDOWS[name]
        visit(page, name)
        address = page.url
        opener(page, name).click()
        expect(first_field(page)).to_be_focused()
        assert not _asks_before_unload(page)
        page.go_back()
        expect(dialog).to_have_count(0)
        page.go_forward()  # to nothing
        opener(page, name).click()
        expect(first_field(page)).to_be_focused()
        page.keyboard.type(text)
        for _ in range(2):
            _back(page)
            expect(question).to_be_visible()
            assert _asks_before_unload(page)
            _back(page)  # as “Keep editing”
            expect(dialog).to_have_count(1)
            expect(first_field(page)).to_have_value(kept)
        page.go_back()
        page.get_by_role("button", name="Discard").click()
        expect(dialog).to_have_count(0)
        assert page.url == address


def test_back_closes_a_window_without_a_field(user: User, dashboard: dict[str, Any]) -> None:
    page = user.page
    dialog = page.get_by_role("dialog")
    for path, button in QUESTIONS:
        user.go(path.format_map(dashboard))
        page.get_by_role("button", name=button, exact=button != "Revoke").first.click()
        expect(dialog).to_have_count(1)
        assert not _asks_before_unload(page)
        page.go_back()
        expect(dialog).to_have_count(0)
        assert page.url == user.base + path.format_map(dashboard)


def test_back_keeps_a_secret_that_is_shown_once(user: User, stack: dict[str, Any]) -> None:
    page = user.go("/app/account")
    user.follow("/app/domains", "Domains")  # three steps back stay in the dashboard
    for name, text, field, button, said in (
        ("API keys", "back", "Name", "Create key", "I have stored it"),
        (
            "Webhooks",
            f"{stack['inbox_url']}/hooks/back",
            "Address",
            "Add endpoint",
            "I have saved it",
        ),
    ):
        visit(page, name)
        opener(page, name).click()
        page.get_by_label(field).fill(text)
        page.get_by_role("dialog").get_by_role("button", name=button).click()
        secret = page.locator("dialog pre").first
        before = secret.inner_text()
        for _ in range(3):
            page.evaluate("history.go(-2)")  # as Back does that is pressed twice at once
            page.go_back()
            page.keyboard.press("Escape")
            # Else the next ways back would add up, and lead out of the dashboard.
            wait_for(lambda: page.evaluate("history.state?.window"))
            expect(secret).to_have_text(before, use_inner_text=True)
        assert _asks_before_unload(page)
        page.get_by_role("button", name=said).click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert not _asks_before_unload(page)
    expect(page).to_have_url(re.compile("/app/webhooks/"))
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="Webhooks")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="API keys")).to_be_visible()
    page.go_forward()
    page.go_forward()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete the endpoint").click()
    expect(page).to_have_url(f"{user.base}/app/webhooks")
    page.go_back()
    expect(page).to_have_url(f"{user.base}/app/webhooks")  # the endpoint has no page any more


def test_a_new_key_is_in_sight_on_a_small_screen(user: User) -> None:
    """The button that creates it is further down, so the window is scrolled."""
    page = user.go("/app/keys")
    page.set_viewport_size({"width": 320, "height": 640})
    opener(page, "API keys").click()
    page.get_by_label("Name").fill("small")
    page.get_by_role("dialog").get_by_role("button", name="Create key").click()
    expect(page.get_by_text("It is shown only once.")).to_be_in_viewport(ratio=1)


@pytest.mark.both_browsers
def test_a_link_just_after_a_window_closes(user: User) -> None:
    page = user.go("/app/templates")
    opener(page, "Templates").click()
    page.evaluate("""() => {
        const back = history.back.bind(history);
        history.back = () => {
            back();
            document.querySelector("nav a[href='/app/domains']").click();
            delete history.back;
        };
    }""")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", level=1, name="Domains")).to_be_visible()
    opener(page, "Domains").click()
    expect(first_field(page)).to_be_focused()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", level=1, name="Domains")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="Templates")).to_be_visible()
    assert page.evaluate("history.state") is None


def test_a_link_in_a_window(user: User) -> None:
    page = user.go("/app/webhooks")
    expect(page.get_by_role("heading", level=1, name="Webhooks")).to_be_focused()
    page.keyboard.press("Control+k")
    page.get_by_role("option", name="Domains").click()
    expect(page.get_by_role("heading", level=1, name="Domains")).to_be_focused()
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="Webhooks")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.go_forward()
    expect(page.get_by_role("heading", level=1, name="Domains")).to_be_visible()
    page.get_by_role("button", name="Add domain").click()
    expect(first_field(page)).to_be_focused()
    page.reload()
    expect(page.get_by_role("heading", level=1, name="Domains")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="Webhooks")).to_be_visible()


def test_a_few_letters_lead_to_a_page(user: User) -> None:
    """Ctrl+K opens a window, which has what was typed before; Enter goes there, Esc forgets it.

    It finds what the account has too.
    """
    page = user.go("/app/")
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_focused()
    field = page.get_by_role(
        "combobox", name="Page, template, domain, key, member, endpoint or email"
    )
    with loading_slowly(user):
        page.keyboard.press("Control+k")
        page.keyboard.type("tok")
        page.keyboard.press("Enter")  # nothing is chosen yet
    expect(field).to_be_focused()
    expect(field).to_have_value("tok")
    page.keyboard.press("Escape")
    for letters, name in (("dns", "Domains"), ("token", "API keys"), ("", "Activity")):
        page.keyboard.press("Control+k")
        expect(field).to_be_focused()
        page.keyboard.type(letters)
        if not letters:
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1, name=name)).to_be_focused()
    page.keyboard.press("Control+k")
    expect(field).to_be_focused()
    page.keyboard.type("eve@shop.example")
    selected = page.locator("[role=option][aria-selected=true]")
    expect(selected).to_contain_text("Search all emails to eve@shop.example")
    field.fill("ship order")
    expect(selected).to_contain_text("Order shipped")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

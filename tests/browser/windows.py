"""The windows of the dashboard's pages, and how each of them treats the focus and its input."""

from typing import Final

from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.dashboard import User

#: Page -> the button that opens its window, and what the first field there takes.
WINDOWS: Final = {
    "Templates": ("New template", "Receipt"),
    "Domains": ("Add domain", "shop.example"),
    "Webhooks": ("Add endpoint", "https://shop.example/hooks"),
    "Suppressions": ("Add address", "ada@shop.example"),
    "API keys": ("Create key", "shop"),
    "Members": ("Invite member", "ada@shop.example"),
}
_REFUSAL: Final = {"code": "x", "message": "Refused for this test.", "type": "x"}


def opener(page: Page, name: str) -> Locator:
    """Return the main button of a page."""
    return page.locator("main header").get_by_role("button", name=WINDOWS[name][0])


def first_field(page: Page) -> Locator:
    """Return the first field of the open window."""
    return page.locator("dialog input").first


def visit(page: Page, name: str) -> None:
    """Open a page through the navigation, so that earlier answers are known."""
    page.get_by_role("navigation").get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def assert_keeps_input(user: User, name: str) -> None:
    """Fill the window of a page in with keys alone, send it in vain, and try to lose the input."""
    page, text = user.page, WINDOWS[name][1]
    main, dialog, field = opener(page, name), page.get_by_role("dialog"), first_field(page)
    expect(main).to_be_enabled()
    # Firefox's list of downloads may have the focus, and would get the key.
    page.get_by_role("heading", level=1).click()
    main.press("Enter")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")  # nothing is entered yet
    expect(dialog).to_have_count(0)
    expect(main).to_be_focused()
    page.keyboard.press("Enter")
    expect(field).to_be_focused()
    user.interfere = _refuse
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Refused for this test.")
    user.interfere = lambda _route: False
    for by_key in (True, False):
        if by_key:
            page.keyboard.press("Escape")
        else:
            page.mouse.click(5, 5)
        expect(dialog.last.get_by_role("button", name="Keep editing")).to_be_focused()
        page.keyboard.press("Enter")
        expect(dialog).to_have_count(1)
        expect(field).to_have_value(text)
        expect(field).to_be_focused()
    _select_to_the_outside(page, field)
    expect(dialog).to_have_count(1)
    expect(field).to_have_value(text)
    page.keyboard.press("Escape")
    dialog.last.get_by_role("button", name="Discard").press("Enter")
    expect(dialog).to_have_count(0)
    expect(main).to_be_focused()


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

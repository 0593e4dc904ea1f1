"""Signing in to the dashboard, its sessions and roles, on a real stack."""

import re
from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.accessibility import violations
from tests.browser.dashboard import HOSTILE, OWNER, RUN, User, link, session
from tests.browser.engines import PATIENCE
from tests.stack import operate

pytestmark = pytest.mark.stack


@pytest.fixture
def user(browser: Browser, dashboard: dict[str, Any]) -> Iterator[User]:
    """A profile without a session, whose pages must cause no error and no violation."""
    user = User(browser, dashboard)
    yield user
    user.close()


@pytest.fixture
def owner(user: User) -> str:
    assert session(user.base, OWNER, user.account["id"])
    return OWNER


def ask_for_code(page: Page, email: str, inbox: str) -> tuple[str, str]:
    page.get_by_label("Email address").fill(email)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Code")).to_be_focused()
    flow = page.evaluate("JSON.parse(localStorage.getItem('pillarbox.flow')).flow.split('.')[0]")
    found = httpx.get(
        f"{inbox}/messages/latest",
        params={"to": email, "q": flow, "wait": 60},
        timeout=PATIENCE / 1000,
    ).json()
    (url,) = (url for url in found["links"] if f"#{flow}." in url)
    return found["codes"][0], url


def test_sign_in_with_a_code(user: User, owner: str, stack: dict[str, Any]) -> None:
    """Six digits send themselves: a wrong code says so, the right one opens the page asked for.

    After a sign-out another tab asks for a new sign-in of the same user, and keeps what was typed.
    """
    page = user.go("/app/webhooks")
    right, _ = ask_for_code(page, owner, stack["inbox_url"])
    field = page.get_by_label("Code")
    field.press_sequentially(f"x{(int(right) + 1) % 10**6:06}")
    expect(page.get_by_role("alert")).to_have_text("This code is wrong or has expired.")
    expect(field).to_have_value("")
    page.reload()
    field.fill(right)
    heading = page.get_by_role("heading", name="Webhooks")
    expect(heading).to_be_visible()
    page.reload()
    expect(heading).to_be_visible()
    assert user.has_cookie()
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})").count("pbs_") == 0
    other = user.open("/app/webhooks")
    other.get_by_role("button", name="Add endpoint").click()
    typed = other.locator("input[type=url]")
    typed.fill("https://shop.example/hooks")
    page.locator("button.account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Email address")).to_be_visible()
    assert not user.has_cookie()
    page.reload()
    expect(page.get_by_label("Email address")).to_be_visible()
    # If the page has just asked for news, it knows already, and covers the field.
    typed.evaluate("field => field.form.requestSubmit()")
    expect(other.get_by_text("Your session has ended. Sign in again.")).to_be_visible()
    expect(other.get_by_label("Email address")).to_have_value(owner)
    again, _ = ask_for_code(other, owner, stack["inbox_url"])
    other.get_by_label("Code").fill(again)
    expect(typed).to_be_focused()
    expect(typed).to_have_value("https://shop.example/hooks")


def test_a_code_that_fails_takes_no_newer_input_away(user: User) -> None:
    """The next code stays if it is typed while the last one is refused, and so does the address."""
    asked: list[Route] = []

    def answer(route: Route) -> bool:
        if route.request.url.endswith("/v1/session/codes"):
            route.fulfill(json={"flow": "a.b.c"}, status=202)
        elif route.request.url.endswith("/v1/session"):
            asked.append(route)
        return not route.request.url.endswith("/v1/session/token")

    user.interfere = answer
    page = user.go("/app/")
    page.get_by_label("Email address").fill("ada@shop.example")
    page.keyboard.press("Enter")
    field = page.get_by_label("Code")
    field.fill("111111")
    expect(page.get_by_role("button", name="One moment…")).to_be_visible()
    field.fill("22")
    for route in asked:
        route.fulfill(json={"error": {"code": "x", "message": "x", "type": "x"}}, status=401)
    expect(page.get_by_role("alert")).to_contain_text("This code is wrong")
    expect(field).to_have_value("22")
    page.get_by_role("button", name="ask for a new code").click()
    expect(page.get_by_label("Email address")).to_have_value("ada@shop.example")


def test_sign_up_with_the_keyboard(user: User, stack: dict[str, Any]) -> None:
    page = user.go("/app/")
    code, _ = ask_for_code(page, f"new-{RUN}@acme.example", stack["inbox_url"])
    page.keyboard.type(code)
    expect(page.get_by_role("heading", name="You are in no account")).to_be_visible()
    field = page.get_by_label("Name of the account")
    expect(field).to_be_focused()
    page.keyboard.press("Enter")
    expect(field).to_be_focused()  # an account has a name
    assert violations(page) == []
    page.keyboard.type(HOSTILE)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="First steps")).to_be_visible()
    expect(page.locator("button.account b")).to_have_text(HOSTILE)
    assert page.evaluate("window.pwned") is None
    page.reload()
    expect(page.get_by_role("heading", name="First steps")).to_be_visible()
    expect(page.locator("button.account b")).to_have_text(HOSTILE)


@pytest.mark.both_browsers
def test_sign_in_with_a_link(user: User, owner: str) -> None:
    """The operator's link signs in only after a click, once, and its secret leaves the address.

    At http://localhost too, as at 127.0.0.1, a browser keeps the cookie, which is Secure.
    """
    page, base = user.page, user.base
    for host in ("127.0.0.1", "localhost"):
        page.goto("about:blank")  # the page before sends no more requests
        user.context.clear_cookies()
        user.base = base.replace("127.0.0.1", host)
        url = link(owner).replace(base, user.base)
        assert url.startswith(f"{user.base}/app/sign-in#")
        page.goto(url)
        button = page.get_by_role("button", name="Sign in", exact=True)
        expect(button).to_be_visible()
        assert not user.has_cookie()
        button.click()
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        assert page.url == f"{user.base}/app/"
        assert user.has_cookie()
    page.goto(url)
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("This link does not work: it was used")


def test_the_link_of_the_email(
    user: User, owner: str, browser: Browser, stack: dict[str, Any]
) -> None:
    page = user.go("/app/activity")
    code, url = ask_for_code(page, owner, stack["inbox_url"])
    elsewhere = User(browser, stack)
    elsewhere.page.goto(url)
    expect(elsewhere.page.get_by_text(f"Type it there: {code}")).to_be_visible()
    elsewhere.close()
    tab = user.open()
    tab.goto(url)
    tab.get_by_role("button", name="Sign in", exact=True).click()
    expect(tab.get_by_role("heading", name="Overview")).to_be_visible()
    expect(page.get_by_role("heading", name="Activity")).to_be_visible()


def test_tabs_show_the_accounts_that_the_user_has(user: User) -> None:
    email = f"tabs-{RUN}@acme.example"
    second = operate("account", "create", "--name", HOSTILE, "--plan", "free")["id"]
    operate("member", "add", email, "--account", user.account["id"], "--role", "viewer")
    user.sign_in(link(email, second))
    tabs = {"Shop": user.page, HOSTILE: user.open("/app/webhooks")}
    page = tabs[HOSTILE]
    page.locator("button.account").click()
    page.get_by_role("button", name=HOSTILE).click()
    expect(page.get_by_role("heading", name="No endpoints yet")).to_be_visible()
    for name, tab in tabs.items():
        tab.reload()
        expect(tab.locator("button.account b")).to_have_text(name)
    assert page.evaluate("window.pwned") is None
    _try_to_leave(user, page)
    operate("member", "remove", email, "--account", second, "--yes")
    operate("member", "remove", email, "--account", user.account["id"], "--yes")
    page.reload()
    expect(page.get_by_role("heading", name="You are in no account")).to_be_visible()
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_text(["Inbox of this stack"])
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_text("You are still in no account.")).to_be_visible()
    operate("member", "add", email, "--account", user.account["id"])
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_role("heading", name="Members")).to_be_visible()


def _try_to_leave(user: User, page: Page) -> None:
    """Leaving and another role, which needs two answers, are refused to the last owner."""
    dialog = page.locator("dialog")
    page.get_by_role("navigation").get_by_role("link", name="Members").click()
    with user.holding("PATCH") as changes:
        page.get_by_role("combobox").focus()
        page.keyboard.press("End")
        expect(page.get_by_role("combobox")).to_have_value("viewer")
        page.get_by_role("button", name="Save the role").click()
        expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Save the role").click()
        expect(dialog).to_contain_text("You can no longer change members")
        assert changes == []
        dialog.get_by_role("button", name="Make me a viewer").click()
    expect(dialog.get_by_role("alert").last).to_contain_text("An account needs an owner.")
    page.reload()
    expect(page.get_by_role("combobox")).to_have_value("owner")
    page.get_by_role("button", name="Leave the account").click()
    dialog.get_by_role("button", name="Leave the account").click()
    expect(dialog.get_by_role("alert").last).to_contain_text("An account needs an owner.")


#: What a viewer sees, by page: what is there when it has loaded, and its disabled buttons.
VIEWED: Final = {
    "templates": (".empty, .row", {"New template"}),
    "domains": (".empty, table", set()),
    "webhooks": (".row", set()),
    "suppressions": (".empty, table", {"Import", "Add address"}),
    "members": ("table", {"Invite member"}),
    "account": ("form.settings", {"Save"}),
}
WRITES: Final = re.compile(
    r"New\b|Add|Create|Import|Invite|Save|Remove|Leave|Make|Send|Disable|Enable|Delete|Publish"
)


def test_a_viewer_reads(browser: Browser, dashboard: dict[str, Any]) -> None:
    """A viewer sees each page, and no button or field that the service would refuse."""
    base, account = dashboard["base_url"], dashboard["accounts"]["live"]
    viewer = User(browser, dashboard, session(base, f"viewer-{RUN}@a.example", account, "viewer"))
    page = viewer.go("/app/")
    for name, (ready, disabled) in VIEWED.items():
        viewer.follow(f"/app/{name}", name.title())
        expect(page.locator("main").locator(ready).first).to_be_visible()
        buttons = page.locator("main").get_by_role("button", name=WRITES).all()
        assert [button.inner_text() for button in buttons if button.is_enabled()] == [], name
        assert disabled <= {button.inner_text().strip() for button in buttons}, name
    expect(page.get_by_label("Brand name")).to_be_disabled()
    viewer.follow("/app/members", "Members")
    expect(page.get_by_role("combobox").first).to_be_disabled()
    viewer.follow("/app/webhooks", "Webhooks").get_by_role(
        "link", name=dashboard["webhook"]["url"]
    ).click()
    expect(page.get_by_text("All events")).to_be_visible()
    expect(page.locator("main").get_by_role("button", name=WRITES)).to_have_count(0)
    viewer.go(f"/app/templates/{dashboard['template_id']}")
    expect(page.get_by_text("Owners, developers and authors edit templates.")).to_be_visible()
    source = page.get_by_role("textbox", name="Source")
    expect(source).to_have_attribute("aria-readonly", "true")
    before = source.inner_text()
    source.press_sequentially("typed")
    expect(source).to_have_text(before, use_inner_text=True)
    expect(page.frame_locator("iframe").locator("body")).not_to_be_empty()
    expect(page.get_by_label("Subject", exact=True)).not_to_be_editable()
    expect(page.locator("header").get_by_role("button", name=WRITES)).to_have_count(0)
    assert violations(page) == []
    viewer.close()

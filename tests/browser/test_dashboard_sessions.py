"""Signing in to the dashboard, its sessions and roles, in Chromium and Firefox, on a real stack."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.accessibility import violations
from tests.browser.chromium import PATIENCE
from tests.browser.dashboard import HOSTILE, OWNER, RUN, User, link, session
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
    """Return the address of an owner of the account."""
    assert session(user.base, OWNER, user.account["id"])
    return OWNER


def ask_for_code(page: Page, email: str, inbox: str) -> tuple[str, str]:
    """Ask for a code in the form; return the code and the link of the email."""
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


@pytest.mark.both_browsers
def test_sign_in_with_a_code(user: User, owner: str, stack: dict[str, Any]) -> None:
    """A wrong code says so; the right one opens the page that was asked for, until the sign-out."""
    page = user.go("/app/webhooks")
    right, _ = ask_for_code(page, owner, stack["inbox_url"])
    field = page.get_by_label("Code")
    field.press_sequentially(f"x{(int(right) + 1) % 10**6:06}")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("This code is wrong or has expired.")
    expect(field).to_have_value("")
    page.reload()
    field.fill(right)
    field.press("Enter")
    heading = page.get_by_role("heading", name="Webhooks")
    expect(heading).to_be_visible()
    page.reload()
    expect(heading).to_be_visible()
    assert user.has_cookie()
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})").count("pbs_") == 0
    page.locator("button.account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Email address")).to_be_visible()
    assert not user.has_cookie()
    page.reload()
    expect(page.get_by_label("Email address")).to_be_visible()


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
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="One moment…")).to_be_visible()
    field.fill("22")
    for route in asked:
        route.fulfill(json={"error": {"code": "x", "message": "x", "type": "x"}}, status=401)
    expect(page.get_by_role("alert")).to_contain_text("This code is wrong")
    expect(field).to_have_value("22")
    page.get_by_role("button", name="ask for a new code").click()
    expect(page.get_by_label("Email address")).to_have_value("ada@shop.example")


@pytest.mark.both_browsers
def test_sign_up_with_the_keyboard(user: User, stack: dict[str, Any]) -> None:
    """A new address gets a code, names an account and sees its first steps; a reload keeps them."""
    name = user.context.browser.browser_type.name  # type: ignore[union-attr]
    page = user.go("/app/")
    code, _ = ask_for_code(page, f"{name}-new-{RUN}@acme.example", stack["inbox_url"])
    page.keyboard.type(code)
    page.keyboard.press("Enter")
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
    """The operator's link signs in only after a click, once, and its secret leaves the address."""
    url = link(owner)
    assert url.startswith(f"{user.base}/app/sign-in#")
    page = user.page
    page.goto(url)
    button = page.get_by_role("button", name="Sign in", exact=True)
    expect(button).to_be_visible()
    assert not user.has_cookie()
    button.click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert page.url == f"{user.base}/app/"
    other = user.open()
    other.goto(url)
    other.get_by_role("button", name="Sign in", exact=True).click()
    expect(other.get_by_role("alert")).to_contain_text("This link does not work: it was used")


@pytest.mark.both_browsers
def test_the_link_of_the_email(
    user: User, owner: str, browser: Browser, stack: dict[str, Any]
) -> None:
    """It signs in where the code was asked for, in each tab; another browser shows the code."""
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


def test_a_token_is_renewed_until_the_session_ends(user: User, owner: str) -> None:
    """A new token replaces one that expires or is refused; a sign-out elsewhere ends the page."""
    user.page.goto(link(owner))
    tokens: list[str] = []

    def check(route: Route) -> bool:
        if "/v1/emails?" not in route.request.url:
            return False
        tokens.append(route.request.headers["authorization"])
        if tokens[-1] != tokens[0]:
            return False
        route.fulfill(status=401, json={"error": {"code": "x", "message": "x", "type": "x"}})
        return True

    user.page.clock.install()
    user.page.get_by_role("button", name="Sign in", exact=True).click()
    expect(user.page.get_by_role("heading", name="Overview")).to_be_visible()
    user.interfere = check
    user.page.get_by_role("navigation").get_by_role("link", name="Activity").click()
    expect(user.page.locator("a.row, .empty").first).to_be_visible()
    assert [*dict.fromkeys(tokens)] == [tokens[0], tokens[-1]]  # two, though a page reads twice
    user.page.clock.fast_forward("14:30")  # its last minute
    status = user.page.get_by_label("Status")
    with user.page.expect_response(lambda answer: "status=sent" in answer.url) as answer:
        status.select_option("sent")
    assert answer.value.status == 200
    assert len(set(tokens)) == 3
    other = user.open("/app/")
    other.locator("button.account").click()
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_label("Email address")).to_be_visible()
    status.select_option("failed")
    expect(user.page.get_by_text("Your session has ended. Sign in again.")).to_be_visible()


def test_tabs_show_the_accounts_that_the_user_has(user: User) -> None:
    """Each tab keeps its account; who leaves one sees the other, and who has none is told."""
    email = f"tabs-{RUN}@acme.example"
    second = operate("account", "create", "--name", HOSTILE, "--plan", "free")["id"]
    operate("member", "add", email, "--account", user.account["id"], "--role", "viewer")
    page = user.page
    user.sign_in(link(email, second))
    tabs = {"Shop": user.open("/app/webhooks"), HOSTILE: user.open("/app/webhooks")}
    expect(tabs[HOSTILE].locator("a.row").first).to_be_visible()
    tabs[HOSTILE].locator("button.account").click()
    tabs[HOSTILE].get_by_role("button", name=HOSTILE).click()
    expect(tabs[HOSTILE].get_by_role("heading", name="No endpoints yet")).to_be_visible()
    for name, tab in tabs.items():
        tab.reload()
        expect(tab.locator("button.account b")).to_have_text(name)
    assert tabs[HOSTILE].evaluate("window.pwned") is None
    operate("member", "remove", email, "--account", second, "--yes")
    tabs[HOSTILE].reload()
    expect(tabs[HOSTILE].locator("button.account b")).to_have_text("Shop")
    expect(tabs[HOSTILE].locator("a.row").first).to_be_visible()
    operate("member", "remove", email, "--account", user.account["id"], "--yes")
    page.reload()
    expect(page.get_by_role("heading", name="You are in no account")).to_be_visible()
    expect(page.get_by_text(f"You are signed in as {email}.")).to_be_visible()
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_count(0)
    assert violations(page) == []
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_text("You are still in no account.")).to_be_visible()
    operate("member", "add", email, "--account", user.account["id"])
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def test_a_viewer_sees_no_button_that_is_refused(
    browser: Browser, dashboard: dict[str, Any]
) -> None:
    """A viewer sees endpoints and deliveries, and none of the buttons that change them."""
    base, account = dashboard["base_url"], dashboard["accounts"]["live"]
    buttons = re.compile("Add endpoint|Send a test|Disable|Enable|Delete|Send again")
    seen: dict[str, int] = {}
    for role in ("owner", "viewer"):
        user = User(browser, dashboard, session(base, f"{role}-{RUN}@acme.example", account, role))
        page = user.go("/app/webhooks")
        row = page.get_by_role("link", name=dashboard["webhook"]["url"], exact=True)
        expect(row).to_be_visible()
        seen[role] = page.get_by_role("button", name=buttons).count()
        row.click()
        expect(page.get_by_text("All events")).to_be_visible()
        if role == "owner":
            page.get_by_role("button", name="Send a test").click()
        page.locator(".deliveries summary", has_text="webhook.test").first.click()
        expect(page.locator(".deliveries .actions").first).to_be_attached()
        seen[role] += page.get_by_role("button", name=buttons).count()
        user.close()
    assert seen == {"owner": 5, "viewer": 0}

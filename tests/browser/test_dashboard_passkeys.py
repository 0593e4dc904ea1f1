"""Passkeys in the dashboard, with Chromium's virtual authenticator, on a real stack."""

from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import Browser, CDPSession, Page, Route, expect

from tests.browser.accessibility import violations
from tests.browser.dashboard import RUN, User, session
from tests.browser.engines import PATIENCE
from tests.stack import AGENT

pytestmark = pytest.mark.stack

#: Chrome DevTools Protocol, domain WebAuthn: a device of its own that verifies its user by itself.
_DEVICE: Final = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def user(browser: Browser, dashboard: dict[str, Any]) -> Iterator[User]:
    """A signed-in owner at `localhost`: browsers know no passkeys for an IP address."""
    base = dashboard["base_url"].replace("127.0.0.1", "localhost")
    cookie = session(base, f"keen-{RUN}@acme.example", dashboard["accounts"]["live"])
    user = User(browser, dashboard | {"base_url": base}, cookie)
    yield user
    user.close()


def authenticator(page: Page) -> tuple[CDPSession, str]:
    """Plug a virtual authenticator into a page; return its id with what controls it."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    added = devtools.send("WebAuthn.addVirtualAuthenticator", {"options": _DEVICE})
    return devtools, added["authenticatorId"]


def _without_rights(route: Route) -> bool:
    """Answer the cookie as for an operator who has signed in without a passkey."""
    if not route.request.url.endswith("/v1/session/token"):
        return False
    answer = httpx.post(
        route.request.url,
        json={},
        headers=AGENT | route.request.all_headers() | {"Sec-Fetch-Site": "same-origin"},
        cookies={one["name"]: one["value"] for one in route.request.frame.page.context.cookies()},
        timeout=PATIENCE / 1000,
    )
    session = answer.json()
    session["user"]["passkeyNeeded"] = True
    route.fulfill(json=session | {"account": None, "role": None, "accounts": []})
    return True


def _sign_in_as_operator(user: User) -> None:
    user.interfere = _without_rights
    page = user.go("/app/activity")
    expect(page.get_by_text("You operate this service")).to_be_visible()
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_text(["Inbox of this stack"])
    assert violations(page) == []
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Activity")).to_be_visible()
    user.interfere = lambda _route: False
    user.go("/app/passkeys")


def test_a_passkey_from_its_first_day_to_its_last(user: User) -> None:
    """It is added, signs in without an address, is removed, and then signs in no more.

    An operator who has to sign in with one sees only this page, until it is used.
    """
    page = user.page
    devtools, device = authenticator(page)
    user.go("/app/")
    page.locator("button.account").click()
    page.get_by_role("link", name="Passkeys").click()
    expect(page.get_by_role("heading", name="You have no passkey")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Add passkey").click()
    name = page.get_by_label("Name")
    expect(name).to_be_focused()
    expect(name).to_have_value("Chrome on Linux")
    name.fill("My laptop")
    page.keyboard.press("Enter")
    row = page.get_by_role("row").filter(has_text="My laptop")
    expect(row).to_contain_text("Never")
    page.get_by_role("button", name="Add passkey").click()
    expect(name).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("This device has a passkey of yours already.")
    page.get_by_role("button", name="Cancel").click()
    assert violations(page) == []

    _sign_in_as_operator(user)
    page.locator("button.account").click()
    page.get_by_role("button", name="Sign out").first.click()
    button = page.get_by_role("button", name="Sign in with a passkey")
    expect(button).to_be_visible()
    devtools.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": False})
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("No passkey was used")
    devtools.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": True})
    page.get_by_label("Email address").press("Tab")
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(row).to_contain_text("this session")

    page.get_by_role("button", name="Remove My laptop").click()
    page.get_by_role("button", name="Remove passkey").click()
    expect(page.get_by_role("heading", name="You have no passkey")).to_be_visible()
    page.get_by_role("button", name="Sign out everywhere").click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out everywhere").click()
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("does not sign you in")
    assert not user.has_cookie()


def test_digits_lead_to_a_name(browser: Browser, dashboard: dict[str, Any]) -> None:
    """At 127.0.0.1, where no passkey works, the page links to itself at localhost."""
    base = dashboard["base_url"]
    cookie = session(base, f"digits-{RUN}@acme.example", dashboard["accounts"]["live"])
    user = User(browser, dashboard, cookie)
    here = user.go("/app/passkeys").get_by_role("link", name="Open this page at localhost")
    there = base.replace("127.0.0.1", "localhost")
    expect(here).to_have_attribute("href", f"{there}/app/passkeys")
    user.close()

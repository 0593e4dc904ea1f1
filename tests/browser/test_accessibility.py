"""Every page of the dashboard passes axe's rules for WCAG 2.2 A and AA."""

from typing import Any, Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.accessibility import assert_accessible
from tests.browser.dashboard import AT, DOMAIN, RECORD, RUN, User, answering, session
from tests.stack import operate

pytestmark = pytest.mark.stack

#: Page -> what is visible when its data is there.
PAGES: Final = {
    "/app/": ".quota",
    "/app/activity": "a.row",
    "/app/activity/{delivered}": ".timeline",
    "/app/webhooks": "a.row",
    "/app/keys": "table",
    "/app/suppressions": "table",
    "/app/members": "table",
    "/app/account": "form.settings",
    "/app/guides/domains": ".guide table",
    "/app/templates": "a.row",
    "/app/templates/{template}": ".checks li, .preview iframe",
}
OPERATORS_PAGES: Final = {
    "/app/operator/accounts": "a.row",
    "/app/operator/accounts/{account}": ".quota",
    "/app/operator/rates": ".figures",
    "/app/operator/queues": "table",
    "/app/operator/checks": "table",
}


def test_the_pages_meet_wcag_aa(user: User, emails: dict[str, str], stack: dict[str, Any]) -> None:
    """With data, light and dark, and within 360 pixels; a window too."""
    places = emails | {"template": stack["template_id"]}
    page = user.page
    for path, ready in PAGES.items():
        user.go(path.format_map(places))
        expect(page.locator(ready).first).to_be_visible()
        assert_accessible(page)
    user.go("/app/templates").get_by_role("button", name="New template").click()
    expect(page.get_by_label("Payment Receipt")).to_be_visible()
    assert_accessible(page)


def test_the_pages_of_domains_meet_wcag_aa(user: User) -> None:
    """Without data, and with names that are as long as the DNS allows."""
    answer = {"status": "differs", "values": ["x" * 300], "advice": "replace it"}
    records = [RECORD, RECORD | {"host": "u" * 60 + ".acme.example"}]
    domain = DOMAIN | {"status": "verified", "records": [one | {"dns": answer} for one in records]}
    senders = [
        {"address": f"{name * 20}@acme.example", "verified": name != "c", "default": name == "a"}
        for name in "abc"
    ]
    empty: dict[str, Any] = {"domains": [], "senders": []}
    full = {"domains": [domain], "domains/acme.example": domain, "senders": senders}
    for answers, path, ready in (
        (empty, "/app/domains", ".empty"),
        (full, "/app/domains", ".senders tbody tr"),
        (full, "/app/domains/acme.example", ".zone td code"),
    ):
        user.interfere = answering(**answers)
        page = user.go(path)
        expect(page.locator(ready).first).to_be_visible()
        assert_accessible(page)


def test_the_operators_pages_meet_wcag_aa(browser: Browser, dashboard: dict[str, Any]) -> None:
    """Those of accounts, rates, queues and checks, and the sign-ups that wait."""
    address = f"{RUN}@operator.example"
    operate("operator", "add", address)
    operator = User(browser, dashboard, session(dashboard["base_url"], address))
    waiting = [{"email": "ada@shop.example", "name": "Shop " * 20, "createdAt": AT}]
    operator.interfere = answering(**{"operator/sign-ups": waiting})
    page = operator.page
    for path, ready in (OPERATORS_PAGES | {"/app/operator/sign-ups": "table"}).items():
        operator.go(path.format_map({"account": operator.account["id"]}))
        expect(page.locator(ready).first).to_be_visible()
        assert_accessible(page)
    operator.close()


def test_the_sign_in_page_meets_wcag_aa(browser: Browser, dashboard: dict[str, Any]) -> None:
    """It is the first page that somebody without a session sees."""
    stranger = User(browser, dashboard)
    expect(stranger.go("/app/sign-in").locator("form")).to_be_visible()
    assert_accessible(stranger.page)
    stranger.close()

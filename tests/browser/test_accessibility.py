"""Every page of the dashboard passes axe's rules for WCAG 2.2 A and AA."""

from typing import Any, Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.accessibility import assert_accessible
from tests.browser.dashboard import AT, DOMAIN, RECORD, RUN, User, answering, session
from tests.stack import operate

pytestmark = pytest.mark.stack

#: Page -> its title, and what is visible when its data is there.
PAGES: Final = {
    "/app/": ("Overview", ".quota"),
    "/app/activity": ("Activity", "a.row"),
    "/app/activity/{delivered}": ("Activity", ".timeline"),
    "/app/webhooks": ("Webhooks", "a.row"),
    "/app/keys": ("API keys", "table"),
    "/app/suppressions": ("Suppressions", "table"),
    "/app/members": ("Members", "table"),
    "/app/account": ("Account", "form.settings"),
    "/app/guides/domains": ("Verify a domain", ".guide table"),
    "/app/templates/{template}": ("Order shipped", ".checks li, .preview iframe"),
    "/app/templates": ("Templates", "a.row"),
}
OPERATORS_PAGES: Final = {
    "/app/operator/accounts": ("Accounts", "a.row"),
    "/app/operator/accounts/{account}": ("Shop", ".quota"),
    "/app/operator/rates": ("Rates", ".figures"),
    "/app/operator/queues": ("Queues", "table"),
    "/app/operator/checks": ("Checks", "table"),
    "/app/operator/sign-ups": ("Sign-ups", "table"),
}


def test_the_pages_meet_wcag_aa(user: User, emails: dict[str, str], stack: dict[str, Any]) -> None:
    """With data, light and dark, and within 360 pixels; a window too."""
    page = user.go("/app/")
    for path, (title, ready) in PAGES.items():
        user.follow(path.format_map(emails | {"template": stack["template_id"]}), title)
        expect(page.locator(ready).first).to_be_visible()
        assert_accessible(page)
    page.get_by_role("button", name="New template").click()
    expect(page.get_by_label("Payment Receipt")).to_be_visible()
    assert_accessible(page)


def test_the_pages_of_domains_meet_wcag_aa(user: User) -> None:
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
    address = f"{RUN}@operator.example"
    operate("operator", "add", address)
    operator = User(browser, dashboard, session(dashboard["base_url"], address))
    waiting = [{"email": "ada@shop.example", "name": "Shop " * 20, "createdAt": AT}]
    operator.interfere = answering(**{"operator/sign-ups": waiting})
    page = operator.go("/app/operator")
    for path, (title, ready) in OPERATORS_PAGES.items():
        operator.follow(path.format_map({"account": operator.account["id"]}), title)
        expect(page.locator(ready).first).to_be_visible()
        assert_accessible(page)
    operator.close()


def test_the_sign_in_page_meets_wcag_aa(browser: Browser, dashboard: dict[str, Any]) -> None:
    stranger = User(browser, dashboard)
    expect(stranger.go("/app/sign-in").locator("form")).to_be_visible()
    assert_accessible(stranger.page)
    stranger.close()

"""Domains, senders and the first steps in the dashboard, with the running local stack."""

import re
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, Route, expect

from openapi.examples import ANALYTICS
from tests.browser.accessibility import violations
from tests.browser.dashboard import AT, DOMAIN, OVERVIEW, RECORD, RUN, User, answering, assert_found
from tests.stack import PATIENCE

pytestmark = pytest.mark.stack


def test_a_domain_from_its_first_record_to_its_removal(user: User, stack: dict[str, Any]) -> None:
    # The stand-in for the DNS has no records of this domain until the test publishes them.
    name = f"d{uuid4().hex[:8]}.unverified.example"
    page = user.go("/app/domains")
    page.get_by_role("button", name="Add domain").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Domain").fill("not a domain")
    dialog.get_by_role("button", name="Add domain").click()
    expect(dialog.get_by_role("alert")).to_have_text("The domain is not a valid name.")
    dialog.get_by_label("Domain").fill(name)
    dialog.get_by_role("button", name="Add domain").click()
    expect(page).to_have_url(f"{user.base}/app/domains/{name}")
    answers = page.locator(".zone .badge")
    expect(answers).to_have_text(["not found"])
    expect(page.locator(".state")).to_contain_text("One record first")
    _publish(stack, name)
    page.reload()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    assert_found(answers, 8, page.reload)
    expect(page.locator(".state .badge")).to_have_text("verified")

    _assert_zone(user, name)

    page.go_back()
    expect(page.get_by_role("row", name=name)).to_contain_text("verified")
    page.get_by_role("button", name="Add sender").click()
    dialog.get_by_label("Address").fill("hello@elsewhere.example")
    dialog.get_by_role("button", name="Add sender").click()
    expect(dialog.get_by_role("alert")).to_contain_text("not a verified domain of the account")
    # A new form, because Playwright cannot empty a field for addresses in Firefox.
    dialog.get_by_role("button", name="Cancel").click()
    user.follow(f"/app/domains/{name}", name).get_by_role("button", name="Add sender").click()
    dialog.get_by_label("Address").fill(f"hello+{RUN}@{name}")
    dialog.get_by_role("button", name="Add sender").click()
    expect(dialog).to_have_count(0)
    row = page.get_by_role("row", name=f"hello+{RUN}@{name}")
    default = page.locator("tr", has=page.locator(".badge", has_text="default"))
    former = default.locator("td").first.inner_text()
    row.get_by_role("button", name="Make default").click()
    expect(default).to_contain_text(name)
    page.locator("tr", has_text=former).get_by_role("button", name="Make default").click()
    expect(row.get_by_role("button", name="Make default")).to_be_visible()

    _remove(user, name)
    expect(dialog.get_by_role("alert")).to_contain_text("Remove them first")
    user.go("/app/domains")
    row.get_by_role("button", name="Remove").click()
    dialog.get_by_role("button", name="Remove the sender").click()
    expect(row).to_have_count(0)
    _remove(user, name)
    expect(page).to_have_url(f"{user.base}/app/domains")
    expect(page.get_by_role("row", name=name)).to_have_count(0)
    user.go(f"/app/domains/{name}")
    expect(page.get_by_role("alert")).to_contain_text("no such domain")


def test_whoever_manages_the_dns_needs_no_account(
    user: User, browser: Browser, stack: dict[str, Any]
) -> None:
    """The link shows the first record, then all that follow, until a member ends it.

    It is shown only once: its window stays open, also while the member has to sign in again.
    """
    name = f"d{uuid4().hex[:8]}.unverified.example"
    page = user.go("/app/domains")
    page.get_by_role("button", name="Add domain").click()
    page.get_by_role("dialog").get_by_label("Domain").fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Add domain").click()
    page.get_by_role("button", name="Share records").click()
    user.interfere = _ended
    page.get_by_role("button", name="Create a link").click()
    expect(page.get_by_text("Your session has ended. Sign in again.")).to_be_visible()
    user.interfere = lambda _route: False
    page.evaluate("dispatchEvent(new StorageEvent('storage', {key: 'pillarbox.flow'}))")
    expect(page.get_by_label("Email address")).to_have_count(0)
    page.keyboard.press("Escape")
    page.mouse.click(5, 5)
    link = page.get_by_role("dialog").locator("pre").inner_text()
    page.get_by_role("button", name="I have copied it").click()
    stranger = User(browser, stack)
    shown = stranger.go(link.removeprefix(user.base))
    expect(shown.get_by_role("heading", name=f"DNS records of {name}")).to_be_visible()
    expect(shown.locator(".state")).to_contain_text("One record first")
    assert not stranger.has_cookie()
    _publish(stack, name)
    again = shown.get_by_role("button", name="Ask again").click
    again()
    assert_found(shown.locator(".zone .badge"), 8, again)
    assert violations(shown) == []
    page.get_by_role("button", name="End the link").click()
    expect(page.get_by_role("button", name="End the link")).to_have_count(0)
    again()
    expect(shown.get_by_role("alert")).to_contain_text("This link does not work")
    stranger.close()
    _remove(user, name)


def _ended(route: Route) -> bool:
    """Answer reads and the cookie as if the session had ended, until another tab begins one."""
    if route.request.method == "POST" and not route.request.url.endswith("/v1/session/token"):
        return False
    error = {"code": "invalid_session", "message": "x", "type": "x"}
    route.fulfill(status=401, json={"error": error})
    return True


def _publish(stack: dict[str, Any], domain: str) -> None:
    """Let the DNS have the records of a domain, and let SES find them."""
    httpx.put(
        f"{stack['inbox_url']}/identities/{domain}", json={"status": "SUCCESS"}, timeout=PATIENCE
    ).raise_for_status()


def _assert_zone(user: User, domain: str) -> None:
    """Check that the zone file proves the account and has the three keys of DKIM."""
    link = user.page.get_by_role("link", name="Zone file")
    zone = unquote(link.get_attribute("href") or "")
    owner = rf"{user.account['id']}\._pillarbox\.{domain}\. 3600 IN TXT "
    assert re.search(owner + f'"pillarbox-account={user.account["id"]}"\n', zone)
    assert len(re.findall(r" IN CNAME \w+\.dkim\.amazonses\.com\.\n", zone)) == 3


def _remove(user: User, domain: str) -> None:
    user.go(f"/app/domains/{domain}").get_by_role("button", name="Remove").click()
    user.page.get_by_role("button", name="Remove the domain").click()


def test_the_overview_leads_a_new_account(user: User, emails: dict[str, str]) -> None:
    assert emails
    figures = ANALYTICS | {"totalMessages": 0}
    user.interfere = answering(domains=[], overview=OVERVIEW, **{"emails/analytics": figures})
    page = user.go("/app/")
    steps = page.locator(".checklist li")
    expect(steps).to_have_count(5)
    expect(page.locator(".checklist .done")).to_have_count(0)
    expect(steps.get_by_role("link")).to_have_count(5)
    expect(page.locator(".checklist .primary")).to_have_text("Add a domain")
    assert violations(page) == []
    user.interfere = lambda _route: False  # the account of the stack has sent and has an endpoint
    page.reload()
    expect(page.locator(".quota").first).to_be_visible()
    expect(steps).to_have_count(0)


def test_the_overview_says_what_needs_attention(user: User) -> None:
    """A failed domain and a quota above 80 % are named, each with a link."""
    limit = {"name": "month", "limit": 100, "used": 81, "remaining": 19, "resetsAt": AT}
    user.interfere = answering(
        domains=[DOMAIN | {"status": "failed", "records": [RECORD]}],
        overview=OVERVIEW | {"account": OVERVIEW["account"] | {"limits": [limit]}},
    )
    page = user.go("/app/")
    items = page.locator(".attention li")
    expect(items.filter(has_text="acme.example")).to_contain_text("no longer has the DKIM records")
    expect(items.filter(has_text="81%")).to_contain_text("Emails this month")
    items.get_by_role("link", name="See the records").click()
    expect(page).to_have_url(f"{user.base}/app/domains/acme.example")


def test_a_failed_domain_is_checked_again(user: User) -> None:
    domain = DOMAIN | {"status": "failed", "records": []}

    def answer(route: Route) -> bool:
        if not route.request.url.endswith("/v1/domains/acme.example"):
            return False
        if route.request.method == "POST":
            domain["status"] = "pending"
        route.fulfill(json=domain)
        return True

    user.interfere = answer
    page = user.go("/app/domains/acme.example")
    page.get_by_role("button", name="Check again").click()
    expect(page.get_by_text("The provider looks for the records again.")).to_be_visible()
    expect(page.locator(".state")).to_contain_text("pending")
    expect(page.get_by_role("button", name="Check again")).to_have_count(0)

"""The dashboard in Chromium and Firefox, with the running local stack."""

import gzip
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from local.dashboard import DIST
from tests.browser.accessibility import assert_accessible
from tests.browser.chromium import PATIENCE
from tests.browser.dashboard import HOSTILE, OWNER, RUN, User, session
from tests.stack import AGENT, wait_for

pytestmark = pytest.mark.stack

#: Members whose values tenants, recipients or servers choose.
FREE: Final = {
    *("subject", "fromName", "errorMessage", "message", "reason", "code", "recipient", "error"),
    *("recipientEmail", "from", "to", "cc", "bcc", "url", "name", "starterTemplate", "requestId"),
    *("providerMessageId", "tags", "types"),
}


ADDRESSES: Final = {
    "delivered": f"{RUN}@example.com",
    "bounced": f"bounce+{RUN}@simulator.amazonses.com",
}


@pytest.fixture
def user(browser: Browser, dashboard: dict[str, Any]) -> Iterator[User]:
    """A signed-in owner, whose pages must cause no error and no violation of the policy."""
    cookie = session(dashboard["base_url"], OWNER, dashboard["accounts"]["live"])
    user = User(browser, dashboard, cookie)
    yield user
    user.close()


@pytest.fixture(scope="module")
def emails(stack: dict[str, Any]) -> dict[str, str]:
    """The ids of an email that arrived and of one that bounced."""
    return _send(stack["base_url"], stack["keys"]["live"])


@cache
def _send(base: str, key: str) -> dict[str, str]:
    """Send both once for all modules: the address of a bounce is suppressed afterwards."""
    ids = {}
    with httpx.Client(
        base_url=f"{base}/api/v1",
        headers={"X-API-Key": key} | AGENT,
        timeout=PATIENCE / 1000,
    ) as api:
        for status, address in ADDRESSES.items():
            sent = api.post(
                "/emails",
                json={
                    "to": address,
                    "subject": f"The {status} one",
                    "html": "<p>Hello</p>",
                    "tags": {"run": RUN},
                },
            )
            ids[status] = sent.json()["messageId"]
        wait_for(lambda: [api.get(f"/emails/{ids[s]}").json()["status"] for s in ids] == [*ids])
    return ids


def rows(page: Page) -> Any:
    return page.locator("a.row")


def drawer(page: Page) -> Any:
    return page.locator("dialog.drawer")


def test_the_shell_is_small(user: User, emails: dict[str, str]) -> None:
    """Page, script, style and icon come in at most 6 requests and 40 KB of gzip."""
    paths: list[str] = []
    user.page.on("request", lambda request: paths.append(request.url.removeprefix(user.base)))
    user.go(f"/app/activity/{emails['delivered']}")
    expect(drawer(user.page).locator(".timeline")).to_be_visible()
    files = {path for path in paths if not path.startswith("/api/")}
    names = {"app/index.html"} | {path[1:] for path in files if path.startswith("/assets/")}
    assert len(names) == len(files) <= 6
    assert sum(len(gzip.compress((DIST / name).read_bytes())) for name in names) <= 40_000


@pytest.mark.both_browsers
def test_pages_links_and_history(user: User, emails: dict[str, str]) -> None:
    """Links, Back, a reload and an address of its own work on each page."""
    page = user.go("/")
    expect(page).to_have_url(f"{user.base}/app/")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    expect(page.locator(".figures dd").first).not_to_have_text("0")
    page.get_by_role("navigation").get_by_role("link", name="Activity").click()
    expect(page.get_by_role("heading", name="Activity")).to_be_visible()
    row = page.get_by_role("link", name=ADDRESSES["delivered"])
    row.click()
    expect(page).to_have_url(re.compile(f"/app/activity/{emails['delivered']}$"))
    expect(drawer(page).locator(".timeline")).to_contain_text("Delivered")
    page.go_back()
    expect(drawer(page)).to_have_count(0)
    page.go_forward()
    expect(drawer(page)).to_contain_text("The delivered one")
    page.reload()
    expect(drawer(page)).to_contain_text(ADDRESSES["delivered"])
    page.keyboard.press("Escape")
    expect(drawer(page)).to_have_count(0)
    expect(page).to_have_url(f"{user.base}/app/activity")
    page.get_by_role("navigation").get_by_role("link", name="Webhooks").click()
    rows(page).first.click()
    expect(page.get_by_role("heading", name="Deliveries of the last 30 days")).to_be_visible()
    page.reload()
    expect(page.locator(".deliveries summary").first).to_contain_text("delivered")
    page.go_back()
    expect(page.get_by_role("heading", name="Webhooks")).to_be_visible()
    user.go("/app/nothing")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()


def test_the_chart_counts_each_email_once_by_its_status(user: User) -> None:
    """Bars of six hours add up what has each status now, and not what ever bounced or failed."""
    now = {"pending": 1, "sent": 2, "delivered": 3, "bounced": 4, "complained": 5, "failed": 6}
    ever = {"count": 21, "sent": 20, "delivered": 19, "bounced": 18, "complained": 17, "failed": 16}

    def rewrite(answer: Any) -> Any:
        for row in answer.get("volume", []) if isinstance(answer, dict) else []:
            row.update(ever, statuses=now)
        return answer

    user.rewrite = rewrite
    page = user.go("/app/?range=7d")
    page.get_by_text("The figures as a table").click()
    bars = page.get_by_role("row").filter(has=page.get_by_role("cell"))
    expect(bars).to_have_count(28)
    for bar in (bars.first, bars.last):
        expect(bar.get_by_role("cell")).to_have_text(["18", "18", "30", "24", "36"])


def test_the_address_holds_the_filters(user: User, emails: dict[str, str]) -> None:
    """Filters change the address, survive a reload and go with Back; an id opens its email."""
    page = user.go(f"/app/activity?tag=run:{RUN}")
    expect(rows(page)).to_have_count(2)
    page.get_by_label("Status").select_option("bounced")
    expect(rows(page)).to_have_text([ADDRESSES["bounced"]])
    assert "status=bounced" in page.url
    page.reload()
    expect(rows(page)).to_have_text([ADDRESSES["bounced"]])
    page.go_back()
    expect(rows(page)).to_have_count(2)
    search = page.get_by_role("searchbox")
    search.fill(RUN)
    search.press("Enter")
    expect(rows(page)).to_have_text([ADDRESSES["delivered"]])
    search.fill(emails["bounced"])
    search.press("Enter")
    expect(drawer(page)).to_contain_text("The bounced one")
    user.go("/app/activity?tag=no:such")
    expect(page.get_by_role("heading", name="No email matches")).to_be_visible()
    user.go(f"/app/activity/{uuid4()}")
    expect(drawer(page)).to_contain_text("This account has no email")


def test_emails_of_a_key_and_of_a_template_are_listed(user: User, emails: dict[str, str]) -> None:
    """An email leads to those of its key; menus choose key and template, also unknown ones."""
    page = user.go(f"/app/activity/{emails['delivered']}")
    link = drawer(page).get_by_role("link", name=re.compile("^key_"))
    key_id = link.inner_text()
    link.click()
    expect(page).to_have_url(f"{user.base}/app/activity?key={key_id}")
    key, template = (page.get_by_role("combobox", name=name) for name in ("API key", "Template"))
    expect(key).to_have_value(key_id)
    expect(key.locator("option:checked")).not_to_have_text(key_id)
    expect(page.get_by_role("link", name=ADDRESSES["delivered"])).to_be_visible()
    page = user.go(f"/app/activity?key={key_id}&tag=run:{RUN}")
    expect(rows(page)).to_have_count(2)
    template.select_option("trial_ending")
    expect(page.get_by_role("heading", name="No email matches")).to_be_visible()
    page.reload()
    expect(template.locator("option:checked")).to_have_text("Trial ending reminder")
    page.go_back()
    expect(rows(page)).to_have_count(2)
    user.go("/app/activity?key=key_0123456789ababcdefgh")
    expect(key.locator("option:checked")).to_have_text("key_0123456789ababcdefgh")
    page.get_by_role("button", name="Show all emails").click()
    expect(page).to_have_url(f"{user.base}/app/activity")
    expect(rows(page).first).to_be_visible()


@pytest.mark.both_browsers
def test_the_keyboard_is_enough(user: User, emails: dict[str, str]) -> None:
    """A search, an email and the way back need no pointer, and the focus returns to the row."""
    page = user.go("/app/activity")
    expect(page.get_by_role("link", name=ADDRESSES["delivered"])).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type(RUN)
    page.keyboard.press("Enter")
    row = page.get_by_role("link", name=ADDRESSES["delivered"])
    expect(rows(page)).to_have_count(1)
    for _ in range(20):  # a date has up to five places
        if row.evaluate("node => node === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(row).to_be_focused()
    page.keyboard.press("Enter")
    expect(drawer(page)).to_contain_text("The delivered one")
    assert emails["delivered"] in page.url
    page.keyboard.press("Escape")
    expect(row).to_be_focused()


def _hostile(value: Any, *, free: bool = False) -> Any:
    match value:
        case dict():
            return {
                name: part if "resetsAt" in value else _hostile(part, free=free or name in FREE)
                for name, part in value.items()
            }
        case list():
            return [_hostile(item, free=free) for item in value]
        case str() if free:
            return HOSTILE
    return value


@pytest.mark.both_browsers
def test_hostile_text_is_only_text(user: User, emails: dict[str, str]) -> None:
    """Markup in any text of a tenant, a recipient or a server is shown, and does nothing."""
    user.rewrite = _hostile
    page = user.page
    for path, ready in (
        ("/app/", ".errors li"),
        ("/app/activity", "a.row"),
        (f"/app/activity/{emails['bounced']}", ".reason"),
        ("/app/webhooks", "a.row"),
    ):
        user.go(path)
        expect(page.locator(ready).first).to_contain_text(HOSTILE)
        expect(page.locator(ready).first).to_be_visible()
        expect(page.get_by_text(HOSTILE).first).to_be_attached()
        markup = "#app script, #app [onerror], #app [onload], #app img:not([alt=''])"
        assert page.locator(markup).count() == 0
        assert page.evaluate("window.pwned") is None
        assert user.violations() == []


@pytest.mark.both_browsers
def test_data_stays_while_the_service_is_down(user: User, emails: dict[str, str]) -> None:
    """A page keeps its data and says since when; it recovers, and a first load waits."""
    assert emails
    user.page.clock.install()
    page = user.go(f"/app/activity?tag=run:{RUN}")
    expect(rows(page)).to_have_count(2)

    def fail(route: Route) -> bool:
        route.abort()
        return True

    user.interfere = fail
    page.clock.fast_forward(12_000)
    expect(page.get_by_text("The service does not answer. You see the data of")).to_be_visible()
    expect(rows(page)).to_have_count(2)
    user.interfere = lambda _route: False
    page.get_by_role("button", name="Ask now").click()
    expect(page.get_by_text("The service does not answer.")).to_have_count(0)
    user.interfere = fail
    page.reload()
    expect(page.get_by_text("The service does not answer.")).to_be_visible()
    user.interfere = lambda _route: False
    page.clock.fast_forward(12_000)
    expect(rows(page)).to_have_count(2)


@pytest.mark.both_browsers
def test_a_slow_service_is_named(user: User, emails: dict[str, str]) -> None:
    """After three seconds the page says that the service is slow, and then shows its data."""
    assert emails
    held: list[Route] = []

    def hold(route: Route) -> bool:
        if "/v1/emails" not in route.request.url or held:
            return False
        held.append(route)
        return True

    user.interfere = hold
    page = user.go("/app/activity")
    expect(page.get_by_text("The service is slow to answer.")).to_be_visible()
    user._api(held[0])
    expect(rows(page).first).to_be_visible()
    expect(page.get_by_text("The service is slow to answer.")).to_have_count(0)


def test_a_hidden_page_asks_for_nothing(user: User, emails: dict[str, str]) -> None:
    """A visible page asks again, more and more seldom; a hidden one only when it is shown again."""
    assert emails
    asked: list[str] = []
    user.page.on("request", lambda request: asked.append(request.url))
    user.page.clock.install()
    page = user.go(f"/app/activity?tag=run:{RUN}")
    expect(rows(page)).to_have_count(2)

    def polls() -> int:
        return len([url for url in asked if "/v1/emails" in url])

    assert polls() == 1
    for wanted in (2, 3):
        page.clock.run_for(12_000)
        _wait_until(page, polls, wanted)
    page.evaluate(
        "Object.defineProperty(document, 'hidden', {get: () => window.away, configurable: true});"
        "window.away = true"
    )
    page.clock.run_for(120_000)
    page.wait_for_timeout(200)
    assert polls() == 3
    page.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")
    _wait_until(page, polls, 4)


def _wait_until(page: Page, number: Callable[[], int], wanted: int) -> None:
    """Wait until a number is reached, while the browser goes on."""

    def look() -> bool:
        page.wait_for_timeout(50)
        return number() == wanted

    wait_for(look)


def test_a_webhook_from_its_creation_to_its_end(user: User, stack: dict[str, Any]) -> None:
    """An endpoint is added, its secret shown once, tested, its delivery sent again, and deleted."""
    page = user.go("/app/webhooks")
    page.get_by_role("button", name="Add endpoint").click()
    url = f"{stack['inbox_url']}/hooks/{RUN}-{user.context.browser.browser_type.name}"  # type: ignore[union-attr]
    page.get_by_label("Address").fill(url)
    page.get_by_role("dialog").get_by_role("button", name="Add endpoint").click()
    expect(page.locator("dialog pre")).to_contain_text("whsec_")
    for _ in range(3):
        page.keyboard.press("Escape")
    page.mouse.click(5, 5)
    expect(page.locator("dialog pre")).to_contain_text("whsec_")
    expect(page.get_by_role("heading", name="Save the secret now")).to_be_focused()
    page.get_by_role("button", name="I have saved it").click()
    expect(page.get_by_text(url)).to_be_visible()
    page.get_by_role("button", name="Send a test").click()
    delivery = page.locator(".deliveries li", has_text="webhook.test")
    expect(delivery.locator("summary")).to_contain_text("delivered")
    delivery.locator("summary").click()
    delivery.get_by_role("button", name="Send again").click()
    expect(page.get_by_text("The event will be sent again.")).to_be_visible()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete the endpoint").click()
    expect(page).to_have_url(f"{user.base}/app/webhooks")
    expect(page.get_by_text(url)).to_have_count(0)


PLACES: Final = {
    "/app/": ".quota",
    "/app/activity": "a.row",
    "/app/activity/{delivered}": ".timeline",
    "/app/webhooks": "a.row",
    "/app/sign-in": "form",
}


@pytest.mark.both_browsers
@pytest.mark.parametrize("path", PLACES)
def test_the_pages_meet_wcag_aa(user: User, emails: dict[str, str], path: str) -> None:
    """Each page passes axe's rules for WCAG 2.2 A and AA, light and dark, and fits 360 pixels."""
    page = user.go(path.format_map(emails))
    expect(page.locator(PLACES[path]).first).to_be_visible()
    assert_accessible(page)

"""A customer got no email: support finds it, reads it and sends it again, with keys alone."""

import email
import email.policy
import re
from typing import Any
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessibility import assert_accessible, violations
from tests.browser.dashboard import User, drawer_of, window_of
from tests.stack import AGENT, PATIENCE, send_email, wait_for

pytestmark = pytest.mark.stack

_HTML = (
    '<p>Your order <b>4711</b></p><a href="https://shop.example/cancel">Cancel the order</a>'
    "<script>parent.pwned = 1</script>"
)


def _tab_to(page: Page, target: Locator) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(30):
        if target.evaluate("node => node === document.activeElement"):
            return
        page.keyboard.press("Tab")
    expect(target).to_be_focused()


def _keep(owner: User, days: int) -> None:
    """Choose for how many days content is kept, in the window of the account's page."""
    page = owner.go("/app/account")
    page.get_by_role("button", name=re.compile("Keep content…|Change content…")).click()
    expect(window_of(page).get_by_label("Days")).to_be_focused()
    expect(window_of(page)).to_contain_text("owners and developers of this account")
    assert violations(page, within="dialog[open]") == []
    page.keyboard.press("Control+a")
    page.keyboard.type(str(days))
    page.keyboard.press("Enter")
    text = f"Kept for {days} days after an email is sent." if days else "Not kept."
    expect(page.get_by_text(text)).to_be_visible()


def _deliver(stack: dict[str, Any], to: str) -> str:
    """Send an email, wait until it is delivered, and return its id."""
    key = stack["keys"]["live"]
    sent = send_email(stack, key, to=to, subject="Your order 4711", html=_HTML).json()["messageId"]
    url, headers = f"{stack['base_url']}/api/v1/emails/{sent}", AGENT | {"X-API-Key": key}
    wait_for(lambda: httpx.get(url, headers=headers).json()["status"] == "delivered")
    return str(sent)


@pytest.fixture
def owner(user: User) -> Any:
    """An owner of an account that keeps content while the test runs."""
    _keep(user, 7)
    yield user
    user.interfere = lambda _route: False
    _keep(user, 0)


def _find(page: Page, customer: str) -> None:
    """Jump to the emails of an address, and open the only one."""
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_focused()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Page, template")).to_be_focused()
    page.keyboard.type(customer)
    page.keyboard.press("Enter")
    row = page.get_by_role("link", name=customer)
    expect(row).to_be_visible()
    _tab_to(page, row)
    page.keyboard.press("Enter")


def _read(page: Page) -> None:
    """Read the email, its text part and its HTML in the drawer; nothing of it does anything."""
    drawer = drawer_of(page)
    frame = drawer.frame_locator("iframe")
    expect(frame.get_by_text("Your order 4711")).to_be_visible()
    expect(drawer.get_by_role("button", name="Hide the content")).to_be_focused()
    link = frame.get_by_text("Cancel the order")
    expect(link).to_have_attribute("title", "https://shop.example/cancel")
    assert link.get_attribute("href") is None
    assert page.evaluate("window.pwned") is None
    assert_accessible(page, "dialog.drawer")
    _tab_to(page, drawer.get_by_role("radio", name="email"))
    page.keyboard.press("ArrowRight")
    expect(drawer.get_by_role("region", name="Text part")).to_contain_text("Your order 4711")
    page.keyboard.press("ArrowRight")
    source = drawer.get_by_role("region", name="HTML of the email")
    expect(source).to_contain_text('<a href="https://shop.example/cancel"')


def _send_again(owner: User, customer: str, other: str) -> list[str]:
    """Send the email to another address; the first answer is lost. Return the requests' keys."""
    page, window = owner.page, window_of(owner.page)
    _tab_to(page, drawer_of(page).get_by_role("button", name="Send again…"))
    page.keyboard.press("Enter")
    expect(window.get_by_role("radio", name=customer)).to_be_focused()
    page.keyboard.press("ArrowDown")
    _tab_to(page, window.get_by_role("textbox"))
    page.keyboard.type(other)
    assert_accessible(page, "dialog.window")
    keys = owner.lose_answer("/resend")
    page.keyboard.press("Enter")
    expect(window.get_by_role("alert")).to_contain_text("The service does not answer.")
    page.keyboard.press("Enter")
    expect(window).to_have_count(0)
    return keys


def test_support_finds_reads_and_sends_again_by_keyboard(
    owner: User, stack: dict[str, Any]
) -> None:
    customer, other = f"{uuid4().hex}@example.com", f"{uuid4().hex}@example.com"
    first = _deliver(stack, customer)
    page, drawer = owner.go("/app/"), drawer_of(owner.page)
    readings: list[str] = []
    page.on(
        "request",
        lambda one: readings.extend([one.url] if one.url.endswith("/kept") else []),
    )
    _find(page, customer)
    read = drawer.get_by_role("button", name="Read the content")
    expect(read).to_be_visible()
    assert not readings  # each is a decision
    _tab_to(page, read)
    page.keyboard.press("Enter")
    _read(page)
    assert readings == [f"{owner.base}/api/v1/emails/{first}/kept"]
    assert_file(owner, drawer, first)
    keys = _send_again(owner, customer, other)
    assert (len(keys), len({*keys})) == (2, 1)
    expect(page).not_to_have_url(re.compile(first))
    expect(drawer.locator(".state")).to_contain_text("delivered")
    expect(drawer.locator(".facts")).to_contain_text(other)
    assert mails_to(stack, other) == 1
    repeats = drawer.get_by_role("button", name=first)
    copy = page.url.rpartition("/")[2].partition("?")[0]
    _tab_to(page, repeats)
    page.keyboard.press("Enter")
    expect(drawer.get_by_role("button", name=copy)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    account = owner.go("/app/account")
    entries = account.locator(".timeline li").filter(has_text=first)
    expect(entries.filter(has_text="Email sent again").first).to_be_visible()
    account.get_by_label("who read content").check()
    expect(entries.filter(has_text="Content of an email read").first).to_be_visible()


def assert_file(owner: User, drawer: Locator, message_id: str) -> None:
    """Check that the link downloads the message, and leaves the page as it is."""
    _tab_to(owner.page, drawer.get_by_role("link", name="Download .eml"))
    with owner.page.expect_download() as download:
        owner.page.keyboard.press("Enter")
    path = download.value.path()
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    assert message["Subject"] == "Your order 4711"
    assert message_id in download.value.suggested_filename
    expect(drawer).to_be_visible()
    owner.foreign.clear()  # the bucket has an origin of its own


def mails_to(stack: dict[str, Any], address: str) -> int:
    """Count the mails that the stand-in of SES took for an address."""
    items = httpx.get(f"{stack['inbox_url']}/messages", timeout=PATIENCE).json()["items"]
    return sum(address in str(item) for item in items)

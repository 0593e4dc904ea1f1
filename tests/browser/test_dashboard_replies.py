"""Answers in the dashboard: a domain receives, a member reads what came, and answers it once."""

import re
import smtplib
from base64 import b64decode
from collections.abc import Iterator
from email.message import EmailMessage
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessibility import assert_accessible
from tests.browser.dashboard import HOSTILE, RUN, User, assert_found, drawer_of, session, window_of
from tests.stack import AGENT, PATIENCE, inbox, operate, raw, wait_for

pytestmark = pytest.mark.stack

DOMAIN: Final = f"r{RUN}.example"
ADA: Final = f"ada-{RUN}@customer.example"
#: One pixel.
_GIF: Final = b64decode("R0lGODlhAQABAAAAACwAAAAAAQABAAA=")
_SCOPES: Final = ("domains:read", "domains:write", "senders:write", "emails:send", "received:read")


@pytest.fixture(scope="module")
def account() -> str:
    return str(operate("account", "create", "--name", "Answers", "--plan", "standard")["id"])


@pytest.fixture(scope="module")
def api(stack: dict[str, Any], account: str) -> Iterator[httpx.Client]:
    """The API for an account whose domain can send, and does not receive yet."""
    scopes = [f"--scope={scope}" for scope in _SCOPES]
    owned = ("--account", account, "--name", "answers", "--preset", "custom")
    headers = AGENT | {"X-API-Key": operate("key", "create", *owned, *scopes)["key"]}
    url = f"{stack['base_url']}/api/v1"
    with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE) as client:
        client.post("/domains", json={"domain": DOMAIN}).raise_for_status()
        wait_for(lambda: client.get(f"/domains/{DOMAIN}").json()["status"] == "verified")
        client.post("/senders", json={"address": f"post@{DOMAIN}"}).raise_for_status()
        yield client


@pytest.fixture
def member(browser: Browser, dashboard: dict[str, Any], account: str) -> Iterator[Any]:
    """Open the profile of a member by role; its pages caused no error and no violation."""
    users: list[User] = []

    def enter(role: str) -> User:
        address = f"{role}-{RUN}@answers.example"
        cookie = session(dashboard["base_url"], address, account, role)
        users.append(User(browser, dashboard, cookie))
        return users[-1]

    yield enter
    for user in users:
        user.close()


def _send(api: httpx.Client, stack: dict[str, Any]) -> tuple[str, EmailMessage]:
    """Send an email that says nothing of answers; return its id, and what its recipient gets."""
    body = {"to": ADA, "subject": "Your order", "html": "<p>Where to?</p>", "tags": {"order": "7"}}
    message_id = api.post("/emails", json=body).raise_for_status().json()["messageId"]
    (item,) = wait_for(lambda: inbox(stack, message_id))
    return message_id, raw(stack, item)


def _deliver(stack: dict[str, Any], to: str, sender: str = ADA, **fields: str) -> None:
    """Hand a mail to the MX of the stack, with HTML that would do something if it could."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Message-ID"] = f"Ada <{sender}>", to, f"<1-{RUN}@x.example>"
    for name, value in {"Subject": f"Re: {HOSTILE}", **fields}.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(f"To my office. {HOSTILE}\n\nOn 30 Nov 2026 Shop wrote:\n> Where to?\n")
    html = f'<p id="said" background="cid:map@x">To my office<img src="cid:map@x"></p>{HOSTILE}'
    mail.add_alternative(html, subtype="html")
    [*mail.iter_parts()][1].add_related(_GIF, maintype="image", subtype="gif", cid="<map@x>")
    mail.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="map.pdf")
    with smtplib.SMTP(stack["mx"]["host"], stack["mx"]["port"]) as server:
        server.send_message(mail, sender, [to])


def _set_up(page: Page, user: User) -> None:
    """Switch receiving on at the domain's page, and ask for answers in the account's settings."""
    user.go(f"/app/domains/{DOMAIN}")
    page.get_by_role("button", name="Receive answers…").click()
    assert_accessible(page, "dialog.window")
    window_of(page).get_by_label("Label").fill("a.b")
    window_of(page).get_by_role("button", name="Receive answers").click()
    expect(window_of(page).get_by_role("alert")).to_contain_text("Receive must be one label")
    window_of(page).get_by_label("Label").fill("in")
    window_of(page).get_by_label("Names").fill("support, help")
    window_of(page).get_by_role("button", name="Receive answers").click()
    record = page.get_by_role("row", name="ANSWERS MX")
    expect(record).to_contain_text("inbound-smtp.us-east-1.amazonaws.com")
    assert_found(record.locator(".badge"), 1, page.reload)
    expect(page.locator(".card")).to_contain_text(f"in.{DOMAIN} receives the answers")
    expect(page.locator(".card")).to_contain_text("mail to help, support")
    assert_accessible(page)
    user.follow("/app/account", "Account").get_by_role("button", name="Change answers…").click()
    window_of(page).get_by_label("Emails ask for answers").check()
    expect(window_of(page)).to_contain_text(f"They come to in.{DOMAIN}.")
    window_of(page).get_by_label("Days").fill("7")
    window_of(page).get_by_role("button", name="Save").click()
    expect(page.get_by_text("Received mail is kept for 7 days.")).to_be_visible()


def _read(page: Page, user: User) -> None:
    """Check that the drawer has the text first, and that nothing of a stranger is markup."""
    drawer = drawer_of(page)
    expect(drawer.get_by_role("region", name="Reply")).to_have_text(f"To my office. {HOSTILE}")
    expect(drawer.locator(".state")).to_have_text("provencustomer.example vouches for it.")
    expect(drawer.get_by_role("heading", level=2)).to_have_text(f"Re: {HOSTILE}")
    drawer.get_by_text("text", exact=True).click()
    expect(drawer.get_by_role("region", name="Text part")).to_contain_text("> Where to?")
    drawer.get_by_text("email", exact=True).click()
    frame = drawer.frame_locator("iframe")
    expect(frame.locator("#said")).to_have_attribute("background", re.compile("^data:image/gif"))
    picture = frame.locator("#said img")
    wait_for(lambda: picture.evaluate("image => image.naturalWidth") == 1)
    assert frame.locator("script").count() == 0
    expect(drawer.locator("iframe")).to_have_attribute("sandbox", "allow-scripts")
    assert page.evaluate("window.pwned") is None
    assert page.locator("#app script, #app [onerror], #app [onload]").count() == 0
    with page.expect_download() as download:
        drawer.get_by_role("link", name="map.pdf").click()
    assert download.value.path().read_bytes() == b"%PDF"
    with page.expect_download() as download:
        drawer.get_by_role("link", name="Download .eml").click()
    assert b"To my office" in download.value.path().read_bytes()
    user.foreign.clear()  # the bucket has an origin of its own
    assert_accessible(page, "dialog.drawer")


def _answer(page: Page, user: User) -> str:
    """Answer, lose what the service says of it, and try again; return the id of the email."""
    drawer_of(page).get_by_role("button", name="Answer…").click()
    expect(window_of(page).get_by_label("Text")).to_be_focused()
    expect(window_of(page).get_by_label("Sender")).to_have_value(f"post@{DOMAIN}")
    assert_accessible(page, "dialog.window")
    keys = user.lose_answer("/reply")
    page.keyboard.type("It is on its way.")
    send = window_of(page).get_by_role("button", name="Send")
    send.click()
    expect(window_of(page).get_by_role("alert")).to_contain_text("The service does not answer")
    send.click()
    expect(drawer_of(page).locator(".timeline")).to_contain_text("Accepted")
    user.interfere = lambda _route: False
    assert (len(keys), len({*keys})) == (2, 1)
    return page.url.rpartition("/")[2]


def test_answers_from_the_set_up_to_an_answer(
    member: Any, api: httpx.Client, stack: dict[str, Any]
) -> None:
    user = member("owner")
    page = user.page
    _set_up(page, user)
    sent, email = _send(api, stack)
    _deliver(stack, email["Reply-To"])
    wait_for(lambda: api.get("/received", params={"inReplyTo": sent}).json()["items"])

    user.follow(f"/app/activity/{sent}", "Activity")
    drawer_of(page).get_by_role("link", name="Re: ").click()
    expect(page).to_have_url(re.compile("/app/activity/received/[0-9a-f-]{36}$"))
    _read(page, user)
    answer = _answer(page, user)
    assert answer != sent
    (item,) = wait_for(lambda: inbox(stack, answer))
    assert raw(stack, item)["In-Reply-To"] == f"<1-{RUN}@x.example>"
    outgoing = httpx.get(f"{stack['inbox_url']}/messages", timeout=PATIENCE).json()["items"]
    assert sum(ADA in str(one) for one in outgoing) == 2

    _deliver(stack, f"support@in.{DOMAIN}", "eve@forged.example")
    _deliver(stack, f"help@in.{DOMAIN}", Auto_Submitted="auto-replied", Subject="Away")
    wait_for(lambda: len(api.get("/received").json()["items"]) == 3)
    user.go("/app/activity")
    page.get_by_role("navigation", name="Sent or received").get_by_text("Received").click()
    expect(page.get_by_role("heading", name="Received mail")).to_be_focused()
    states = page.locator(".emails .badge")
    expect(states).to_have_count(3)
    assert sorted(states.all_text_contents()) == ["automatic", "not proven", "proven"]
    assert_accessible(page)
    row = page.get_by_role("link", name="Away, from")
    row.press("Enter")
    expect(drawer_of(page).get_by_role("button", name="Answer…")).to_be_disabled()
    expect(drawer_of(page)).to_contain_text("two programs would answer each other")
    page.keyboard.press("Escape")
    expect(row).to_be_focused()

    log = user.follow("/app/account", "Account")
    log.get_by_label("who read content").check()
    expect(log.get_by_text("Received mail read").first).to_be_visible()
    user.follow(f"/app/domains/{DOMAIN}", DOMAIN)
    page.get_by_role("button", name="Stop receiving…").click()
    expect(window_of(page).get_by_role("button", name="Cancel")).to_be_focused()
    window_of(page).get_by_role("button", name="Stop receiving").click()
    expect(page.get_by_role("button", name="Receive answers…")).to_be_visible()
    expect(page.get_by_role("row", name="ANSWERS MX")).to_have_count(0)


def test_received_mail_is_for_who_may_read_content(member: Any, api: httpx.Client) -> None:
    assert api
    page = member("viewer").go("/app/activity")
    expect(page.get_by_role("searchbox")).to_be_visible()
    expect(page.get_by_role("navigation", name="Sent or received")).to_have_count(0)
    page.goto(page.url + "/received")
    expect(page.get_by_text("Only owners and developers")).to_be_visible()

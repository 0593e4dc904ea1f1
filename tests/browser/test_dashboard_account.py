"""Keys, suppressions, members and the account in a browser, with real sessions."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.accessibility import violations
from tests.browser.dashboard import HOSTILE, OWNER, User, session
from tests.stack import raw, send_email, wait_for

pytestmark = pytest.mark.stack

#: The page keeps the text of a file that it saves.
_KEEP_FILES: Final = """
const make = URL.createObjectURL;
URL.createObjectURL = (blob) => {
  void blob.text().then((text) => (window.saved = text));
  return make.call(URL, blob);
};
"""
#: Opens the profile of a user by address, account and role; without them it has no session.
type Enter = Callable[..., User]


@pytest.fixture(scope="module")
def enter(browser: Browser, dashboard: dict[str, Any]) -> Iterator[Enter]:
    """Open profiles of users; at the end their pages must have caused no error and no violation."""
    with ExitStack() as users:

        def enter(*who: str) -> User:
            cookie = session(dashboard["base_url"], *who) if who else None
            user = User(browser, dashboard, cookie)
            users.callback(user.close)
            return user

        yield enter


@pytest.fixture(scope="module")
def owner(enter: Enter, stack: dict[str, Any]) -> User:
    return enter(OWNER, stack["accounts"]["live"])


def dialog(page: Page) -> Locator:
    return page.locator("dialog")


def is_inert(page: Page) -> bool:
    """Return whether hostile text is only text: no element of it, and none of its script ran."""
    assert page.locator("main img[src=x], main script, main svg[onload]").count() == 0
    return bool(page.evaluate("window.pwned === undefined"))


def test_a_key_is_created_sends_and_is_revoked(owner: User, stack: dict[str, Any]) -> None:
    page, name = owner.go("/app/keys"), f"{uuid4().hex[:8]}{HOSTILE}"
    page.get_by_role("button", name="Create key").click()
    page.get_by_label("Name").fill(name)
    dialog(page).get_by_label("Custom").check()  # it needs a permission
    expect(dialog(page).get_by_role("button", name="Create key")).to_be_disabled()
    dialog(page).get_by_label("webhooks:read").check()
    expect(dialog(page).get_by_role("button", name="Create key")).to_be_enabled()
    dialog(page).get_by_role("radio").first.check()
    dialog(page).get_by_role("button", name="Create key").click()
    expect(dialog(page).get_by_role("heading", name="Store the key now")).to_be_visible()
    assert violations(page, within="dialog[open]") == []
    expect(dialog(page).locator("pre")).to_have_count(3)  # the relay's address comes by itself
    blocks = dialog(page).locator("pre").all_text_contents()
    key = blocks[0]
    assert key in blocks[1]
    assert f"curl {stack['base_url']}/api/v1/emails" in blocks[1]
    assert f"Host: {stack['smtp']['host']}\nPort: {stack['smtp']['port']}, with" in blocks[2]
    page.keyboard.press("Escape")
    expect(dialog(page)).to_be_visible()
    dialog(page).get_by_role("button", name="I have stored it").click()
    row = page.get_by_role("row").filter(has_text=name)
    expect(row).to_contain_text("emails:read, emails:send")
    assert key not in page.content()
    assert is_inert(page)
    assert send_email(stack, key).status_code == 200
    row.get_by_role("button").click()
    dialog(page).get_by_role("button", name="Revoke the key").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    revoked = page.locator(".more > summary")
    expect(revoked).to_contain_text("Revoked keys")
    assert send_email(stack, key).json()["error"]["code"] == "invalid_api_key"
    page.reload()
    revoked.click()
    expect(page.get_by_role("table", name="Revoked keys")).to_contain_text(name)


def test_a_plan_refuses_presets_with_the_reason(enter: Enter, stack: dict[str, Any]) -> None:
    member = enter("free@acme.example", stack["accounts"]["live_free"], "developer")
    page = member.go("/app/keys")
    page.get_by_role("button", name="Create key").click()
    cards = dialog(page).locator(".choose")
    expect(cards).to_have_count(3)  # the preset for campaigns is of no use here
    expect(cards.nth(0)).to_contain_text("emails:send")
    expect(cards.nth(1)).to_contain_text("The free plan does not allow marketing:campaigns:read")
    disabled = [card.get_by_role("radio").is_disabled() for card in cards.all()]
    assert disabled == [False, True, False]
    assert violations(page, within="dialog[open]") == []


def test_suppressions_from_a_file_to_a_file(owner: User, tmp_path: Path) -> None:
    page, run = owner.go("/app/suppressions"), uuid4().hex[:8]
    page.get_by_role("button", name="Import").click()
    # The browser's event of a file that was not chosen does not close the window around it.
    page.locator("input[type=file]").dispatch_event("cancel", {"bubbles": True})
    rows = f'Name;"address"\nAd\u00e4;{run}.a@x.example\n"B; ob";{run}.b@x.example\nEve;{HOSTILE}\n'
    file = tmp_path / "list.csv"
    file.write_text(rows.replace(HOSTILE, '"' + HOSTILE.replace('"', '""') + '"'), "utf-16")
    dialog(page).locator("input[type=file]").set_input_files(file)
    expect(dialog(page)).to_contain_text("3 different addresses")
    dialog(page).get_by_role("button", name="Import").click()
    expect(dialog(page)).to_contain_text("2 addresses are suppressed")
    expect(dialog(page).get_by_text(HOSTILE)).to_be_visible()
    assert is_inert(page)
    dialog(page).get_by_role("button", name="Done").click()
    page.get_by_role("searchbox").fill(f"{run}.".upper())
    page.keyboard.press("Enter")
    expect(page.locator("td.who")).to_have_text([f"{run}.a@x.example", f"{run}.b@x.example"])
    page.reload()
    page.get_by_role("button", name=f"Remove {run}.a@x.example").click()
    dialog(page).get_by_role("button", name="Remove the address").click()
    expect(page.locator("td.who")).to_have_text([f"{run}.b@x.example"])
    page.get_by_role("button", name="Add address").click()
    dialog(page).get_by_label("Address").fill(f"{run}.c@x.example")
    dialog(page).get_by_role("button", name="Add address").click()
    expect(page.locator("td.who")).to_have_text([f"{run}.b@x.example", f"{run}.c@x.example"])
    page.evaluate(f"() => {{ {_KEEP_FILES} }}")
    page.get_by_role("button", name="Export").click()
    lines = wait_for(lambda: page.evaluate("window.saved")).splitlines()
    assert lines[0] == "address,reason,createdAt,messageId"
    assert [line.split(",")[:2] for line in lines if run in line] == [
        [f"{run}.b@x.example", "manual"],
        [f"{run}.c@x.example", "manual"],
    ]


def test_a_member_is_invited_promoted_and_removed(
    owner: User, enter: Enter, stack: dict[str, Any]
) -> None:
    """The link of the email signs in, and a question comes before joining.

    A role counts at once, and a removed member is signed out.
    """
    page, email = owner.go("/app/members"), f"{uuid4().hex[:8]}@example.com"
    page.get_by_role("button", name="Invite member").click()
    dialog(page).get_by_label("Email address").fill(email)
    dialog(page).get_by_label("Viewer").check()
    assert violations(page, within="dialog[open]") == []
    dialog(page).get_by_role("button", name="Send the invitation").click()
    row = page.get_by_role("row").filter(has_text=email)
    expect(row.get_by_role("combobox")).to_have_value("viewer")
    mail = raw(stack, wait_for(lambda: _mail_to(stack, email)))
    text = mail.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    (url,) = re.findall(r"http\S+/app/sign-in#\w+", text)
    member = enter()
    member.go(url.removeprefix(member.base))
    expect(member.page.get_by_text(f"signs you in as {email}")).to_be_visible()
    asked = member.page.get_by_text("invites you to the account Shop, with the role viewer.")
    expect(asked).to_be_visible()
    member.page.get_by_role("button", name="Sign in", exact=True).click()
    expect(member.page.get_by_role("heading", name="You are in no account")).to_be_visible()
    expect(row.get_by_text("invited", exact=True)).to_be_visible()
    for _ in range(2):
        page.get_by_role("button", name=f"Invite {email} again").click()
        dialog(page).get_by_role("button", name="Send the invitation").click()
    expect(dialog(page).get_by_role("alert")).to_contain_text("no more invitations for now")
    dialog(page).get_by_role("button", name="Cancel").click()
    expect(row.get_by_role("button", name="Withdraw")).to_be_enabled()
    question = member.page.get_by_role("form", name=re.compile("Invitation to"))
    expect(question).to_contain_text("with the role viewer")
    assert violations(member.page) == []
    question.get_by_role("button", name="Join the account").click()
    expect(question).to_have_count(0)
    page.reload()
    expect(row.get_by_text("invited", exact=True)).to_have_count(0)
    expect(member.go("/app/keys").get_by_text("Your role does not manage")).to_be_visible()
    row.get_by_role("combobox").select_option("developer")
    row.get_by_role("button", name="Save the role").click()
    expect(page.get_by_text(f"{email} is now a developer.")).to_be_visible()
    expect(member.go("/app/keys").get_by_role("button", name="Create key")).to_be_enabled()
    row.get_by_role("button", name="Remove").click()
    dialog(page).get_by_role("button", name="Remove the member").click()
    expect(row).to_have_count(0)
    member.page.get_by_role("link", name="Suppressions").click()
    expect(member.page.get_by_role("heading", name="You are in no account")).to_be_visible()


def _mail_to(stack: dict[str, Any], email: str) -> dict[str, Any] | None:
    items = httpx.get(f"{stack['inbox_url']}/messages", timeout=60).json()["items"]
    return next((item for item in items if email in str(item)), None)


def test_the_account_changes_its_brand(owner: User) -> None:
    page = owner.go("/app/account")
    page.get_by_label("Sender's display name").fill(HOSTILE)
    page.get_by_label("Postal address").fill("1 Quay Street")
    page.get_by_label("Accent colour").fill("#ffffff")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("contrast")
    page.get_by_label("Accent colour").fill("#0a7d5a")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The account is changed.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Sender's display name")).to_have_value(HOSTILE)
    expect(page.get_by_label("Postal address")).to_have_value("1 Quay Street")
    assert is_inert(page)
    for label in ("Sender's display name", "Accent colour", "Postal address"):
        page.get_by_label(label).fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The account is changed.")).to_be_visible()


def test_an_owner_lets_old_records_be_deleted(owner: User) -> None:
    page = owner.go("/app/account")
    page.get_by_role("button", name="Delete old records…").press("Enter")
    window = page.get_by_role("dialog")
    expect(window.get_by_label("Days")).to_be_focused()
    expect(window).to_contain_text("figures of the overview")
    window.get_by_label("Days").fill("30")
    page.keyboard.press("Enter")
    expect(window.get_by_role("alert")).to_contain_text("90")
    window.get_by_label("Days").fill("400")
    page.keyboard.press("Enter")
    expect(page.locator(".card").get_by_text("Records are deleted after 400 days.")).to_be_visible()
    page.get_by_role("button", name="Change records…").press("Enter")
    window.get_by_label("Days").fill("0")
    page.keyboard.press("Enter")
    expect(page.locator(".card").get_by_text("Records stay for ever.")).to_be_visible()


def test_an_owner_chooses_alerts_and_tries_them(owner: User, stack: dict[str, Any]) -> None:
    page, room = owner.go("/app/account"), uuid4().hex
    quota, url = (
        page.get_by_label("quota is used"),
        page.get_by_label("In a room of Slack or Teams"),
    )
    change = page.get_by_role("button", name="Change alerts")
    quota.uncheck()
    url.fill(f"{stack['inbox_url']}/hooks/{room}")
    change.click()
    expect(page.get_by_text("The alerts are changed.")).to_be_visible()
    expect(change).to_be_focused()  # though it was disabled meanwhile
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_text("The test is posted.")).to_be_visible()
    page.reload()
    expect(quota).not_to_be_checked()
    expect(page.get_by_text(f"127.0.0.1/…{room[-4:]}").first).to_be_visible()
    assert room not in page.content()
    quota.check()
    change.click()
    expect(page.get_by_text("The alerts are changed.")).to_be_visible()
    page.get_by_role("button", name="Stop them").click()
    expect(page.get_by_role("button", name="Stop them")).to_have_count(0)

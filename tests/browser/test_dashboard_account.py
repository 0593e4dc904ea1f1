"""Keys, suppressions, members and the account in Chromium and Firefox, with real sessions."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.accessibility import assert_accessible, violations
from tests.browser.dashboard import HOSTILE, OWNER, User, session
from tests.browser.windows import assert_keeps_input
from tests.stack import AGENT, operate, raw, wait_for

pytestmark = pytest.mark.stack

#: Page -> what is visible when its data is there.
PAGES: Final = {
    "/app/keys": "table",
    "/app/suppressions": "table",
    "/app/members": "table",
    "/app/account": "form.settings",
}
#: Firefox tells Playwright of no download, so the page keeps the text of a file that it saves.
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
    """An owner of the account that can send."""
    return enter(OWNER, stack["accounts"]["live"])


def dialog(page: Page) -> Locator:
    return page.locator("dialog")


def is_inert(page: Page) -> bool:
    """Return whether hostile text is only text: no element of it, and none of its script ran."""
    assert page.locator("main img[src=x], main script, main svg[onload]").count() == 0
    return bool(page.evaluate("window.pwned === undefined"))


def send(stack: dict[str, Any], key: str) -> httpx.Response:
    email = {"to": "ada@example.com", "subject": "Hello", "html": "<p>Hello</p>"}
    headers = {"X-API-Key": key} | AGENT
    return httpx.post(f"{stack['base_url']}/api/v1/emails", json=email, headers=headers, timeout=60)


@pytest.mark.both_browsers
def test_a_key_is_created_sends_and_is_revoked(owner: User, stack: dict[str, Any]) -> None:
    """The key is shown once, with curl and SMTP, and Esc does not lose it; it can be revoked."""
    page, name = owner.go("/app/keys"), f"{uuid4().hex[:8]}{HOSTILE}"
    page.get_by_role("button", name="Create key").click()
    page.get_by_label("Name").fill(name)
    dialog(page).get_by_role("button", name="Create key").click()
    expect(dialog(page).get_by_role("heading", name="Store the key now")).to_be_visible()
    assert violations(page) == []
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
    assert send(stack, key).status_code == 200
    row.get_by_role("button").click()
    dialog(page).get_by_role("button", name="Revoke the key").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    revoked = page.locator("details summary")
    expect(revoked).to_contain_text("Revoked keys")
    assert send(stack, key).json()["error"]["code"] == "invalid_api_key"
    page.reload()
    revoked.click()
    expect(page.get_by_role("table", name="Revoked keys")).to_contain_text(name)


@pytest.mark.both_browsers
def test_a_window_keeps_what_is_entered(owner: User) -> None:
    """Both browsers give the first field the focus, and lose no input."""
    owner.go("/app/members")
    assert_keeps_input(owner, "Members")


def test_a_custom_key_has_what_was_chosen(owner: User) -> None:
    """Each permission has a box; without one there is no key."""
    page = owner.go("/app/keys")
    page.get_by_role("button", name="Create key").click()
    page.get_by_label("Name").fill("hooks")
    dialog(page).get_by_label("Custom").check()
    create = dialog(page).get_by_role("button", name="Create key")
    expect(create).to_be_disabled()
    dialog(page).get_by_label("webhooks:read").check()
    create.click()
    expect(dialog(page).locator("pre").nth(1)).to_contain_text("/api/v1/me")
    dialog(page).get_by_role("button", name="I have stored it").click()
    expect(page.get_by_role("row").filter(has_text="webhooks:read")).not_to_have_count(0)


def test_a_plan_refuses_presets_with_the_reason(enter: Enter, stack: dict[str, Any]) -> None:
    """The cards of a free plan spell out their scopes, and the refused ones cannot be chosen."""
    member = enter("free@acme.example", stack["accounts"]["live_free"], "developer")
    page = member.go("/app/keys")
    page.get_by_role("button", name="Create key").click()
    cards = dialog(page).locator(".choose")
    expect(cards).to_have_count(4)
    expect(cards.nth(0)).to_contain_text("emails:send")
    expect(cards.nth(1)).to_contain_text("The free plan does not allow marketing:campaigns:read")
    disabled = [card.get_by_role("radio").is_disabled() for card in cards.all()]
    assert disabled == [False, True, True, False]
    assert violations(page) == []


@pytest.mark.both_browsers
def test_suppressions_from_a_file_to_a_file(owner: User, tmp_path: Path) -> None:
    """Addresses are imported, searched, removed after a question, and exported as they are."""
    page, run = owner.go("/app/suppressions"), uuid4().hex[:8]
    page.get_by_role("button", name="Import").click()
    rows = f'Name,"address"\nAda,{run}.a@x.example\n"B, ob",{run}.b@x.example\nEve,{HOSTILE}\n'
    file = tmp_path / "list.csv"
    file.write_text(rows.replace(HOSTILE, '"' + HOSTILE.replace('"', '""') + '"'))
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


def test_a_spreadsheet_finds_no_formula_in_a_file(owner: User, tmp_path: Path) -> None:
    """An apostrophe before it is in the exported file, and not in the list that is imported."""
    page, host = owner.go("/app/suppressions"), f"{uuid4().hex[:8]}.example"
    listed = [f"{start}a@{host}" for start in ("'+", "'o", "''=", "+", "-", "=")]
    cells = [f"{start}a@{host}" for start in ("''+", "'o", "'''=", "'+", "'-", "'=")]
    file = tmp_path / "list.csv"
    file.write_text("\n".join(cells))
    page.get_by_role("button", name="Import").click()
    dialog(page).locator("input[type=file]").set_input_files(file)
    dialog(page).get_by_role("button", name="Import").click()
    expect(dialog(page)).to_contain_text("6 addresses are suppressed")
    dialog(page).get_by_role("button", name="Done").click()
    page.evaluate(f"() => {{ {_KEEP_FILES} }}")
    page.get_by_role("button", name="Export").click()
    lines = wait_for(lambda: page.evaluate("window.saved")).splitlines()
    assert {line.split(",")[0] for line in lines if host in line} == set(cells)
    for address in listed:
        page.get_by_role("searchbox").fill(address)
        page.keyboard.press("Enter")
        expect(page.locator("td.who")).to_have_text([address])


def test_a_member_is_invited_promoted_and_removed(
    owner: User, enter: Enter, stack: dict[str, Any]
) -> None:
    """The link of the email signs in; a role counts at once; a removed member is signed out."""
    page, email = owner.go("/app/members"), f"{uuid4().hex[:8]}@example.com"
    page.get_by_role("button", name="Invite member").click()
    dialog(page).get_by_label("Email address").fill(email)
    dialog(page).get_by_label("Viewer").check()
    assert violations(page) == []
    dialog(page).get_by_role("button", name="Send the invitation").click()
    row = page.get_by_role("row").filter(has_text=email)
    expect(row.get_by_role("combobox")).to_have_value("viewer")
    mail = raw(stack, wait_for(lambda: _mail_to(stack, email)))
    text = mail.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    (url,) = re.findall(r"http\S+/app/sign-in#\w+", text)
    member = enter()
    member.sign_in(url)
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


def test_the_last_owner_stays(enter: Enter) -> None:
    """Leaving and another role, which needs two answers, are refused with the reason."""
    account = operate("account", "create", "--name", HOSTILE, "--plan", "free")["id"]
    member = enter(f"{uuid4().hex[:8]}@acme.example", account)
    page = member.go("/app/members")
    with member.holding("PATCH") as changes:
        page.get_by_role("combobox").focus()
        page.keyboard.press("End")
        expect(page.get_by_role("combobox")).to_have_value("viewer")
        page.get_by_role("button", name="Save the role").click()
        expect(dialog(page).get_by_role("button", name="Cancel")).to_be_focused()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Save the role").click()
        expect(dialog(page)).to_contain_text("You can no longer change members")
        assert changes == []
        dialog(page).get_by_role("button", name="Make me a viewer").click()
    expect(dialog(page).get_by_role("alert").last).to_contain_text("An account needs an owner.")
    page.reload()
    expect(page.get_by_role("combobox")).to_have_value("owner")
    page.get_by_role("button", name="Leave the account").click()
    dialog(page).get_by_role("button", name="Leave the account").click()
    expect(dialog(page).get_by_role("alert").last).to_contain_text("An account needs an owner.")
    assert is_inert(page)
    for path, text in (("/app/keys", "No keys yet"), ("/app/suppressions", "No suppressed")):
        expect(member.go(path).get_by_role("heading", name=text)).to_be_visible()
        assert violations(page) == []


def test_the_account_changes_its_brand(owner: User) -> None:
    """A colour without contrast is refused with the reason; other texts stay as they are."""
    page = owner.go("/app/account")
    page.get_by_label("Sender's display name").fill(HOSTILE)
    page.get_by_label("Accent colour").fill("#ffffff")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("contrast")
    page.get_by_label("Accent colour").fill("#0a7d5a")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The account is changed.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Sender's display name")).to_have_value(HOSTILE)
    assert is_inert(page)
    for label in ("Sender's display name", "Accent colour"):
        page.get_by_label(label).fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The account is changed.")).to_be_visible()


def test_answers_replace_nothing_that_was_typed(owner: User) -> None:
    """A slow answer fills the other fields; a save sends those that changed, and forgets none."""
    page = owner.go("/app/")
    expect(page.locator(".quota").first).to_be_visible()  # the account was asked for
    brand, sender = page.get_by_label("Brand name"), page.get_by_label("Sender's display name")
    owner.rewrite = lambda answer: (
        answer | {"brandName": "Old", "fromName": "Ada"} if "brandName" in answer else answer
    )
    with owner.holding():
        page.get_by_role("link", name="Account").click()
        brand.fill("New")
    expect(sender).to_have_value("Ada")
    expect(brand).to_have_value("New")
    owner.rewrite = lambda answer: answer | {"brandName": "New", "fromName": "Ada"}
    with owner.holding("PATCH") as saves:
        page.get_by_role("button", name="Save").click()
        brand.fill("Newer")
    expect(page.get_by_text("The account is changed.")).to_be_visible()
    expect(brand).to_have_value("Newer")
    assert [save.post_data_json for save in saves] == [{"brandName": "New"}]
    owner.rewrite = None
    brand.fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save")).to_be_enabled()
    page.reload()
    expect(brand).to_have_value("")


def test_a_viewer_changes_nothing(enter: Enter, stack: dict[str, Any]) -> None:
    """What the role does not allow is shown disabled."""
    member = enter("viewer@acme.example", stack["accounts"]["live"], "viewer")
    page = member.go("/app/suppressions")
    for name in ("Import", "Add address"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()
    expect(member.go("/app/members").get_by_role("combobox").first).to_be_disabled()
    expect(page.get_by_role("button", name="Invite member")).to_be_disabled()
    expect(member.go("/app/account").get_by_role("button", name="Save")).to_be_disabled()
    expect(page.get_by_label("Brand name")).to_be_disabled()


@pytest.mark.both_browsers
@pytest.mark.parametrize("path", PAGES)
def test_the_pages_meet_wcag_aa(owner: User, path: str) -> None:
    """Each page passes axe's rules for WCAG 2.2 A and AA, light and dark, and fits 360 pixels."""
    page = owner.go(path)
    expect(page.locator(PAGES[path]).first).to_be_visible()
    assert_accessible(page)

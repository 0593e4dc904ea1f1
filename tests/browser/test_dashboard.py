"""The dashboard in a browser, with the running local stack."""

import re
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import yaml
from playwright.sync_api import Locator, Page, Request, Route, expect

from local.template import ROOT
from tests.browser.dashboard import (
    ADDRESSES,
    AT,
    DOMAIN,
    HOSTILE,
    OVERVIEW,
    RECORD,
    RUN,
    SHIFTS,
    User,
    answering,
    drawer_of,
    rewriting,
    unreachable,
    window_of,
)
from tests.stack import operate, send_email

pytestmark = pytest.mark.stack

#: The paths of the gateway, with the function of each method.
ROUTES: Final[dict[str, Any]] = yaml.load((ROOT / "api.yaml").read_text(), yaml.CSafeLoader)

#: Members whose values tenants, recipients or servers choose.
FREE: Final = {
    *("subject", "fromName", "errorMessage", "message", "reason", "code", "recipient", "error"),
    *("recipientEmail", "from", "to", "cc", "bcc", "url", "name", "starterTemplate", "requestId"),
    *("providerMessageId", "tags", "types"),
}


#: Waits until the page has scrolled and stands still; returns how far.
_SCROLLED: Final = """() => new Promise((done) => {
  let last = 0, frames = 0;
  const look = () => {
    frames = scrollY > 0 && scrollY === last ? frames + 1 : 0;
    last = scrollY;
    if (frames > 20) done(last);
    else requestAnimationFrame(look);
  };
  look();
})"""


def rows(page: Page) -> Locator:
    return page.locator("a.row")


def test_pages_links_and_history(user: User, emails: dict[str, str]) -> None:
    loaded: list[str] = []
    user.page.on("request", lambda request: loaded.append(request.url.rpartition("/")[2]))
    page = user.go("/")
    expect(page).to_have_url(f"{user.base}/app/")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.locator("button.account").click()
    for scheme in ("dark", "light"):
        page.get_by_role("group", name="Colours").get_by_text(scheme).click()
        expect(page.locator("html")).to_have_css("color-scheme", scheme)
    page.keyboard.press("Escape")
    expect(page.locator(".figures dd").first).not_to_have_text("0")
    page.get_by_role("navigation").get_by_role("link", name="Activity").click()
    expect(page.get_by_role("link", name=ADDRESSES["delivered"])).to_be_visible()
    # The drawer needs the second file: this account receives answers.
    assert not [name for name in loaded if name.startswith(("later-", "codemirror"))]
    page.get_by_role("link", name=ADDRESSES["delivered"]).click()
    expect(page).to_have_url(re.compile(f"/app/activity/{emails['delivered']}$"))
    expect(drawer_of(page).locator(".timeline")).to_contain_text("Delivered")
    expect(drawer_of(page)).to_contain_text(re.compile(r"<[0-9a-f-]+@email\.amazonses\.com>"))
    page.go_back()
    expect(drawer_of(page)).to_have_count(0)
    page.go_forward()
    expect(drawer_of(page)).to_contain_text("The delivered one")
    page.reload()
    expect(drawer_of(page)).to_contain_text(ADDRESSES["delivered"])
    page.keyboard.press("Escape")
    expect(page).to_have_url(f"{user.base}/app/activity")
    expect(page.get_by_role("heading", level=1, name="Activity")).to_be_focused()
    page.get_by_role("navigation").get_by_role("link", name="Webhooks").click()
    expect(rows(page).first).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Templates").click()
    # The rows of the page before stay until the new one is there.
    expect(page.get_by_role("heading", name="Templates")).to_be_visible()
    expect(page.locator("a.row, .empty").first).to_be_visible()
    assert [name for name in loaded if name.startswith("later-")]
    page.go_back()
    rows(page).first.click()
    expect(page.get_by_role("heading", name="Deliveries of the last 30 days")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Webhooks")).to_be_visible()
    assert not [name for name in loaded if name.startswith("codemirror")]
    user.go("/app/nothing")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()


def test_the_first_page_wakes_four_functions(user: User) -> None:
    """After a pause each of them is a cold start."""
    woken: set[str] = set()

    def note(request: Request) -> None:
        path = urlsplit(request.url).path
        if path.startswith("/api/"):
            method = ROUTES[path.removeprefix("/api")][request.method.lower()]
            uri = method["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
            woken.add(uri.rpartition("{")[2].partition("}")[0])

    user.page.on("request", note)
    page = user.go("/app/")
    expect(page.locator(".figures")).to_be_visible()
    expect(page.get_by_label("Template").get_by_role("option").nth(1)).to_be_attached()
    assert "GetAnalyticsAliaslive" in woken
    assert len(woken) <= 4, woken


def test_an_email_leads_to_the_inbox_and_back(
    user: User, emails: dict[str, str], stack: dict[str, Any]
) -> None:
    page = user.go(f"/app/activity/{emails['delivered']}")
    expect(page.get_by_role("link", name="Inbox of this stack")).to_have_attribute(
        "href", stack["inbox_url"]
    )
    page.locator(f'dialog a[href^="{stack["inbox_url"]}/#"]').click()
    expect(page.get_by_role("heading", name="The delivered one")).to_be_visible()
    page.get_by_role("link", name="Show in the dashboard").click()
    expect(page.get_by_role("dialog")).to_contain_text("The delivered one")
    assert all(url.startswith(stack["inbox_url"]) for url in user.foreign)
    user.foreign.clear()


def test_the_address_holds_the_filters(user: User, emails: dict[str, str]) -> None:
    page = user.go(f"/app/activity/{emails['delivered']}")
    link = drawer_of(page).locator("a[href*='activity?key=']")
    expect(link).not_to_have_text(re.compile("^key_"))  # once the names are there
    key_name, key_id = link.inner_text(), str(link.get_attribute("href")).partition("=")[2]
    link.click()
    expect(page).to_have_url(f"{user.base}/app/activity?key={key_id}")
    key, template = (page.get_by_role("combobox", name=name) for name in ("API key", "Template"))
    expect(key).to_have_value(key_id)
    expect(key.locator("option:checked")).to_have_text(key_name)
    page = user.go(f"/app/activity?key={key_id}&tag=run:{RUN}")
    expect(rows(page)).to_have_count(2)
    expect(page.locator(".emails .origin").first).to_contain_text(key_name)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    head, *lines = download.value.path().read_text("utf-8-sig").splitlines()
    assert head.startswith("messageId,createdAt,")
    assert {line.partition(",")[0] for line in lines} == {*emails.values()}
    assert all(f",{key_name},{key_id},run:{RUN}" in line for line in lines)
    page.get_by_role("button", name="Done").click()
    page.get_by_label("Status").select_option("bounced")
    expect(page.locator(".emails .who")).to_have_text([ADDRESSES["bounced"]])
    page.reload()
    expect(page.locator(".emails .who")).to_have_text([ADDRESSES["bounced"]])
    page.go_back()
    expect(rows(page)).to_have_count(2)
    template.select_option("trial_ending")
    expect(page.get_by_role("heading", name="No email matches")).to_be_visible()
    page.go_back()
    search = page.get_by_role("searchbox")
    search.fill(RUN)
    search.press("Enter")
    expect(page.locator(".emails .who")).to_have_text([ADDRESSES["delivered"]])
    search.fill("The bounced one")  # a subject is refused with the reason
    search.press("Enter")
    expect(page.locator("input:invalid[title*='Ctrl+K finds']")).to_be_focused()
    expect(page).to_have_url(re.compile(f"recipient={RUN}$"))
    search.fill(emails["bounced"])
    search.press("Enter")
    expect(drawer_of(page)).to_contain_text("The bounced one")
    user.go("/app/activity?key=key_0123456789ababcdefgh")
    expect(key.locator("option:checked")).to_have_text("key_0123456789ababcdefgh")
    page.get_by_role("button", name="Show all emails").click()
    expect(page).to_have_url(f"{user.base}/app/activity")
    user.go(f"/app/activity/{uuid4()}")
    expect(drawer_of(page)).to_contain_text("This account has no email")


def test_the_keyboard_is_enough(user: User, emails: dict[str, str]) -> None:
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
    expect(drawer_of(page)).to_contain_text("The delivered one")
    assert emails["delivered"] in page.url
    page.keyboard.press("Escape")
    expect(row).to_be_focused()
    search = page.get_by_role("searchbox")
    search.fill("")
    search.press("Enter")
    expect(rows(page).nth(1)).to_be_visible()
    others = [row.get_attribute("href") for row in rows(page).all()[:2]]
    # Emails of other tests may come on top meanwhile.
    rows(page).and_(page.locator(f'[href="{others[0]}"]')).press("Enter")
    for key, href in (("j", others[1]), ("k", others[0]), ("ArrowDown", others[1])):
        page.keyboard.press(key)
        expect(page).to_have_url(f"{user.base}{href}")


def test_an_address_in_a_row_can_be_selected(user: User, emails: dict[str, str]) -> None:
    """A selection with the mouse opens nothing; a click in the row opens the email.

    The arrows scroll the list, and it stays where it is when an email is opened and closed.
    """
    page = user.go("/app/activity")
    row = page.get_by_text(ADDRESSES["delivered"])
    expect(row).to_be_visible()
    box = row.bounding_box()
    assert box
    page.mouse.move(box["x"] + 14, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 180, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    assert page.evaluate("getSelection().toString()") in ADDRESSES["delivered"]
    assert page.evaluate("getSelection().toString().length") > len(RUN)
    expect(page).to_have_url(f"{user.base}/app/activity")
    # The list is longer than the window, and the row is near its top when it has scrolled.
    page.set_viewport_size({"width": 1280, "height": int(box["y"]) + 40})
    page.keyboard.press("ArrowDown")
    place = page.evaluate(_SCROLLED)
    page.mouse.click(box["x"] - 20, box["y"] - place + box["height"] / 2)
    expect(page).to_have_url(re.compile(f"/app/activity/{emails['delivered']}$"))
    expect(drawer_of(page)).to_contain_text("The delivered one")
    assert page.evaluate("scrollY") == place
    page.keyboard.press("Escape")
    expect(drawer_of(page)).to_have_count(0)
    assert page.evaluate("scrollY") == place


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


def test_hostile_text_is_only_text(user: User, emails: dict[str, str]) -> None:
    dns = {"status": "differs", "values": [HOSTILE], "advice": HOSTILE}
    records = [RECORD | {"host": HOSTILE, "value": HOSTILE, "purpose": HOSTILE, "dns": dns}]
    domain = DOMAIN | {"domain": HOSTILE, "status": "failed", "records": records}
    sender = {"address": HOSTILE, "verified": False, "default": False}
    answers = {"domains": [domain], "domains/acme.example": domain, "senders": [sender]}
    answer, rewrite = answering(**answers), rewriting(_hostile)
    user.interfere = lambda route: answer(route) or rewrite(route)
    page = user.go("/app/")
    for path, title, ready in (
        ("/app/", "Overview", ".errors li"),
        ("/app/", "Overview", ".attention b"),
        ("/app/activity", "Activity", "a.row"),
        (f"/app/activity/{emails['bounced']}", "Activity", ".reason"),
        ("/app/webhooks", "Webhooks", "a.row"),
        ("/app/domains", "Domains", ".senders .who"),
        ("/app/domains/acme.example", HOSTILE, ".zone td:nth-child(3)"),
    ):
        user.follow(path, title)
        expect(page.locator(ready).first).to_contain_text(HOSTILE)
        expect(page.locator(ready).first).to_be_visible()
        markup = "#app script, #app [onerror], #app [onload], #app img:not([alt=''])"
        assert page.locator(markup).count() == 0
        assert page.evaluate("window.pwned") is None
    expect(page.locator(".zone .badge")).to_have_text("another value")


def test_data_stays_while_the_service_is_down(user: User, emails: dict[str, str]) -> None:
    """A slow service is named; when it is down, the page keeps its data and says since when."""
    assert emails
    user.page.clock.install()
    with user.holding():
        page = user.go(f"/app/activity?tag=run:{RUN}")
        page.clock.fast_forward(3_100)
        expect(page.get_by_text("The service is slow to answer.")).to_be_visible()
    expect(rows(page)).to_have_count(2)
    expect(page.get_by_text("The service is slow to answer.")).to_have_count(0)
    user.interfere = unreachable()
    page.clock.fast_forward(12_000)
    expect(page.get_by_text("The service does not answer. You see the data of")).to_be_visible()
    expect(rows(page)).to_have_count(2)
    user.interfere = lambda _route: False
    page.get_by_role("button", name="Ask now").click()
    expect(page.get_by_text("The service does not answer.")).to_have_count(0)


def test_an_owner_decides_about_emails_that_wait(user: User, stack: dict[str, Any]) -> None:
    options = ("--preset", "send", "--agent", "--agent-recipient", "*")
    owned = (*options, "--agent-confirmation", "owner", "--account", user.account["id"])
    agent = str(operate("key", "create", "--name", "bot", *owned)["key"])
    for key, who, button, said, status in (
        (agent, "an owner of the account", "Send now", "The email is being sent.", "Sent"),
        (stack["keys"]["live"], "somebody", "Do not send", "The email is canceled.", "canceled"),
    ):
        fields = {"to": "held@customer.example", "html": "<p>Read me</p>", "hold": True}
        message = send_email(stack, key, **fields).json()["messageId"]
        page = user.go(f"/app/activity/{message}")
        expect(drawer_of(page)).to_contain_text(f"It is held until {who} releases it.")
        row = page.locator("tr", has=page.locator(f"a[href*='{message}']"))
        expect(row.locator(".badge")).to_have_text("for an owner" if key == agent else "held")
        if key == agent:
            expect(drawer_of(page).frame_locator("iframe").get_by_text("Read me")).to_be_visible()
        drawer_of(page).get_by_role("button", name=button).click()
        expect(window_of(page).get_by_role("button", name="Cancel")).to_be_focused()
        page.keyboard.press("j")  # the window stays about this email
        window_of(page).get_by_role("button", name=button).click()
        expect(page.locator(".toasts:popover-open")).to_have_text(said)  # above the drawer
        page.reload()
        expect(drawer_of(page).locator(".timeline")).to_contain_text(status)
        expect(drawer_of(page).get_by_role("button", name=button)).to_have_count(0)


def test_a_webhook_from_its_creation_to_its_end(user: User, stack: dict[str, Any]) -> None:
    page = user.go("/app/webhooks")
    page.get_by_role("button", name="Add endpoint").click()
    url = f"{stack['inbox_url']}/hooks/{RUN}"
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
    page.get_by_role("button", name="New secret").click()
    page.get_by_role("dialog").get_by_role("button", name="Make the secret").click()
    expect(page.locator("dialog pre")).to_contain_text("whsec_")
    page.get_by_role("button", name="I have saved it").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete the endpoint").click()
    expect(page).to_have_url(f"{user.base}/app/webhooks")
    expect(page.get_by_text(url)).to_have_count(0)


def test_a_page_that_fails_says_why_in_the_console(user: User) -> None:
    page, logged = user.go("/app/keys"), list[str]()
    page.on("console", lambda message: logged.append(message.text))
    user.interfere = answering(webhooks={"items": [{"types": None}], "total": 1})
    page.get_by_role("navigation").get_by_role("link", name="Webhooks").click()
    expect(page.get_by_text("This page has failed.")).to_be_visible()
    assert any("TypeError" in text for text in logged)
    page.get_by_role("navigation").get_by_role("link", name="Suppressions").click()
    expect(page.get_by_role("heading", level=1, name="Suppressions")).to_be_visible()
    expect(page.get_by_text("This page has failed.")).to_have_count(0)


def test_a_filter_that_is_typed_survives_an_answer(user: User) -> None:
    tag = user.page.get_by_label("Tag, as name:value")
    with user.holding():
        page = user.go("/app/activity")
        tag.press_sequentially("order:1")
    expect(page.locator(".loading")).to_have_count(0)
    expect(tag).to_have_value("order:1")
    tag.press("Enter")
    expect(page.get_by_role("heading", name="No email matches")).to_be_visible()


#: Waits until what has come is drawn.
_DRAWN: Final = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.mark.usefixtures("emails")
def test_late_answers_do_not_move_what_is_read(user: User) -> None:
    """If answers come one by one, the figures before the warnings, pages shift by under 0.05."""
    user.context.add_init_script(SHIFTS)
    page = user.page
    page.set_viewport_size({"width": 375, "height": 800})
    broken = {"id": "w", "url": "https://shop.example", "types": ["*"], "enabled": False}
    broken |= {"disabledAt": AT, "failingSince": AT, "createdAt": AT}
    for path, ready in (
        ("/app/", ".attention"),
        (f"/app/activity?tag=run:{RUN}", "a.row"),
        ("/app/keys", "td"),
        ("/app/account", "form.settings"),
        ("/app/webhooks", "a.row"),
    ):
        held: list[Route] = []

        def hold(route: Route, held: list[Route] = held) -> bool:
            if route.request.method != "GET" or "/v1/session" in route.request.url:
                return False
            held.append(route)
            return True

        def answer_warning(route: Route) -> bool:
            if "/v1/overview" not in route.request.url:
                return False
            route.fulfill(json=OVERVIEW | {"webhooks": [broken]})  # the overview warns of it
            return True

        user.interfere = hold
        page.goto(user.base + path)
        expect(page.locator(".loading").first).to_be_attached()
        page.wait_for_timeout(200)
        user.interfere = answer_warning  # on a busy machine it is asked for only now
        held.sort(key=lambda route: "/analytics" in route.request.url)
        while held:
            route = held.pop()
            if not answer_warning(route):
                route.continue_()
            answer = route.request.response()
            assert answer
            answer.finished()
            page.evaluate(_DRAWN)
        expect(page.locator(ready).first).to_be_visible()
        page.evaluate(_DRAWN)
        shifted = page.evaluate("window.shifted")
        assert shifted < 0.05, (path, shifted)

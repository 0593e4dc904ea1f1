"""The templates of the dashboard, with the running local stack."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, Route, expect

from tests.browser.accessibility import assert_accessible
from tests.browser.dashboard import SHIFTS, User, exchange, session, unreachable
from tests.browser.engines import PATIENCE
from tests.stack import AGENT, send_email

pytestmark = pytest.mark.stack

RUN: Final = uuid4().hex[:8]
ADA: Final = f"ada-{RUN}@acme.example"
BOB: Final = f"bob-{RUN}@acme.example"
#: Each part would set `pwned`, leave the frame or load something if it could.
HOSTILE: Final = """<!doctype html><html><head><base href="https://evil.example/">
<meta http-equiv="refresh" content="0;url=https://evil.example/">
<link rel="stylesheet" href="https://evil.example/a.css">
<style>@import url(https://evil.example/b.css); p { color: rgb(1, 1, 1) }
@media (prefers-color-scheme: dark) { p { color: rgb(2, 2, 2) !important } }</style></head>
<body onload="pwned=1" background="https://evil.example/c.png">
<script>top.pwned = window.pwned = 1</script><script src="/assets/main.js"></script>
<img src="x" onerror="pwned=1" alt="no picture"><svg onload="pwned=1"><script>pwned=1</script></svg>
<iframe src="/app/"></iframe><object data="/app/"></object>
<a id="link" href="javascript:pwned=1" onclick="pwned=1">Click</a>
<form action="https://evil.example/"><input name="a"><button>Go</button></form>
<img src="https://evil.example/d.png" srcset="https://evil.example/e.png 2x" alt="far away">
<p>Hello {{ name }}</p></body></html>
"""


@pytest.fixture
def user(browser: Browser, dashboard: dict[str, Any]) -> Iterator[User]:
    """A signed-in author, whose pages must cause no error and no violation of the policy."""
    user = _author(browser, dashboard, ADA)
    yield user
    user.close()


def _author(browser: Browser, dashboard: dict[str, Any], email: str, role: str = "author") -> User:
    account = dashboard["accounts"]["live"]
    return User(browser, dashboard, session(dashboard["base_url"], email, account, role))


@pytest.fixture(scope="module")
def begin(dashboard: dict[str, Any]) -> Iterator[Callable[..., str]]:
    """Create a template with a source; return its id."""
    base, account = dashboard["base_url"], dashboard["accounts"]["live"]
    token = exchange(base, session(base, ADA, account, "author"), account)["token"]
    headers = AGENT | {"Authorization": f"Bearer {token}"}
    api = httpx.Client(base_url=f"{base}/api/v1/", headers=headers, timeout=PATIENCE / 1000)

    def begin(html: str, name: str = "Receipt") -> str:
        body = {"name": name, "category": "billing", "html": html}
        return str(api.post("templates", json=body).raise_for_status().json()["id"])

    yield begin
    api.close()


def _open(user: User, template_id: str) -> Page:
    page = user.go(f"/app/templates/{template_id}")
    expect(_source(page)).to_be_visible()
    return page


def _source(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Source")


def _frame(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def _write(page: Page, text: str, *, at_once: bool = False) -> None:
    """Write at the end of the source.

    Undo takes back what was typed without a pause of half a second: on a busy machine that is
    sure only of text that comes at once.
    """
    _source(page).click()
    page.keyboard.press("Control+End")
    (page.keyboard.insert_text if at_once else page.keyboard.type)(text)


def _saved(page: Page) -> None:
    expect(page.locator(".save")).to_have_text(re.compile("· saved$"))


def _publish(page: Page, version: int, warning: str = "") -> None:
    page.get_by_role("button", name="Publish", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(warning)
    dialog.get_by_role("button", name="Publish").click()
    expect(page.get_by_text(f"Version {version} is published.")).to_be_visible()
    expect(dialog).to_have_count(0)


def test_a_template_from_its_starter_to_its_end(user: User, dashboard: dict[str, Any]) -> None:
    """It is written, published twice, restored, duplicated and deleted; what is undone returns.

    Before the second publication its window says what the email between did not give.
    """
    name = f"Receipt {RUN}"
    page = user.go("/app/templates")
    page.get_by_role("button", name="New template").first.click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Payment Receipt").check()
    page.get_by_role("button", name="Create template").click()
    expect(_frame(page).get_by_text("Thank you for your payment")).to_be_visible()
    first_line = page.locator(".cm-line").first
    expect(first_line).to_have_text(
        re.compile(r"^… styles and layout …\{\{ amount .* received .* layout …Thank you")
    )
    page.get_by_label("invoice_id", exact=True).fill("7-UP")
    expect(_frame(page).get_by_role("cell", name="7-UP")).to_be_visible()
    expect(page.locator(".preview")).to_contain_text("Your Shop receipt for invoice 7-UP")
    page.get_by_label(re.compile("^Rename the sample set")).click()
    page.get_by_role("dialog").get_by_label("Name").fill("first order")
    page.get_by_role("button", name="Rename set").click()
    expect(page.get_by_label("Sample set", exact=True)).to_have_value("first order")
    expect(page.get_by_label("invoice_id", exact=True)).to_have_value("7-UP")

    _publish(page, 1)
    expect(page.get_by_role("button", name="Published")).to_be_disabled()
    values = {"invoice_id": "7", "amount": "5", "currency": "EUR"}
    of = {"templateId": page.url.rpartition("/")[2], "variables": values, "html": None}
    sent = send_email(dashboard, dashboard["keys"]["live"], to=ADA, subject=None, **of)
    assert sent.status_code == 200, sent.text
    page.get_by_label("Subject").fill("Bill {{ invoice_id }} {{ total }}")
    _write(page, "<!-- second -->")
    _saved(page)
    _publish(page, 2, "total is required, and 1 of 1 emails of the last 7 days (100 %)")
    page.get_by_role("button", name="Versions").click()
    page.get_by_text("Version 1", exact=True).click()
    changes = page.get_by_role("region", name="Changes of the source")
    expect(changes.locator(".added")).to_contain_text("<!-- second -->")
    page.get_by_role("dialog").get_by_text("preview", exact=True).click()
    shown = page.get_by_role("dialog").frame_locator("iframe")
    expect(shown.locator("body")).to_contain_text("7-UP")
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_label("Subject")).to_have_value(
        "Your Shop receipt for invoice {{ invoice_id }}"
    )
    expect(page.locator(".save")).to_contain_text("changed since version 2")
    _source(page).click()
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+End")
    expect(page.locator(".cm-line", has_text="<!-- second -->")).to_be_visible()
    _saved(page)
    page.get_by_role("button", name="Duplicate").click()
    expect(page.get_by_role("heading", name=f"Copy of {name}")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete the template").click()
    expect(page).to_have_url(f"{user.base}/app/templates")
    expect(page.get_by_role("row", name=f"Copy of {name}")).to_have_count(0)
    expect(page.get_by_role("row", name=name)).to_contain_text("version 2 draft")


def test_a_test_goes_to_a_member(user: User, begin: Callable[..., str]) -> None:
    page = _open(user, begin("<p>Hello {{ name }}</p>"))
    page.get_by_label("Subject").fill(f"Test {RUN}")
    page.get_by_role("button", name="Send a test").click()
    page.get_by_role("button", name="Send the test").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("name")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_label("name", exact=True).fill("Ada")
    page.get_by_role("button", name="Send a test").click()
    page.get_by_role("button", name="Send the test").click()
    expect(page.get_by_text(f"The test is on its way to {ADA}.")).to_be_visible()
    user.follow("/app/activity", "Activity")
    expect(page.get_by_role("row", name=f"Test {RUN}")).to_be_visible()


def test_the_preview_is_what_the_service_renders(user: User, begin: Callable[..., str]) -> None:
    template_id = begin("<style>p { color: red }</style><p>{{ name | default('é & <b>') }}</p>")
    with user.page.expect_response("**/render") as answer:
        page = _open(user, template_id)
    expect(_frame(page).locator("p")).to_have_text("é & <b>")
    rendered = answer.value.json()
    views = page.get_by_role("group", name="View")
    views.get_by_text("HTML").click()
    assert page.get_by_role("region", name="HTML of the email").text_content() == rendered["html"]
    views.get_by_text("text").click()
    assert page.get_by_role("region", name="Text part").text_content() == rendered["text"]


@pytest.mark.both_browsers
def test_a_hostile_email_is_only_shown(user: User, begin: Callable[..., str]) -> None:
    loaded: list[str] = []
    user.context.route("https://evil.example/**", lambda route: loaded.append(route.request.url))
    page = _open(user, begin(HOSTILE, name='<img src=x onerror="pwned=1">'))
    page.get_by_label("name", exact=True).fill("<script>pwned=1</script>")
    hello = _frame(page).locator("p")
    expect(hello).to_have_text("Hello <script>pwned=1</script>")
    expect(hello).to_have_css("color", "rgb(1, 1, 1)")
    page.get_by_role("group", name="Colours of the preview").get_by_text("dark").click()
    expect(hello).to_have_css("color", "rgb(2, 2, 2)")
    _frame(page).locator("#link").evaluate("link => link.click()")
    frame = page.frames[-1]
    assert frame.url == f"{user.base}/app/preview.html"
    assert frame.evaluate("[window.origin, window.pwned ?? null]") == ["null", None]
    assert page.evaluate("window.pwned ?? null") is None
    assert frame.locator("iframe, object, base, link, meta[http-equiv]").count() == 0
    # CodeMirror has its styles, which the page's policy forbids outside a shadow root.
    expect(page.locator(".cm-scroller")).to_have_css("display", "flex")
    assert (len(user.context.pages), loaded) == (1, [])
    # The browsers report what the frame's policy stopped.
    assert {*user.foreign} <= {"https://evil.example/b.css"}
    assert [error for error in user.errors if "blocked" not in error] == []
    user.foreign.clear()
    user.errors.clear()


def test_images_are_loaded_on_request(user: User, begin: Callable[..., str]) -> None:
    """Until an author asks for them, nobody learns that the email was looked at."""
    asked: list[str] = []

    def note(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=200, content_type="image/svg+xml", body="<svg/>")

    user.context.route("https://images.example/**", note)
    page = _open(
        user, begin('<p>Hello</p><img src="https://images.example/a.svg" alt="A" width="9">')
    )
    expect(_frame(page).locator("p")).to_have_text("Hello")
    assert asked == []
    page.get_by_label("Load images").check()
    expect(_frame(page).locator("img")).to_have_js_property("complete", value=True)
    expect(_frame(page).locator("img")).to_have_attribute("src", "https://images.example/a.svg")
    assert asked == ["https://images.example/a.svg"]
    user.foreign.clear()  # the author wanted it


def test_two_authors_lose_nothing(
    user: User, browser: Browser, dashboard: dict[str, Any], begin: Callable[..., str]
) -> None:
    template_id = begin("<p>Both</p>", name=f"Both {RUN}")
    bob = _author(browser, dashboard, BOB)
    mine, theirs = _open(user, template_id), _open(bob, template_id)
    _write(theirs, "of Bob")
    _saved(theirs)
    _write(mine, "of Ada")
    dialog = mine.get_by_role("dialog")
    expect(dialog).to_contain_text(BOB)
    both = dialog.get_by_role("region", name="What differs in the source")
    expect(both.locator(".added")).to_contain_text("of Ada")
    expect(both.locator(".removed")).to_contain_text("of Bob")
    assert_accessible(mine, "dialog[open]")
    dialog.get_by_role("button", name="Continue with mine").click()
    expect(dialog).to_have_count(0)
    _saved(mine)
    expect(mine.locator(".cm-content")).to_contain_text("of Ada")
    _write(theirs, " again")
    theirs.get_by_role("dialog").get_by_role("button", name="Continue with theirs").click()
    expect(theirs.locator(".cm-content")).to_contain_text("of Ada")
    bob.follow("/app/templates", "Templates")
    copies = theirs.get_by_role("link", name=f"Copy of Both {RUN}")
    expect(copies).to_have_count(2)
    copies.first.click()
    expect(theirs.locator(".cm-line").last).to_have_text("<p>Both</p>of Bob again")
    bob.close()


def test_text_survives_an_outage_and_a_reload(user: User, begin: Callable[..., str]) -> None:
    page = _open(user, begin("<p>Before</p>"))
    user.interfere = unreachable("PUT")
    page.get_by_label("Keep content").select_option("Never")
    _write(page, "<p>After</p>", at_once=True)
    expect(page.locator(".save")).to_contain_text("Not saved: The service does not answer.")
    user.interfere = lambda _route: False
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("After")
    expect(page.get_by_label("Keep content")).to_have_value("0")
    _saved(page)
    _source(page).click()
    page.keyboard.press("Control+z")
    expect(page.locator(".cm-content")).not_to_contain_text("After")


def test_nothing_moves_when_the_editor_has_come(user: User, begin: Callable[..., str]) -> None:
    user.context.add_init_script(SHIFTS)
    user.page.set_viewport_size({"width": 412, "height": 823})
    page = _open(user, begin("<p>Hello</p>"))
    expect(page.locator(".editor > .loading")).to_have_count(0)
    assert page.evaluate("shifted") < 0.05


def test_checks_lead_to_their_lines(user: User, begin: Callable[..., str]) -> None:
    page = _open(user, begin("<p>One</p>\n<p>{{ name | evil }}</p>\n"))
    error = page.locator(".checks li").first
    expect(error).to_contain_text("error")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    error.get_by_role("button", name="Line 2").press("Enter")
    expect(_source(page)).to_be_focused()
    expect(page.locator(".cm-activeLine")).to_have_text("<p>{{ name | evil }}</p>")
    page.get_by_role("button", name="Publish", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_contain_text("The source has errors")
    expect(dialog.get_by_role("button", name="Publish")).to_be_disabled()

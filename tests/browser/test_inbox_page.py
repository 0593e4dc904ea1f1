"""The inbox page works in a real browser."""

import struct
import zlib
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from time import monotonic
from typing import Final

import pytest
from botocore.exceptions import ClientError
from playwright.sync_api import Browser, FloatRect, Page, expect

from local.ses.behaviour import Behaviour
from tests.browser.accessibility import assert_accessible
from tests.browser.engines import PATIENCE
from tests.integration.local.local_ses import LocalSes

type Rgb = tuple[int, int, int]
type Open = Callable[..., Page]
type Send = Callable[..., str]

LOGO: Final = (1, 200, 3)
LIGHT: Final = (250, 240, 230)
DARK: Final = (10, 20, 30)


@pytest.fixture
def page(browser: Browser, local_ses: LocalSes) -> Iterator[Open]:
    """Return a function that opens the inbox, 1280 pixels wide, and waits until it is live."""
    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="null")
    page.set_default_timeout(PATIENCE)

    def open_inbox(fragment: str = "") -> Page:
        page.goto(f"{local_ses.inbox_url}/#{fragment}")
        expect(page.locator("#live")).to_have_text("Live")
        return page

    yield open_inbox
    page.close()


def picture(colour: Rgb) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = struct.pack("!I", zlib.crc32(kind + data))
        return struct.pack("!I", len(data)) + kind + data + crc

    size = struct.pack("!IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" + bytes(colour))
    chunks = chunk(b"IHDR", size) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def colourful_mail() -> bytes:
    """Return a mail whose colours show its scheme, with a script that would change them."""
    mail = EmailMessage()
    mail["From"] = "post@sender.example"
    mail["Subject"] = "Colours"
    mail.set_content("see https://example.com/a.\n")
    mail.add_alternative(
        f"""<!doctype html><style>
        body {{ background: rgb{LIGHT} }}
        img {{ position: fixed; top: 0; left: 0; width: 40px; height: 40px }}
        @media (prefers-color-scheme: dark) {{ body {{ background: rgb{DARK} }} }}
        </style><img src="cid:logo"><script>document.body.style.background = "red"</script>""",
        subtype="html",
    )
    html = mail.get_payload(1)
    assert isinstance(html, EmailMessage)
    html.add_related(picture(LOGO), "image", "png", cid="<logo>")
    mail.add_attachment(b"a,b\r\n", "text", "csv", filename="table.csv")
    return mail.as_bytes()


def box(page: Page) -> FloatRect:
    """Return the position of the frame with the mail's HTML."""
    found = page.locator("iframe").bounding_box()
    assert found
    return found


def colour(page: Page, x: float, y: float) -> Rgb:
    """Return the RGB of one pixel; no PNG filter changes the first pixel of the first row."""
    png = page.screenshot(clip={"x": round(x), "y": round(y), "width": 1, "height": 1})
    at = png.index(b"IDAT")
    length = int.from_bytes(png[at - 4 : at])
    red, green, blue = zlib.decompressobj().decompress(png[at + 4 : at + 4 + length])[1:4]
    return red, green, blue


def expect_colour(page: Page, x: float, y: float, expected: Rgb) -> None:
    end = monotonic() + PATIENCE / 1000
    while (found := colour(page, x, y)) != expected:
        assert monotonic() < end, f"{found} does not become {expected}"


def test_mail_appears_when_it_arrives(page: Open, send: Send) -> None:
    inbox = page(send("first@example.com"))
    expect(inbox.locator(".row[aria-current]")).to_have_count(1)
    inbox.keyboard.press("Escape")
    new = send("second@example.com")
    expect(inbox.locator(".row .to")).to_have_text(["second@example.com", "first@example.com"])
    expect(inbox.locator(".row.new")).to_have_attribute("data-id", new)
    expect(inbox).to_have_title("(1) Pillarbox inbox")
    inbox.keyboard.press("ArrowDown")
    expect(inbox.locator("[aria-current]")).to_have_attribute("data-id", new)
    expect(inbox.locator(".row.new")).to_have_count(0)
    inbox.keyboard.press("ArrowDown")
    expect(inbox.locator("[aria-current] .to")).to_have_text("first@example.com")


def test_the_frame_in_light_and_dark(page: Open, send: Send) -> None:
    inbox = page(send(raw=colourful_mail()))
    x, y = box(inbox)["x"], box(inbox)["y"]
    expect_colour(inbox, x + 20, y + 20, LOGO)
    reader = inbox.context.new_cdp_session(inbox)
    for own in ("light", "dark"):
        # The page's own scheme alone: Playwright's emulation also overrides the frame's.
        feature = {"name": "prefers-color-scheme", "value": own}
        reader.send("Emulation.setEmulatedMedia", {"features": [feature]})
        assert inbox.evaluate(f"matchMedia('(prefers-color-scheme: {own})').matches")
        for scheme, expected in (("Light", LIGHT), ("Dark", DARK)):
            inbox.get_by_text(scheme, exact=True).click()
            expect_colour(inbox, x + 100, y + 100, expected)


def test_the_views_until_all_is_cleared(page: Open, send: Send, local_ses: LocalSes) -> None:
    local_ses.mailbox.hint = "curl -sS http://127.0.0.1/…"
    inbox = page(send(raw=colourful_mail()))
    inbox.get_by_text("Phone", exact=True).click()
    assert box(inbox)["width"] == 375
    inbox.get_by_text("Desktop", exact=True).click()
    assert box(inbox)["width"] > 800
    view = inbox.locator("#view")
    inbox.locator("#tab-text").click()
    expect(view.locator("a")).to_have_attribute("href", "https://example.com/a")
    for tab, shown in {
        "headers": "Colours",
        "attachments": "table.csv",
        "raw": "Subject: Colours",
    }.items():
        inbox.locator(f"#tab-{tab}").click()
        expect(view).to_contain_text(shown)
    inbox.locator("#clear").click()
    inbox.get_by_role("button", name="Cancel").click()
    expect(inbox.locator(".row")).to_have_count(1)
    inbox.locator("#clear").click()
    inbox.get_by_role("button", name="Delete all").click()
    expect(inbox.locator("#nothing")).to_contain_text("No mail yet")
    expect(inbox.locator("#hint pre")).to_have_text("curl -sS http://127.0.0.1/…")
    expect(inbox.locator("#mail")).to_be_hidden()


def test_searching_narrows_the_list(page: Open, send: Send) -> None:
    send("ada@example.com")
    send("bob@example.com")
    inbox = page()
    expect(inbox.locator(".row")).to_have_count(2)
    inbox.locator("#search").fill("bob@")
    expect(inbox.locator(".row")).to_have_count(1)
    send("eve@example.com")
    send("bob@example.com", "zoe@example.com")
    expect(inbox.locator(".row .to")).to_have_text(
        ["bob@example.com and 1 more", "bob@example.com"]
    )
    search = inbox.locator("#search")
    search.fill("")
    expect(inbox.locator("#terms")).to_contain_text("has:attachment")
    send("dora@example.com", raw=colourful_mail())
    search.fill("has:attachment")
    expect(inbox.locator("#terms")).to_be_hidden()
    expect(inbox.locator(".row .to")).to_have_text(["dora@example.com"])
    search.fill("before:yesterday")
    expect(inbox.locator("#nothing")).to_contain_text("before:2026-01-31")
    search.fill("to:ada is:unread")
    expect(inbox.locator(".row .to")).to_have_text(["ada@example.com"])


def test_unread_mail_stays_so_until_it_is_opened(page: Open, send: Send) -> None:
    send()
    inbox = page()
    expect(inbox.locator(".row.new")).to_have_count(1)
    inbox.reload()
    expect(inbox).to_have_title("(1) Pillarbox inbox")
    inbox.locator(".row.new").click()
    expect(inbox.locator(".row:not(.new)")).to_have_count(1)
    inbox.reload()
    expect(inbox.locator(".row:not(.new)")).to_have_count(1)
    inbox.get_by_role("button", name="Mark as unread").click()
    expect(inbox.locator("#mail")).to_be_hidden()
    expect(inbox.locator(".row.new")).to_have_count(1)
    inbox.reload()
    expect(inbox.locator(".row.new")).to_have_count(1)


def test_an_open_mail_shows_codes_links_and_problems(
    page: Open, send: Send, local_ses: LocalSes
) -> None:
    local_ses.mailbox.dashboard = "http://127.0.0.1:1/app"
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "post@sender.example", "Your code"
    mail.set_content("Your code is 482913.")
    html = '<p>Your code is 482913.</p><a href="http://x.example/a">Go</a><img src="//x">'
    mail.add_alternative(html, subtype="html")
    inbox = page(send(raw=mail.as_bytes()))
    inbox.context.grant_permissions(["clipboard-read", "clipboard-write"])
    inbox.get_by_role("button", name="482913").click()
    expect(inbox.get_by_role("button", name="482913")).to_have_attribute("data-feedback", "Copied")
    assert inbox.evaluate("navigator.clipboard.readText()") == "482913"
    inbox.locator("#tab-links").click()
    expect(inbox.locator("#view a")).to_have_attribute("href", "http://x.example/a")
    inbox.locator("#tab-check").click()
    expect(inbox.locator("#view")).to_contain_text("The link has http: without encryption. Line 1")
    expect(inbox.locator("#view li").first).not_to_have_class("minor")
    assert_accessible(inbox, "#mail")
    shown = inbox.get_by_role("link", name="Show in the dashboard")
    address = "http://127.0.0.1:1/app/activity/0190f2c1-0000-7000-8000-000000000001"
    expect(shown).to_have_attribute("href", address)
    expect(inbox.get_by_role("link", name="Dashboard", exact=True)).to_have_attribute(
        "href", "http://127.0.0.1:1/app/"
    )


def test_a_deleted_mail_disappears(page: Open, send: Send, local_ses: LocalSes) -> None:
    send("kept@example.com")
    deleted = [send(f"deleted{number}@example.com") for number in range(2)]
    inbox = page(deleted[0])
    expect(inbox.locator(".row")).to_have_count(3)
    inbox.get_by_role("button", name="Delete", exact=True).click()
    expect(inbox.locator(".row")).to_have_count(2)
    expect(inbox.locator("#mail")).to_be_hidden()
    inbox.locator(".row").first.click()
    expect(inbox.locator("#mail")).to_be_visible()
    local_ses.on_loop(lambda: local_ses.mailbox.delete(deleted[1]))
    expect(inbox.locator(".row .to")).to_have_text(["kept@example.com"])
    expect(inbox.locator("#mail")).to_be_hidden()


def test_a_phone_shows_the_list_or_the_mail(page: Open, send: Send) -> None:
    """Both pass axe's rules for WCAG 2.2 A and AA, wide and narrow."""
    mail_id = send(raw=colourful_mail())
    inbox = page()
    inbox.set_viewport_size({"width": 320, "height": 700})
    mails = inbox.locator("#list")
    expect(mails.locator(".row")).to_be_visible()
    assert inbox.evaluate("document.documentElement.scrollWidth") == 320
    mails.locator(".row").click()
    expect(inbox.locator("iframe")).to_be_visible()
    expect(mails).to_be_hidden()
    assert inbox.evaluate("document.documentElement.scrollWidth") == 320
    for tab in inbox.get_by_role("tab").all():
        place = tab.bounding_box()
        assert place
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 320
    assert mail_id in inbox.evaluate("location.hash")
    assert_accessible(inbox)
    inbox.set_viewport_size({"width": 320, "height": 700})
    inbox.locator(".back").click()
    expect(mails).to_be_visible()
    assert_accessible(inbox, "#list")


def test_a_row_says_what_became_of_the_mail(page: Open, send: Send, local_ses: LocalSes) -> None:
    local_ses.mailbox.set_feedback_forwarding("sender.example", enabled=False)
    send(raw=colourful_mail())
    send("ada@example.com", "bounce@simulator.amazonses.com")
    inbox = page()
    expect(inbox.locator(".row")).to_have_count(2)
    failed, delivered = inbox.locator(".row").all()
    expect(delivered.locator(".from")).to_have_text("post@sender.example")
    expect(delivered.locator(".outcome")).to_have_text("delivered")
    expect(delivered.get_by_role("img", name="1 attachment")).to_be_visible()
    expect(delivered.locator(".preview")).to_have_text("see https://example.com/a.")
    expect(failed.locator(".from")).to_have_text("Post")
    expect(failed.locator(".outcome.bad")).to_have_text("1 of 2 bounced")
    expect(failed.locator(".preview")).to_have_text("550 5.1.1 user unknown")
    expect(failed.get_by_role("img")).to_have_count(0)


def test_a_refused_mail_shows_its_reason(page: Open, send: Send, local_ses: LocalSes) -> None:
    """A mail that SES refuses appears at once, with SES's reason in its row and when it is open."""
    reason = "The message contains content that cannot be sent."
    inbox = page()
    local_ses.on_loop(lambda: local_ses.mailbox.set_behaviour(Behaviour("reject", times=1)))
    with pytest.raises(ClientError):
        send()
    expect(inbox.locator(".row .outcome.bad")).to_have_text("refused")
    expect(inbox.locator(".row .preview")).to_have_text(reason)
    inbox.reload()
    inbox.locator(".row").click()
    expect(inbox.locator("#envelope .address")).to_have_text(f"ada@example.com refused: {reason}")


def test_recipients_are_told_apart(page: Open, send: Send) -> None:
    raw = b"From: post@sender.example\r\nTo: a@example.com\r\nCc: c@example.com\r\n\r\nHello\r\n"
    inbox = page(send("a@example.com", "c@example.com", "bounce@simulator.amazonses.com", raw=raw))
    expect(inbox.locator("#envelope dt")).to_contain_text(["From", "To", "Cc", "Bcc"])
    expect(inbox.locator("#envelope dd").nth(2)).to_have_text("c@example.com delivered")
    expect(inbox.locator("#envelope dd").nth(3)).to_have_text(
        "bounce@simulator.amazonses.com bounced: 550 5.1.1 user unknown"
    )

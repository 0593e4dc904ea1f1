"""The inbox page in a real browser."""

import struct
import zlib
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from typing import Final

import pytest

from tests.browser.chromium import Browser
from tests.integration.local.local_ses import LocalSes

type Rgb = tuple[int, int, int]
Send = Callable[..., str]

LOGO: Final = (1, 200, 3)
LIGHT: Final = (250, 240, 230)
DARK: Final = (10, 20, 30)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    try:
        yield browser
    finally:
        browser.close()


@pytest.fixture
def page(browser: Browser, local_ses: LocalSes) -> Iterator[Callable[[str], Browser]]:
    """Opens the inbox at a fragment, 1280 pixels wide, and waits until it is live."""

    def page(fragment: str = "") -> Browser:
        browser.view(1280, 800)
        browser.open(f"{local_ses.inbox_url}/#{fragment}")
        browser.until("document.querySelector('#live')?.dataset.state === 'live'")
        return browser

    yield page
    browser.open("about:blank")


def picture(colour: Rgb) -> bytes:
    """A PNG of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = struct.pack("!I", zlib.crc32(kind + data))
        return struct.pack("!I", len(data)) + kind + data + crc

    size = struct.pack("!IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" + bytes(colour))
    chunks = chunk(b"IHDR", size) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def colourful_mail() -> bytes:
    """HTML whose colours tell what it was shown as, with a script that would spoil them."""
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


def rows(browser: Browser) -> str:
    return str(
        browser.js("[...document.querySelectorAll('.row .to')].map(e => e.textContent).join()")
    )


def frame(browser: Browser, what: str) -> float:
    return float(browser.js(f"document.querySelector('iframe').getBoundingClientRect().{what}"))


def test_an_empty_inbox_says_how_to_send(page: Callable[..., Browser], local_ses: LocalSes) -> None:
    """With nothing there it shows the line to paste."""
    local_ses.mailbox.hint = "curl -sS http://127.0.0.1/…"
    browser = page()
    browser.until("document.querySelector('#hint pre').innerText.startsWith('curl')")
    assert "No mail yet" in browser.js("document.querySelector('#nothing').innerText")


def test_mail_appears_as_it_comes(page: Callable[..., Browser], send: Send) -> None:
    """Without a reload, newest first, marked as new until it is opened."""
    send("first@example.com")
    browser = page()
    browser.until("document.querySelectorAll('.row').length === 1")
    new = send("second@example.com")
    browser.until("document.querySelectorAll('.row').length === 2")
    assert rows(browser) == "second@example.com,first@example.com"
    assert browser.js("document.querySelector('.row.new').dataset.id") == new
    assert browser.js("document.title") == "(1) Pillarbox inbox"
    browser.js("document.querySelector('.row.new').click()")
    browser.until("document.querySelectorAll('.row.new').length === 0")


def test_the_frame_in_light_and_dark(page: Callable[..., Browser], send: Send) -> None:
    """The picture shows, the script does not run, the switch decides what media queries see."""
    browser = page(send(raw=colourful_mail()))
    browser.until("document.querySelector('iframe') !== null")
    x, y = frame(browser, "left"), frame(browser, "top")
    browser.until_colour(x + 20, y + 20, LOGO)
    for own in (False, True):
        browser.view(1280, 800, dark=own)
        for scheme, colour in (("light", LIGHT), ("dark", DARK)):
            browser.js(f"document.querySelector('[value={scheme}]').click()")
            browser.until_colour(x + 100, y + 100, colour)


def test_the_frame_as_on_a_phone(page: Callable[..., Browser], send: Send) -> None:
    """375 pixels wide, and as wide as there is room on a desktop."""
    browser = page(send(raw=colourful_mail()))
    browser.until("document.querySelector('iframe') !== null")
    browser.js("document.querySelector('[value=phone]').click()")
    assert frame(browser, "width") == 375
    browser.js("document.querySelector('[value=desktop]').click()")
    assert frame(browser, "width") > 800


def test_the_other_views(page: Callable[..., Browser], send: Send) -> None:
    """Text with its links, headers, attachments and the raw mail."""
    browser = page(send(raw=colourful_mail()))
    browser.until("document.querySelector('iframe') !== null")
    shown = {
        "text": "document.querySelector('#view a')?.href === 'https://example.com/a'",
        "headers": "document.querySelector('#view').innerText.includes('Colours')",
        "attachments": "document.querySelector('#view').innerText.includes('table.csv')",
        "raw": "document.querySelector('#view').innerText.includes('Subject: Colours')",
    }
    for tab, condition in shown.items():
        browser.js(f"document.querySelector('#tab-{tab}').click()")
        browser.until(condition)


def test_arrow_keys_go_through_the_list(page: Callable[..., Browser], send: Send) -> None:
    """Down from nothing opens the newest, further down the next; up goes back."""
    oldest, newest = send("a@example.com"), send("b@example.com")
    browser = page()
    browser.until("document.querySelectorAll('.row').length === 2")
    for key, expected in (("ArrowDown", newest), ("ArrowDown", oldest), ("ArrowUp", newest)):
        browser.press(key)
        browser.until(f"document.querySelector('[aria-current]')?.dataset.id === '{expected}'")


def test_searching_narrows_the_list(page: Callable[..., Browser], send: Send) -> None:
    """What is typed is looked for at once; what comes meanwhile must match too."""
    send("ada@example.com")
    send("bob@example.com")
    browser = page()
    browser.until("document.querySelectorAll('.row').length === 2")
    browser.js(
        "document.querySelector('#search').value = 'bob@';"
        "document.querySelector('#search').dispatchEvent(new Event('input'))"
    )
    browser.until("document.querySelectorAll('.row').length === 1")
    send("eve@example.com")
    send("bob@example.com", "zoe@example.com")
    browser.until("document.querySelectorAll('.row').length === 2")
    assert rows(browser) == "bob@example.com and 1 more,bob@example.com"


def test_on_a_phone_one_thing_at_a_time(page: Callable[..., Browser], send: Send) -> None:
    """The list or the mail, none wider than the screen, and a way back."""
    mail_id = send(raw=colourful_mail())
    browser = page()
    browser.view(400, 800)
    browser.until("document.querySelector('.row') !== null")
    assert browser.js("document.documentElement.scrollWidth") == 400
    browser.js("document.querySelector('.row').click()")
    browser.until("document.querySelector('iframe') !== null")
    assert browser.js("getComputedStyle(document.querySelector('#list')).display") == "none"
    assert browser.js("document.documentElement.scrollWidth") == 400
    assert mail_id in browser.js("location.hash")
    browser.js("document.querySelector('.back').click()")
    browser.until("getComputedStyle(document.querySelector('#list')).display !== 'none'")


def test_emptying_leaves_the_empty_page(page: Callable[..., Browser], send: Send) -> None:
    """Clear all closes the open mail as well."""
    browser = page(send(raw=colourful_mail()))
    browser.until("document.querySelector('iframe') !== null")
    browser.js("document.querySelector('#clear').click()")
    browser.until("document.querySelector('#nothing').innerText.includes('No mail yet')")
    assert browser.js("document.querySelector('#mail').hidden") is True

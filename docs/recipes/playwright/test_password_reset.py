"""Resets a password in a browser, through the link that arrives by email."""

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs
from urllib.request import Request, urlopen

import pytest
from pillarbox_testing import Pillarbox
from playwright.sync_api import Page, expect, sync_playwright

expect.set_options(timeout=60_000)  # milliseconds; for slow machines
FORM = b'<form method="post"><label>Email <input name="email"></label><button>Reset</button></form>'


@pytest.fixture
def shop(pillarbox: Pillarbox) -> Iterator[str]:
    """Stand in for your application: a page that emails a link to another page."""

    class Shop(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(b"<h1>Choose a password</h1>" if "token=" in self.path else FORM)

        def do_POST(self) -> None:
            sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            link = f"http://{self.headers['Host']}/?token=secret"
            body = {
                "to": sent["email"][0],
                "starterTemplate": "password_reset",
                "variables": {"reset_url": link},
            }
            headers = {"X-API-Key": pillarbox.key, "User-Agent": "shop/1.0"}
            url = f"{pillarbox.url}/api/v1/emails"
            data = json.dumps(body).encode()
            with urlopen(Request(url, data, headers | {"Content-Type": "application/json"})):  # noqa: S310
                self.answer(b"<h1>Look into your inbox</h1>")

        def answer(self, page: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def page() -> Iterator[Page]:
    """Return a page of a new browser; with pytest-playwright leave this fixture out."""
    with sync_playwright() as playwright:
        # Without CHROMIUM the browser is the one of `playwright install chromium`.
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM"))
        yield browser.new_page()
        browser.close()


def test_the_link_resets_the_password(pillarbox: Pillarbox, page: Page, shop: str) -> None:
    """The link in the email leads to the page for a new password."""
    address = pillarbox.address("ada")
    page.goto(shop)
    page.get_by_label("Email").fill(address)
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_role("heading")).to_have_text("Look into your inbox")
    email = pillarbox.inbox.wait_for(to=address, subject="password")
    page.goto(email.links[0])
    expect(page.get_by_role("heading")).to_have_text("Choose a password")

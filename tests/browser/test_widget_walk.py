"""The preview widget with the service behind it: from an address to a report, in Chromium."""

import http.server
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from disposable_email_domains import blocklist
from playwright.sync_api import Browser, expect

from tests.browser.dashboard import RUN
from tests.browser.engines import PATIENCE
from tests.stack import AGENT

pytestmark = pytest.mark.stack

SECONDS = PATIENCE / 1000
DISPOSABLE = min(blocklist)


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder at an origin of its own until the block ends."""
    handler = partial(_Files, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def latest(stack: dict[str, Any], address: str, **more: Any) -> Any:
    """Wait for an email to an address and return the newest."""
    query = {"to": address, "wait": 60, **more}
    url = f"{stack['inbox_url']}/messages/latest"
    return httpx.get(url, params=query, timeout=SECONDS).raise_for_status().json()


def run(command: str) -> httpx.Response:
    """Send the request that a `curl` line describes."""
    _, url, _, key, _, kind, _, body = shlex.split(command.replace("\\\n", ""))
    headers = dict(line.split(": ", 1) for line in (key, kind))
    return httpx.post(url, content=body.encode(), headers=AGENT | headers, timeout=SECONDS)


def test_a_visitor_gets_mail_and_stops_it(
    browser: Browser, dashboard: dict[str, Any], tmp_path: Path
) -> None:
    base, address = dashboard["base_url"], f"ada-{RUN}@visitor-{RUN}.example"
    script = f'<!doctype html><script src="{base}/widget.js" async data-pillarbox></script>'
    (tmp_path / "index.html").write_text(f"{script}<body><h1>Shop</h1></body>")
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    with serve(tmp_path) as shop:
        page.goto(shop)
        frame = page.frame_locator("iframe")
        email, code = frame.get_by_label("Email address"), frame.get_by_label("Code", exact=True)
        email.fill(f"ada-{RUN}@nomx.example")
        email.press("Enter")
        alert = frame.get_by_role("alert")
        expect(alert.first).to_contain_text("This address ")
        email.fill(f"ada@{DISPOSABLE}")
        email.press("Enter")
        expect(alert.first).to_have_text("This address is of a service for disposable addresses.")
        email.fill(address)
        email.press("Enter")
        expect(code).to_be_focused()
        code.fill(latest(dashboard, address)["codes"][0])
        code.press("Enter")
        expect(frame.get_by_role("heading", name="Your preview key")).to_be_focused()
        command = frame.locator("#command-text").inner_text()

    answer = run(command)
    assert answer.is_success, answer.text
    links = latest(dashboard, address, subject="Welcome to")["links"]
    (report,) = {link for link in links if "/widget/report#" in link}
    page.goto(report)
    page.get_by_role("button", name="Stop and report").click()
    expect(page.get_by_role("heading", name="Reported")).to_be_focused()
    refused = run(command)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "account_suspended")
    context.close()

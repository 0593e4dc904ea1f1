"""The preview widget with the service behind it: from an address to a report, in Chromium."""

import re
import shlex
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest
from disposable_email_domains import blocklist
from playwright.sync_api import Browser, Page, expect

from tests.browser.dashboard import RUN
from tests.browser.engines import PATIENCE
from tests.browser.test_widget import check
from tests.servers import Handler, serving
from tests.stack import AGENT, wait_for

pytestmark = pytest.mark.stack

SECONDS = PATIENCE / 1000
DISPOSABLE = min(blocklist)


class _Files(Handler, SimpleHTTPRequestHandler):
    """Serves a folder."""


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


def try_wrong_addresses(page: Page) -> None:
    """Enter addresses that the frame or the service refuses."""
    frame = page.frame_locator("iframe")
    email, alert = frame.get_by_label("Email address"), frame.get_by_role("alert")
    expect(email).to_be_visible()
    expect(email).not_to_be_focused()  # the site's own page keeps it
    expect(frame.locator("html")).to_have_css("color-scheme", "dark")
    check(page, "address")
    email.fill("ada")
    email.press("Enter")
    expect(alert.first).to_have_text("Enter an email address, such as ada@shop.example.")
    expect(email).to_have_attribute("aria-invalid", "true")
    email.fill(f"ada-{RUN}@nomx.example")
    email.press("Enter")
    expect(alert.first).to_contain_text("This address ")
    expect(email).to_be_focused()
    check(page, "refused")
    email.fill(f"ada@{DISPOSABLE}")
    email.press("Enter")
    expect(alert.first).to_have_text("This address is of a service for disposable addresses.")


def get_key(page: Page, stack: dict[str, Any], address: str) -> str:
    """Enter an address and its code; return the command that the frame shows."""
    frame = page.frame_locator("iframe")
    email, code = frame.get_by_label("Email address"), frame.get_by_label("Code", exact=True)
    alert = frame.get_by_role("alert")
    email.fill(address)
    email.press("Enter")
    expect(code).to_be_focused()
    expect(frame.locator("#code-hint")).to_contain_text(address)
    check(page, "code")
    first = latest(stack, address)["id"]
    frame.get_by_role("button", name="Use another address").press("Enter")
    expect(email).to_have_value(address)
    email.press("Enter")
    expect(code).to_be_focused()
    code.fill("000 000")
    code.press("Enter")
    expect(alert.first).to_contain_text("The code does not work: it is wrong")
    expect(code).to_be_focused()
    second = wait_for(lambda: (mail := latest(stack, address))["id"] != first and mail)
    code.fill(second["codes"][0])
    code.press("Enter")
    expect(frame.get_by_role("heading", name="Your preview key")).to_be_focused()
    expect(frame.locator("#lifetime")).to_contain_text("After 90 days")
    frame.get_by_role("button", name="Copy the key").press("Enter")
    expect(frame.get_by_role("status")).to_have_text(re.compile("Copied|The text is selected"))
    check(page, "key")
    return frame.locator("#command-text").inner_text()


def test_a_visitor_gets_mail_and_stops_it(
    browser: Browser, dashboard: dict[str, Any], tmp_path: Path
) -> None:
    base, address = dashboard["base_url"], f"o'brien+{RUN}@visitor-{RUN}.example"
    script = f'<script src="{base}/widget.js" async data-pillarbox data-theme="dark"></script>'
    (tmp_path / "index.html").write_text(f"<!doctype html>{script}<body><h1>Shop</h1></body>")
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    with serving(partial(_Files, directory=str(tmp_path))) as shop:
        page.goto(shop)
        try_wrong_addresses(page)
        command = get_key(page, dashboard, address)
        page.reload()
        email = page.frame_locator("iframe").get_by_label("Email address")
        expect(email).to_have_value("")  # nothing keeps the key

    answer = run(command)
    assert answer.is_success, answer.text
    links = latest(dashboard, address, subject="Welcome to")["links"]
    (report,) = {link for link in links if "/widget/report#" in link}
    page.goto(report)
    expect(page.get_by_role("button", name="Stop and report")).to_be_visible()
    check(page, "report")
    page.get_by_role("button", name="Stop and report").click()
    expect(page.get_by_role("heading", name="Reported")).to_be_focused()
    check(page, "reported")
    refused = run(command)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "account_suspended")
    context.close()

"""The page /docs works in Chromium, at the address of an API that answers every request."""

import re
import socket
import threading
from collections.abc import Iterator
from functools import partial
from typing import Final

import pytest
import uvicorn
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Position, expect
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from local.reference.app import ApiReference
from openapi.operation import KEY as SCHEME
from openapi.operation import Operation
from openapi.operations import OPERATIONS
from openapi.requests import NAMED
from pillarbox.domain.webhooks.endpoint import WebhookType
from tests.browser.accessibility import violations
from tests.browser.chromium import PATIENCE
from tests.stack import wait_for

KEY: Final = "bx_live_of_this_stack"
SEND: Final = next(operation for operation in OPERATIONS if operation.id == "send_email")
VALUES: Final = {
    "message_id": "m1",
    "id": "t1",
    "webhook_id": "w1",
    "delivery_id": "d1",
    "slug": NAMED["StarterSlug"]["enum"][0],
}
SAMPLES: Final = {
    "Shell": "curl",
    "Python": "requests.",
    "JavaScript": "fetch(",
    "Go": "http.NewRequest(",
}
EXPAND_ALL: Final = """
for (const toggle of document.querySelectorAll(".section-accordion-header > button"))
  if (toggle.ariaExpanded === "false") toggle.click();
"""
#: Returns the names of the operations whose sample contains a text.
CONTAINING: Final = """
(text) => [...document.querySelectorAll(".reference-endpoint")]
  .filter((one) => one.querySelector(".request-card")?.textContent.includes(text))
  .map((one) => one.ariaLabel)
"""
#: A position in the bar of an operation; a link may cover the centre of the bar.
EDGE: Final[Position] = {"x": 20, "y": 20}


class Api:
    """An API that records method, path and key of each request."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str | None]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self.requests.append((request.method, request.url.path, request.headers.get("x-api-key")))
        await JSONResponse({"answered": True})(scope, receive, send)


#: The operations, and the requests that the service sends.
SHOWN = len(OPERATIONS) + len(WebhookType)


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def address(api: Api) -> Iterator[str]:
    """Return the URL of a server with the page and its API."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(ApiReference(api, KEY), log_level="warning", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def page(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Return the page, in the colour scheme of the test's parameter, by default light."""
    with browser.new_context(color_scheme=getattr(request, "param", "light")) as context:
        page = context.new_page()
        page.set_viewport_size({"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}/docs")
        show_all(page)
        yield page


def show_all(page: Page) -> None:
    """Scroll through the page, because it adds the operations that come near.

    It adds none while it stands at its end, so each step goes up a little first.
    """
    operations = page.locator(".reference-endpoint")
    expect(operations).not_to_have_count(0)

    def look() -> bool:
        page.mouse.wheel(0, -1_000)
        page.wait_for_timeout(50)
        operations.last.scroll_into_view_if_needed()
        page.mouse.wheel(0, 10_000)
        page.wait_for_timeout(50)
        return operations.count() == SHOWN

    wait_for(look)
    page.evaluate("window.scrollTo(0, 0)")


def toggle_of(operation: Locator) -> Locator:
    """Return the button that expands and collapses an operation."""
    return operation.locator(".section-accordion-header > button")


def expanded(page: Page, summary: str) -> Locator:
    """Expand an operation of the page, and return it."""
    operation = page.get_by_role("region", name=summary, exact=True)
    toggle = toggle_of(operation)
    toggle.click(position=EDGE)
    expect(toggle).to_have_attribute("aria-expanded", "true")
    return operation


def send_from_dialog(page: Page, operation: Operation) -> Locator:
    """Send a request from the dialog of an operation, and return the dialog with the response."""
    expanded(page, operation.summary).get_by_role("button", name="Test Request").click()
    dialog = page.get_by_role("dialog", name="API Client")
    for name in re.findall(r"{(\w+)}", operation.path):
        value = dialog.locator(f"tr#{name}")
        if name == "slug":  # a choice; the page selects the first value
            expect(value.get_by_role("button", name=VALUES[name], exact=True)).to_be_visible()
        else:
            value.get_by_role("combobox", name="Value").fill(VALUES[name])
    dialog.get_by_role("button", name=f"Send {operation.method} request to").click()
    expect(dialog.get_by_role("region", name="Response")).to_contain_text("answered")
    return dialog


def test_every_operation_with_a_key_can_be_tried_in_a_browser(page: Page, api: Api) -> None:
    """The page shows each operation; a request of each that takes a key reaches the API with it."""
    expect(page.locator(".reference-endpoint")).to_have_count(SHOWN)
    for operation in (one for one in OPERATIONS if SCHEME in one.security):
        send_from_dialog(page, operation)
        path = "/api" + operation.path.format_map(VALUES)
        assert api.requests == [(operation.method.upper(), path, KEY)]
        api.requests.clear()
        page.get_by_role("button", name="Close Client").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        toggle_of(page.get_by_role("region", name=operation.summary, exact=True)).click(
            position=EDGE
        )  # a long page is slow


def all_contain(page: Page, text: str) -> bool:
    """Look at all operations at once: a locator for each takes longer than the page itself."""
    return {operation.summary for operation in OPERATIONS} <= {*page.evaluate(CONTAINING, text)}


def test_each_operation_has_a_sample_in_each_language(page: Page) -> None:
    """Every operation has a code sample in the chosen language."""
    page.evaluate(EXPAND_ALL)
    for language, call in SAMPLES.items():
        page.get_by_role("tab", name=language, exact=True).click()
        wait_for(partial(all_contain, page, call))


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
def test_the_page_meets_wcag_aa(page: Page) -> None:
    """An operation, wide and narrow, and its dialog pass axe's rules for WCAG 2.2 A and AA."""
    operation = expanded(page, SEND.summary)
    expect(operation.locator(".request-card")).to_contain_text("curl")
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert violations(page) == [], width
    toggle_of(operation).click(position=EDGE)
    # Wait until the progress bar over the address has gone.
    progress = send_from_dialog(page, SEND).locator("[style*=translate3d]")
    expect(progress).to_have_attribute("style", re.compile(r"translate3d\(-100%"))
    assert violations(page) == []


def test_the_page_contacts_no_other_host(page: Page, address: str) -> None:
    """Every request goes to the stack, and the page's policy blocks none of them."""
    requests: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: requests.append(request.url))

    def record_error(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    page.on("console", record_error)
    page.goto(f"{address}/docs")  # at its top: it shows what is far away when it is scrolled to
    send_from_dialog(page, SEND)
    assert f"{address}/openapi.json" in requests
    assert [url for url in requests if not url.startswith(f"{address}/")] == []
    assert errors == []


def test_the_page_fits_the_window(page: Page) -> None:
    """The page never scrolls sideways, with an expanded operation or with its dialog."""
    operation = expanded(page, SEND.summary)
    expect(operation.locator(".request-card")).to_contain_text("curl")
    for width in (320, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        operation.get_by_role("button", name="Test Request").click()
        expect(page.get_by_role("dialog", name="API Client")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("button", name="Close Client").click()
        expect(page.get_by_role("dialog")).to_have_count(0)

"""The page /docs works in Chromium, at the address of an API that answers every request."""

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import pytest
import uvicorn
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    Position,
    Route,
    ViewportSize,
    expect,
)
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from local.reference.app import ApiReference
from openapi.operation import Operation
from openapi.operations import OPERATIONS
from tests.browser.accessibility import violations
from tests.browser.engines import PATIENCE

KEY: Final = "bx_live_of_this_stack"
#: One has a body, the other one a parameter in its path.
SEND, GET = (
    next(one for one in OPERATIONS if one.id == name) for name in ("send_email", "get_message")
)
SAMPLES: Final = {"Shell": "curl", "Python": "requests.", "JavaScript": "fetch("}
#: A position in the bar of an operation; a link may cover the centre of the bar.
EDGE: Final[Position] = {"x": 20, "y": 20}
VIEWPORT: Final[ViewportSize] = {"width": 1280, "height": 900}


class Api:
    """An API that records method, path and key of each request."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str | None]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self.requests.append((request.method, request.url.path, request.headers.get("x-api-key")))
        await JSONResponse({"answered": True})(scope, receive, send)


@pytest.fixture(scope="module")
def api() -> Api:
    return Api()


@pytest.fixture(scope="module")
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


def only_tried(route: Route) -> None:
    """Answer with a document of the two operations: a long page is slow."""
    answer = route.fetch()
    document = answer.json()
    document["webhooks"] = {}
    document["paths"] = {
        path: operations
        for path, item in document["paths"].items()
        if (
            operations := {
                name: one for name, one in item.items() if one["operationId"] in {SEND.id, GET.id}
            }
        )
    }
    route.fulfill(response=answer, json=document)


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page with few operations, which takes seconds to load."""
    with opened(browser, address, only_tried) as page:
        yield page


@contextmanager
def opened(
    browser: Browser,
    address: str,
    document: Callable[[Route], None] | None = None,
    path: str = "/docs",
) -> Iterator[Page]:
    """Open a page; it must contact no other host and log no error.

    What its policy blocks would be logged.
    """
    requests, errors = list[str](), list[str]()

    def log(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    with browser.new_context(viewport=VIEWPORT, color_scheme="light") as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", log)
        if document:
            page.route("**/openapi.json", document)
        page.goto(address + path)
        yield page
    assert [url for url in requests if not url.startswith(f"{address}/")] == []
    assert errors == []


def toggle_of(operation: Locator) -> Locator:
    """Return the button that expands and collapses an operation."""
    return operation.locator(".section-accordion-header > button")


def expanded(page: Page, summary: str) -> Locator:
    """Choose an operation in the list at the side; return its part of the page, which unfolds."""
    operation = page.get_by_role("region", name=summary, exact=True)
    expect(toggle_of(operation)).to_be_visible()  # the list is there before what it unfolds
    page.get_by_role("navigation", name="Operations").get_by_text(summary, exact=True).click()
    expect(toggle_of(operation)).to_have_attribute("aria-expanded", "true")
    return operation


def send_from_dialog(page: Page, api: Api, card: Locator, operation: Operation) -> Locator:
    """Send the request of an expanded operation; return its dialog, which has the response."""
    card.get_by_role("button", name="Test Request").click()
    dialog = page.get_by_role("dialog", name="API Client")
    for name in re.findall(r"{(\w+)}", operation.path):
        dialog.locator(f"tr#{name}").get_by_role("combobox", name="Value").fill("1")
    dialog.get_by_role("button", name=f"Send {operation.method} request to").click()
    expect(dialog.get_by_role("region", name="Response")).to_contain_text("answered")
    path = "/api" + re.sub(r"{\w+}", "1", operation.path)
    assert api.requests == [(operation.method.upper(), path, KEY)]
    api.requests.clear()
    return dialog


def close_dialog(page: Page, card: Locator) -> None:
    """Close the dialog of an operation, and collapse the operation."""
    page.get_by_role("button", name="Close Client").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    toggle_of(card).click(position=EDGE)


def test_the_page_is_short_and_lists_what_it_has(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        entries = page.locator("#operations li")
        expect(entries.filter(has_text="Send a batch")).to_have_count(1)
        expect(entries.filter(has_text="List accounts")).to_have_count(0)
        expect(page.get_by_role("link", name="Dashboard")).to_have_attribute("href", "/")
        expect(page.locator(".reference-endpoint").first).to_be_visible()
        for width in (320, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollHeight") <= 20_000
        page.get_by_role("link", name="All operations").click()
        expect(entries).to_have_count(len(OPERATIONS))
        back = page.get_by_role("link", name="What a key may call")
        expect(back).to_have_attribute("href", "/docs")


def test_sending_an_email_meets_wcag_aa(page: Page, api: Api) -> None:
    """The operation and its dialog fit three widths, and pass axe's rules for WCAG 2.2 A and AA."""
    card = expanded(page, SEND.summary)
    expect(card.locator(".request-card")).to_contain_text("curl")
    for width in (320, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if width == 320:
            assert violations(page) == []
    # A width changes no colour, so the widest is tried in dark alone.
    assert_dark_meets_wcag_aa(page)
    # Wait until the progress bar over the address has gone.
    progress = send_from_dialog(page, api, card, SEND).locator("[style*=translate3d]")
    expect(progress).to_have_attribute("style", re.compile(r"translate3d\(-100%"))
    # The page behind the dialog was checked above.
    assert violations(page, within="[role=dialog]") == []
    assert_dark_meets_wcag_aa(page, only_colours=True, within="[role=dialog]")
    for width in (320, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    close_dialog(page, card)


def test_an_operation_with_a_parameter_can_be_tried(page: Page, api: Api) -> None:
    card = expanded(page, GET.summary)
    for language, call in SAMPLES.items():
        page.get_by_role("tab", name=language, exact=True).click()
        expect(card.locator(".request-card")).to_contain_text(call)
    send_from_dialog(page, api, card, GET)
    close_dialog(page, card)


def assert_dark_meets_wcag_aa(
    page: Page, *, only_colours: bool = False, within: str | None = None
) -> None:
    """Check the page, or a part of it, while the system is dark, which the page follows."""
    page.emulate_media(color_scheme="dark")
    expect(page.locator("body")).to_have_class(re.compile("dark-mode"))
    assert violations(page, only_colours=only_colours, within=within) == []
    page.emulate_media(color_scheme="light")
    expect(page.locator("body")).to_have_class(re.compile("light-mode"))

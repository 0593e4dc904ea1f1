"""The reference page in a real browser."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.responses import JSONResponse

from local.reference.app import ApiReference
from openapi.operations import OPERATIONS
from tests.browser.chromium import Browser


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Browser]:
    """The page in a browser, beside an API that answers everything with its own words."""
    listener = socket.create_server(("127.0.0.1", 0))
    api = ApiReference(JSONResponse({"answered": True}))
    server = uvicorn.Server(uvicorn.Config(api, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    browser = Browser(tmp_path / "profile")
    try:
        browser.view(1280, 900)
        browser.open(f"http://127.0.0.1:{listener.getsockname()[1]}/docs")
        yield browser
    finally:
        browser.close()
        server.should_exit = True
        thread.join(20)
    assert not thread.is_alive()


def test_every_operation_can_be_tried_in_a_browser(page: Browser) -> None:
    """The page shows each operation, and a request from it reaches the API at its own address."""
    page.until(f"document.querySelectorAll('.opblock').length === {len(OPERATIONS)}")
    row = "#operations-Starter_templates-list_starter_templates"
    page.js(f"document.querySelector('{row} button').click()")
    page.until("document.querySelector('.opblock .execute') !== null")
    page.js("document.querySelector('.opblock .execute').click()")
    page.until("document.querySelector('.live-responses-table')?.innerText.includes('answered')")

"""The reference page stands beside the API, at the API's address."""

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from playwright.sync_api import Page, expect
from starlette.responses import JSONResponse, PlainTextResponse

from local.reference.app import Reference
from local.template import ROOT
from openapi.operations import OPERATIONS
from tests.unit.local.browser import PATIENCE, PROGRAM, chromium


def ask(path: str, **request: Any) -> httpx.Response:
    async def asking() -> httpx.Response:
        transport = httpx.ASGITransport(Reference(PlainTextResponse("the API")))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client:
            return await client.get(path, **request)

    return asyncio.run(asking())


def test_the_document_names_this_address() -> None:
    """/openapi.json is docs/openapi.json with the stack's own server."""
    document = ask("/openapi.json").json()
    assert document.pop("servers") == [{"url": "http://127.0.0.1:1/api"}]
    assert (
        document.keys() | {"servers"}
        == httpx.Response(200, content=(ROOT / "docs/openapi.json").read_bytes()).json().keys()
    )


def test_the_page_needs_nothing_from_elsewhere() -> None:
    """Every script, style and icon of /docs is served here, and its policy allows no others."""
    page = ask("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assets = re.findall(r'(?:href|src)="([^"]+)"', page.text)
    assert len(assets) == 5
    for asset in assets:
        assert asset.startswith("/docs/")
        assert ask(asset).status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/emails", "/", "/docs2", "/openapi.json/x"])
def test_everything_else_is_handed_on(path: str) -> None:
    """What is not the page's is the API's."""
    assert ask(path).text == "the API"


def test_another_host_is_refused() -> None:
    """A page that calls itself by another name and this address is not served (DNS rebinding)."""
    assert ask("/openapi.json", headers={"Host": "evil.example"}).status_code == 400


@pytest.fixture
def page() -> Iterator[Page]:
    """The page in a browser, beside an API that answers everything with its own words."""
    listener = socket.create_server(("127.0.0.1", 0))
    api = Reference(JSONResponse({"answered": True}))
    server = uvicorn.Server(uvicorn.Config(api, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        with chromium() as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(PATIENCE)
            page.goto(f"http://127.0.0.1:{listener.getsockname()[1]}/docs")
            yield page
    finally:
        server.should_exit = True
        thread.join(20)
    assert not thread.is_alive()


@pytest.mark.skipif(PROGRAM is None, reason="no chromium on the PATH")
def test_every_operation_can_be_tried_in_a_browser(page: Page) -> None:
    """The page shows each operation, and a request from it reaches the API at its own address."""
    expect(page.locator(".opblock")).to_have_count(len(OPERATIONS))
    operation = page.locator("#operations-Starter_templates-list_starter_templates")
    operation.locator("button").first.click()
    # Swagger UI draws the button before it has read the operation, and then sends nothing.
    expect(operation.locator(".responses-table .response").first).to_be_visible()
    operation.locator(".execute").click()
    expect(operation.locator(".live-responses-table")).to_contain_text("answered")

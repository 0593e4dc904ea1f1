"""What the preview widget's page refuses and reports; the test is the API."""

import datetime as dt
from collections.abc import Iterator
from threading import Thread
from typing import Any, Final
from unittest import mock

import pytest
import uvicorn
from playwright.sync_api import Browser, FrameLocator, Page, expect
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from local import template
from local.dashboard import Dashboard
from pillarbox.domain.sign_in import sign_up
from pillarbox.domain.sign_in.preview_key import preview_keys_closed
from pillarbox.domain.sign_in.sign_up import ALGORITHM, Proof, check_proof, new_challenge
from tests.browser.accessibility import violations
from tests.browser.engines import PATIENCE
from tests.needs import need_dashboard

USER: Final = "0" * 64
HOST: Final = """<!doctype html><html lang="en"><head><title>Shop</title></head><body><h1>Shop</h1>
<p id="before">secret</p>
<script src="{}/widget.js" async data-pillarbox></script></body></html>"""
#: Records each height that the loader gives the frame.
_RECORD_HEIGHTS: Final = """() => {
  const frame = document.querySelector("iframe");
  window.heights = [];
  const record = () => window.heights.push(frame.style.height);
  new MutationObserver(record).observe(frame, { attributes: true });
}"""
_SCRIPT: Final = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.effectiveDirective} ${event.blockedURI}`));
"""


class Sites:
    """The service at 127.0.0.1, and the same server as a site with the names of `origin`."""

    def __init__(self) -> None:
        config = uvicorn.Config(self._answer, interface="asgi3", port=0, log_level="error")
        self._server = uvicorn.Server(config)
        self._socket = config.bind_socket()
        self._socket.listen()  # requests wait until the server runs
        port = self._socket.getsockname()[1]
        self.service = f"http://127.0.0.1:{port}"
        self.allowed, self.foreign = f"http://localhost:{port}", f"http://shop.localhost:{port}"
        missing = PlainTextResponse("none", 404)
        self._app = Dashboard(
            missing, template.inlined(template.load()), widget_origins=self.allowed
        )
        self._thread = Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        #: Answers the API.
        self.visitor: Visitor | None = None

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path: str = scope["path"]
        app: ASGIApp = self._app
        if path in {"/shop", "/strict"}:
            policy = {"Content-Security-Policy": "frame-src 'none'"} if path == "/strict" else {}
            app = HTMLResponse(HOST.format(self.service), headers=policy)
        elif self.visitor and path.startswith("/api/v1"):
            body = await Request(scope, receive).json()
            app = self.visitor.answer(path.removeprefix("/api/v1"), body)
        await app(scope, receive, send)

    def close(self) -> None:
        """Stop the server."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


class Visitor:
    """A browser profile whose API requests the test answers."""

    def __init__(self, browser: Browser, sites: Sites, width: int = 480) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 800})
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(_SCRIPT)
        self.sites = sites
        sites.visitor = self
        self.key = b"k" * 32
        #: The requests, and the next refusals by path.
        self.asked: list[tuple[str, Any]] = []
        self.refusals: dict[str, tuple[int, dict[str, Any]]] = {}
        self.errors: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def frame(self) -> FrameLocator:
        """Open the site that may show the widget."""
        self.page.goto(f"{self.sites.allowed}/shop")
        return self.page.frame_locator("iframe")

    def close(self) -> None:
        """Close the profile, whose pages caused no error and no violation of the policy."""
        frames = self.page.frames
        found = [violation for one in frames for violation in one.evaluate("window.violations")]
        self.context.close()
        assert (found, self.errors) == ([], [])

    def answer(self, path: str, body: Any) -> Response:
        """Answer a request to the API."""
        self.asked.append((path, body))
        if path in self.refusals:
            status, error = self.refusals.pop(path)
            return JSONResponse({"error": error | {"type": "t"}}, status)
        routes = {
            "/preview-keys/challenges": self.challenge,
            "/preview-keys/codes": self.code,
        }
        status, content = routes[path](body)
        return JSONResponse(content, status)

    def challenge(self, _body: Any) -> tuple[int, Any]:
        with mock.patch.object(sign_up, "MAX_NUMBER", 1_000):  # it takes no second
            made = new_challenge(self.key, USER, dt.datetime.now(dt.UTC))
        return 200, {
            "challenge": {
                "algorithm": ALGORITHM,
                "challenge": made.challenge,
                "maxnumber": 100_000,
                "salt": made.salt,
                "signature": made.signature,
            }
        }

    def code(self, body: Any) -> tuple[int, Any]:
        check_proof(Proof(**body["proof"]), self.key, USER, dt.datetime.now(dt.UTC))
        return 202, {"flow": "the flow"}


@pytest.fixture(scope="module")
def sites() -> Iterator[Sites]:
    """The service, an allowed site and another one."""
    need_dashboard()
    sites = Sites()
    yield sites
    sites.close()


@pytest.fixture
def visitor(browser: Browser, sites: Sites) -> Iterator[Visitor]:
    """A visitor, whose pages cause no error and no violation."""
    visitor = Visitor(browser, sites)
    yield visitor
    visitor.close()


def check(page: Page, step: str) -> None:
    """Check that the frame is as high as its content, from 280 pixels on, and accessible."""
    (inner,) = page.frames[1:] or page.frames
    for width in (280, 480):
        page.set_viewport_size({"width": width + 16, "height": 800})
        if inner != page.main_frame:
            expect(page.locator("iframe")).to_have_js_property("clientWidth", width - 2)
            # The frame's own process lays it out a moment after the page has resized it.
            expect(inner.locator(":root")).to_have_js_property("clientWidth", width - 2)
            height = "document.querySelector('main').offsetHeight"
            frame = page.locator("iframe")
            expect(frame).to_have_js_property("clientHeight", inner.evaluate(height))
        assert inner.evaluate("document.documentElement.scrollWidth <= innerWidth"), (step, width)
    for theme in ("light", "dark"):
        inner.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
        found = violations(inner, only_colours=theme == "dark")
        assert not found, (step, theme, found)


def test_a_service_without_the_widget_says_so(visitor: Visitor) -> None:
    """The refusal of a closed service, or of one that does not answer, is shown; one can retry."""
    frame, closed = visitor.frame(), preview_keys_closed()
    email = frame.get_by_label("Email address")
    email.fill("ada@shop.example")
    refusal = {"code": closed.code, "message": closed.message}
    visitor.refusals["/preview-keys/challenges"] = (403, refusal)
    email.press("Enter")
    expect(frame.get_by_role("alert").first).to_have_text(closed.message)
    expect(email).not_to_have_attribute("aria-invalid", "true")  # the address is right
    visitor.refusals["/preview-keys/challenges"] = (500, {"code": "x", "message": "x"})
    email.press("Enter")
    expect(frame.get_by_role("alert").first).to_have_text("The service does not answer.")
    email.press("Enter")
    digits = frame.get_by_label("Code", exact=True)
    digits.fill("123")
    limit = {"code": "rate_limit_exceeded", "message": "Too many codes were requested."}
    visitor.refusals["/preview-keys/challenges"] = (429, limit)
    frame.get_by_role("button", name="Send a new code").press("Enter")
    expect(frame.locator("#code-error")).to_have_text(limit["message"])
    expect(digits).to_have_value("123")  # it is not wrong
    frame.get_by_role("button", name="Send a new code").press("Enter")
    expect(frame.get_by_role("status")).to_have_text(
        "A new code is on its way. The one before no longer works."
    )
    expect(digits).not_to_have_attribute("aria-invalid", "true")


def test_another_site_gets_nothing(browser: Browser, sites: Sites) -> None:
    """A site that `WidgetOrigins` does not name gets a link instead of the frame, and no message.

    So does a site whose own policy forbids frames.
    """
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("addEventListener('message', ({ data }) => (window.heard = data))")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{sites.foreign}/shop")
    expect(page.locator("iframe")).to_be_attached()
    page.wait_for_load_state()
    (inner,) = page.frames[1:]
    assert inner.locator("form").count() == 0
    assert not any("/assets/" in url for url in asked)
    assert page.evaluate("window.heard") is None
    link = page.get_by_role("link", name="Get a preview key")
    expect(link).to_have_attribute("href", f"{sites.service}/widget")
    page.goto(f"{sites.allowed}/strict")
    expect(link).to_be_visible()
    expect(page.locator("iframe")).to_be_hidden()
    context.close()


def test_the_loader_listens_to_its_frame_only(visitor: Visitor) -> None:
    frame = visitor.frame()
    expect(frame.get_by_label("Email address")).to_be_visible()
    visitor.page.evaluate(_RECORD_HEIGHTS)
    visitor.page.evaluate("postMessage({ height: 7 }, '*')")
    for height in ("9e9", "'7px'", "-1", "undefined"):
        visitor.page.frames[1].evaluate(f"parent.postMessage({{ height: {height} }}, '*')")
    # A message of the frame itself arrives after these. Then the frame may report its own height.
    visitor.page.frames[1].evaluate("parent.postMessage({ height: 777 }, '*')")
    visitor.page.wait_for_function("window.heights.includes('779px')")
    heights = visitor.page.evaluate("window.heights.map(parseFloat)")
    assert all(200 < height < 780 for height in heights), heights


def test_a_report_without_a_token_says_so(visitor: Visitor) -> None:
    visitor.page.goto(f"{visitor.sites.service}/widget/report")
    visitor.page.get_by_role("button", name="Stop and report").click()
    expect(visitor.page.get_by_role("alert").first).to_contain_text("Open the link in the email")
    assert visitor.asked == []

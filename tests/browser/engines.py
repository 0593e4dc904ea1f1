"""A headless Chromium and a headless Firefox, driven by Playwright."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final
from unittest import mock

from playwright.sync_api import Browser, Playwright, expect, sync_playwright

from tests.needs import need_chromium, need_program

PATIENCE: Final = 60_000.0  # milliseconds per step; only a broken run takes that long
# Playwright itself uses a new profile per start and disables updates.
# The headless shell does not isolate sites by itself, as a user's Chromium does.
# With the limit, which sites of their own may exceed, no page keeps a process in reserve.
_SWITCHES: Final = (
    *("--disable-gpu", "--disable-quic", "--disable-sync"),
    *("--site-per-process", "--renderer-process-limit=1"),
    # There is no screen, so a separate process for drawing only costs messages.
    "--in-process-gpu",
)
#: Firefox starts processes in reserve too, most of which no page ever has. Animations cost frames.
_PREFERENCES: Final[dict[str, str | float | bool]] = {
    "dom.ipc.processPrelaunch.enabled": False,
    "ui.prefersReducedMotion": 1,
}
_BRIDGE: Final = Path(__file__).with_name("firefox_bridge.cjs")

expect.set_options(timeout=PATIENCE)


@contextmanager
def playwright() -> Iterator[Playwright]:
    """Run what starts browsers, and stops them when the block ends.

    It runs an event loop in this thread, so `asyncio.run` does not work in the block.
    """
    options = f"{os.environ.get('NODE_OPTIONS', '')} --require {_BRIDGE}".strip()
    with ExitStack() as open_:
        with mock.patch.dict(os.environ, {"NODE_OPTIONS": options}):
            program = open_.enter_context(sync_playwright())
        yield program


def chromium(program: Playwright) -> Browser:
    """Start the system's Chromium."""
    return program.chromium.launch(
        executable_path=need_chromium(), args=_SWITCHES, timeout=PATIENCE
    )


def firefox(program: Playwright) -> Browser:
    """Start the system's Firefox, over WebDriver BiDi.

    It ignores `color_scheme`; a page is dark only through a switch of its own.
    """
    return program.firefox.launch(
        channel="moz-firefox",
        executable_path=need_program("firefox-esr"),
        firefox_user_prefs=_PREFERENCES,
        timeout=PATIENCE,
    )


class Browsers:
    """The browsers of a worker. Each starts when a test first needs it, and stays open.

    Between `pause` and `resume` other tests can run event loops in this thread.
    """

    def __init__(self) -> None:
        self._open = ExitStack()
        self._program: Playwright | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started: dict[object, Browser] = {}

    def get(self, start: Callable[[Playwright], Browser]) -> Browser:
        """Return the browser that a function starts."""
        self._program = self._program or self._open.enter_context(playwright())
        if start not in self._started:
            self._started[start] = start(self._program)
            self._open.callback(self._started[start].close)
        return self._started[start]

    def pause(self) -> None:
        """Hide Playwright's event loop, which counts as running until the last browser closes."""
        self._loop = asyncio._get_running_loop()
        asyncio._set_running_loop(None)

    def resume(self) -> None:
        """Show it again, as its next call expects it."""
        asyncio._set_running_loop(self._loop)

    def close(self) -> None:
        """Close all browsers."""
        self.resume()
        self._open.close()

"""A headless Chromium, driven by Playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, expect, sync_playwright

PROGRAM: Final = shutil.which("chromium")
PATIENCE: Final = 60_000.0  # milliseconds for any one thing; only a broken run takes them
# Playwright itself gives each start a profile of its own and turns off updates and the like.
_SWITCHES: Final = ("--disable-gpu", "--disable-quic", "--disable-sync")

expect.set_options(timeout=PATIENCE)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run the system's Chromium for the time of a block.

    An event loop runs in this thread meanwhile, so `asyncio.run` does not work in it.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=PROGRAM, args=_SWITCHES, timeout=PATIENCE
        )
        try:
            yield browser
        finally:
            browser.close()

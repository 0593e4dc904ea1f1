"""A headless Chromium, driven by Playwright."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, expect, sync_playwright

from tests.needs import need_program

PATIENCE: Final = 60_000.0  # milliseconds per step; only a broken run takes that long
# Playwright itself uses a new profile per start and disables updates.
_SWITCHES: Final = ("--disable-gpu", "--disable-quic", "--disable-sync")

expect.set_options(timeout=PATIENCE)


@contextmanager
def chromium(*switches: str) -> Iterator[Browser]:
    """Run the system's Chromium, with more switches, until the block ends.

    Playwright runs an event loop in this thread, so `asyncio.run` does not work in the block.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=need_program("chromium"),
            args=[*_SWITCHES, *switches],
            timeout=PATIENCE,
        )
        try:
            yield browser
        finally:
            browser.close()

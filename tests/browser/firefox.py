"""A headless Firefox, driven by Playwright over WebDriver BiDi."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from unittest import mock

from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import PATIENCE
from tests.needs import need_program

_BRIDGE: Final = Path(__file__).with_name("firefox_bridge.cjs")


@contextmanager
def firefox() -> Iterator[Browser]:
    """Run the system's Firefox until the block ends.

    It ignores `color_scheme`; a page is dark only through a switch of its own.
    """
    options = f"{os.environ.get('NODE_OPTIONS', '')} --require {_BRIDGE}".strip()
    with mock.patch.dict(os.environ, {"NODE_OPTIONS": options}), sync_playwright() as playwright:
        browser = playwright.firefox.launch(
            channel="moz-firefox",
            executable_path=need_program("firefox-esr"),
            timeout=PATIENCE,
        )
        try:
            yield browser
        finally:
            browser.close()

"""A browser for each module, and fixtures from the tests of the local stack."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import chromium
from tests.integration.local.conftest import local_ses, send, ses

__all__ = ["local_ses", "send", "ses"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser

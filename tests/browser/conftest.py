"""One browser for each module, and fixtures from the tests of the local stack."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import chromium
from tests.browser.firefox import firefox
from tests.integration.local.conftest import local_ses, send, ses
from tests.needs import need_dashboard

__all__ = ["local_ses", "send", "ses"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test in Chromium, and in Firefox too if it is marked `both_browsers`."""
    if "browser" in metafunc.fixturenames:
        both = metafunc.definition.get_closest_marker("both_browsers")
        engines = [chromium, firefox] if both else [chromium]
        names = [engine.__name__ for engine in engines]
        metafunc.parametrize("browser", engines, indirect=True, ids=names, scope="module")


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """One browser for all tests of a module; each test has a profile of its own."""
    with request.param() as browser:
        yield browser


@pytest.fixture(scope="session")
def dashboard(stack: dict[str, Any]) -> dict[str, Any]:
    """Return the content of stack.json, once the dashboard is built."""
    need_dashboard()
    return stack

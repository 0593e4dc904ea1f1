"""One Chromium and one Firefox for each worker, and fixtures from the tests of the local stack."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.dashboard import OWNER, User, send_two, session
from tests.browser.engines import Browsers, chromium, firefox
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


@pytest.fixture(scope="session")
def _browsers() -> Iterator[Browsers]:
    browsers = Browsers()
    yield browsers
    browsers.close()


@pytest.fixture(scope="module")
def browsers(_browsers: Browsers) -> Iterator[Browsers]:
    """The browsers of this worker, paused after each module."""
    _browsers.resume()
    yield _browsers
    _browsers.pause()


@pytest.fixture(scope="module")
def browser(browsers: Browsers, request: pytest.FixtureRequest) -> Browser:
    """The browser of the test's parameter; each test has a profile of its own."""
    return browsers.get(request.param)


@pytest.fixture(scope="session")
def dashboard(stack: dict[str, Any]) -> dict[str, Any]:
    need_dashboard()
    return stack


@pytest.fixture
def user(browser: Browser, dashboard: dict[str, Any]) -> Iterator[User]:
    """A signed-in owner, whose pages must cause no error and no violation of the policy."""
    cookie = session(dashboard["base_url"], OWNER, dashboard["accounts"]["live"])
    user = User(browser, dashboard, cookie)
    yield user
    user.close()


@pytest.fixture(scope="session")
def emails(stack: dict[str, Any]) -> dict[str, str]:
    """The ids of an email that arrived and of one that bounced."""
    return send_two(stack["base_url"], stack["keys"]["live"])

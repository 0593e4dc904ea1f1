"""What an open page of the dashboard costs in an hour: requests, invocations and units.

    .venv/bin/python -m benchmarks.dashboard

The built dashboard runs in Chromium with a simulated clock, before the real handlers on moto. Their
clock goes with the browser's. Every request and AWS call is counted, so the figures do not depend
on the speed of the machine. Nothing changes in the hour, unless the row says so.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

from benchmarks.accepting import LOG, counting
from benchmarks.prices import PRICES
from local import template
from local.dashboard import Dashboard
from pillarbox import wiring
from tests.browser.dashboard import User
from tests.browser.engines import chromium, playwright
from tests.contract.http_server import serving
from tests.contract.name_server import running_name_server
from tests.contract.service import Service, running_service
from tests.contract.sign_in import signed_in

_HOUR: Final = 3600
#: Seconds that the clocks go on at a time: the shortest wait of a page.
_STEP: Final = 5
#: Modelled: GB-seconds of an invocation, and its bytes of log.
_GB_SECONDS: Final = 1.0 * 0.040
_LOG_BYTES: Final = 550
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HIDE: Final = """
Object.defineProperty(document, "hidden", { get: () => true, configurable: true });
document.dispatchEvent(new Event("visibilitychange"));
"""


@dataclass
class Hour:
    """What a page requested in an hour."""

    requests: Counter[str] = field(default_factory=Counter)
    reads: float = 0
    writes: int = 0

    @property
    def dollars(self) -> float:
        """The price of the hour; each request is an invocation."""
        invocation = sum(PRICES[name].dollars for name in ("gateway", "edge", "function"))
        invocation += PRICES["invocation"].dollars + _GB_SECONDS * 1e6 * PRICES["gb-second"].dollars
        invocation += _LOG_BYTES / 1000 * PRICES["log"].dollars
        units = self.reads * PRICES["read"].dollars + self.writes * PRICES["write"].dollars
        return (self.requests.total() * invocation + units) / 1e6


@dataclass
class Tab:
    """A tab with a simulated clock, which the service's clock follows."""

    service: Service
    user: User
    hour: Hour = field(default_factory=Hour)
    awaited: int = 0

    def __post_init__(self) -> None:
        """Count what the tab requests from now on."""
        page = self.user.page
        page.on("request", self._started)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        page.clock.install(time=self.service.clock())

    def open(self, path: str, ready: str) -> Page:
        """Load a page; return it when it is ready."""
        page = self.user.go(path)
        page.locator(ready).first.wait_for()
        self._settle()
        return page

    def pass_hour(self, each: Callable[[Page], None] = lambda _: None) -> Hour:
        """Let an hour pass; do something at each step; return what was requested meanwhile."""
        self.hour.requests.clear()
        with counting() as count:
            for _ in range(_HOUR // _STEP):
                each(self.user.page)
                self.service.clock.fixed = self.service.clock() + timedelta(seconds=_STEP)
                self.user.page.clock.run_for(_STEP * 1000)
                self._settle()
        self.hour.reads, self.hour.writes = count.reads, count.writes
        return self.hour

    def _settle(self) -> None:
        self.user.page.evaluate("0")
        while self.awaited:
            self.user.page.wait_for_timeout(2)
        self.user.page.evaluate("0")

    def _started(self, request: Any) -> None:  # noqa: ANN401
        self.awaited += 1
        parts = urlsplit(request.url)
        if parts.path.startswith("/api/"):
            path = _UUID.sub("{id}", parts.path.removeprefix("/api"))
            self.hour.requests[f"{request.method} {path}"] += 1

    def _ended(self, _: object) -> None:
        self.awaited -= 1


@contextmanager
def _tab(service: Service, browser: Browser, url: str, account: str) -> Iterator[Tab]:
    cookie = signed_in(service, "ada@shop.example", account).cookie
    user = User(browser, {"base_url": url, "accounts": {"live": account}}, cookie)
    with service.at(wiring.utc_now()):
        yield Tab(service, user)
    user.close()


def _type(page: Page) -> None:
    page.locator(".cm-content").press_sequentially("word ")


def measure() -> dict[str, Hour]:
    """Return the hours of each page."""
    hours: dict[str, Hour] = {}
    rules = template.inlined(template.load())
    with (
        running_name_server() as dns,
        running_service(dns) as service,
        serving(lambda api: Dashboard(api, rules)) as url,
        playwright() as program,
        closing(chromium(program)) as browser,
    ):
        account = service.account()
        service.domain(account, "pending.example", verified=False)
        text = service.template(account, "<p>Hello {{ name }}</p>")
        pages = {
            "Overview": ("/app/", ".figures", None),
            "Activity": ("/app/activity", "main h1", None),
            "a domain with pending DNS": ("/app/domains/pending.example", ".zone", None),
            "the editor, idle": (f"/app/templates/{text}", ".cm-content", None),
            "the editor, a word each 5 s": (f"/app/templates/{text}", ".cm-content", _type),
        }
        for name, (path, ready, each) in pages.items():
            with _tab(service, browser, url, account) as tab:
                tab.open(path, ready)
                hours[name] = tab.pass_hour(each) if each else tab.pass_hour()
        with _tab(service, browser, url, account) as tab:
            tab.open("/app/", ".figures").evaluate(_HIDE)
            hours["any page in a hidden tab"] = tab.pass_hour()
    return hours


def main() -> None:
    """Print the table."""
    with redirect_stdout(LOG):  # the functions log
        hours = measure()
    print("| an hour of | requests | read units | write units | dollars | by route |")
    print("|---|---:|---:|---:|---:|---|")
    for name, hour in hours.items():
        routes = ", ".join(f"{count} {route}" for route, count in hour.requests.most_common())
        figures = f"{hour.requests.total()} | {hour.reads:g} | {hour.writes} | {hour.dollars:.4f}"
        print(f"| {name} | {figures} | {routes or 'none'} |")


if __name__ == "__main__":
    main()

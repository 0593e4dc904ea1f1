"""Opens the dashboard of the running local stack, with or without a session."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final
from uuid import uuid4

import httpx
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Request, Route, expect

from pillarbox.http.sign_in.wire import COOKIE
from tests.browser.engines import PATIENCE
from tests.stack import AGENT, operate, wait_for

RUN: Final = uuid4().hex[:8]
#: An owner of the account that can send.
OWNER: Final = f"owner-{RUN}@acme.example"
#: Text that would do something if a page took it for markup.
HOSTILE: Final = '<img src=x onerror="pwned=1"><script>pwned=1</script><svg onload=pwned=1>\'"&'
#: The recipients of two emails, by what becomes of them.
ADDRESSES: Final = {
    "delivered": f"{RUN}@example.com",
    "bounced": f"bounce+{RUN}@simulator.amazonses.com",
}
#: Adds up in `window.shifted` how much a page shifts by itself.
SHIFTS: Final = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) if (!shift.hadRecentInput) window.shifted += shift.value;
}).observe({ type: "layout-shift", buffered: true });
"""
_SCRIPT: Final = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""
_FOLLOW: Final = """(path) => {
  const link = Object.assign(document.createElement("a"), { href: path });
  document.body.append(link);
  link.click();
  link.remove();
}"""


class User:
    """A browser profile, which has the cookie of a session if one is given."""

    def __init__(self, browser: Browser, stack: dict[str, Any], session: str | None = None) -> None:
        self.context: BrowserContext = browser.new_context(
            viewport={"width": 1280, "height": 900},
            reduced_motion="reduce",  # each frame of an animation is work
        )
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(_SCRIPT)
        self.base: str = stack["base_url"]
        #: The account that can send, which the users of the tests belong to.
        self.account = {"id": stack["accounts"]["live"], "name": "Shop", "plan": "standard"}
        if session is not None:
            self.context.add_cookies(
                [
                    {
                        "name": COOKIE,
                        "value": session,
                        # Chromium's protocol takes a secure cookie for https only.
                        "url": self.base.replace("http:", "https:"),
                        "httpOnly": True,
                        "secure": True,
                        "sameSite": "Strict",
                    }
                ]
            )
        #: What the page logged as errors, and the requests that another origin would have got.
        self.errors: list[str] = []
        self.foreign: list[str] = []
        self._interfere: Callable[[Route], bool] | None = None
        self.page: Page = self.open()

    @property
    def interfere(self) -> Callable[[Route], bool]:
        """Answers an API request instead of the stack, unless it returns False."""
        return self._interfere or (lambda _route: False)

    @interfere.setter
    def interfere(self, answer: Callable[[Route], bool]) -> None:
        # From then on each request waits for Playwright, and the browser keeps no file: a page
        # takes a third longer.
        if not self._interfere:
            self.context.route("**/api/v1/**", self._api)
        self._interfere = answer

    def open(self, path: str | None = None) -> Page:
        """Open a tab."""
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._note)
        if path is not None:
            page.goto(self.base + path)
        return page

    def go(self, path: str) -> Page:
        """Load a page of the dashboard in the first tab."""
        self.page.goto(self.base + path)
        return self.page

    def follow(self, path: str, title: str) -> Page:
        """Show a page of the dashboard as a link does, which costs a fifth of loading it."""
        self.page.evaluate(_FOLLOW, path)
        # The page before stays until the new one is there.
        expect(self.page.locator("h1")).to_have_text(title)
        return self.page

    def sign_in(self, url: str) -> None:
        """Sign in with the link of an email or of the operator's command."""
        self.page.goto(url)
        self.page.get_by_role("button", name="Sign in", exact=True).click()
        expect(self.page.get_by_role("heading", name="Overview")).to_be_visible()

    def has_cookie(self) -> bool:
        """Return whether the browser keeps the cookie of a session."""
        return any(cookie["name"] == COOKIE for cookie in self.context.cookies())

    def violations(self) -> list[str]:
        """Return what the policy of the current page blocked."""
        found: list[str] = self.page.evaluate("window.violations")
        return found

    @contextmanager
    def holding(self, method: str = "GET") -> Iterator[list[Request]]:
        """Leave the API requests of a method unanswered until the block ends; return them."""
        held: list[Route] = []
        requests: list[Request] = []

        def hold(route: Route) -> bool:
            if route.request.method != method or "/v1/session" in route.request.url:
                return False
            held.append(route)
            requests.append(route.request)
            return True

        before, self.interfere = self.interfere, hold
        try:
            yield requests
        finally:
            self.interfere = before
            for route in held:
                self._api(route)

    def lose_answer(self, end: str) -> list[str]:
        """Let the stack take the next request to a path, but lose its answer; return their keys."""
        keys: list[str] = []

        def lose(route: Route) -> bool:
            if not route.request.url.endswith(end):
                return False
            keys.append(route.request.headers["idempotency-key"])
            if len(keys) == 1:
                route.fetch()
                route.abort()
            return len(keys) == 1

        self.interfere = lose
        return keys

    def close(self) -> None:
        """Close the profile, whose pages caused no error and no violation of the policy."""
        found = [page.evaluate("window.violations ?? []") for page in self.context.pages]
        self.context.unroute_all(behavior="ignoreErrors")  # a page may still wait for an answer
        self.context.close()
        faults = [*filter(None, found)], self.errors, self.foreign
        assert faults == ([], [], []), faults

    def _note(self, request: Request) -> None:
        if not request.url.startswith((self.base, "data:", "about:")):
            self.foreign.append(request.url)

    def _api(self, route: Route) -> None:
        if not self.interfere(route):
            route.continue_()


def assert_found(badges: Locator, count: int, again: Callable[[], object]) -> None:
    """Wait until DNS has so many records; a look of a busy machine may get no answer in time."""

    def look() -> bool:
        expect(badges).to_have_count(count)
        shown = badges.all_inner_texts()
        if "no answer" in shown:
            again()
        return shown == ["found"] * count

    wait_for(look)


def drawer_of(page: Page) -> Locator:
    return page.locator("dialog.drawer")


def window_of(page: Page) -> Locator:
    return page.locator("dialog.window")


def link(email: str, account: str | None = None, role: str = "owner") -> str:
    """Return a link that signs a user in once, as the operator's command makes it."""
    membership = () if account is None else ("--account", account, "--role", role)
    return str(operate("dashboard", "link", email, *membership)["url"])


@cache
def session(base: str, email: str, account: str | None = None, role: str = "owner") -> str:
    """Sign a user in with a link; return the text of the cookie."""
    answer = httpx.post(
        f"{base}/api/v1/session",
        json={"link": link(email, account, role).partition("#")[2]},
        headers=AGENT | {"Origin": base, "Sec-Fetch-Site": "same-origin"},
        timeout=PATIENCE / 1000,
    )
    return answer.cookies[COOKIE]


def exchange(base: str, cookie: str, account: str | None = None) -> dict[str, Any]:
    """Exchange the cookie of a session for an access token; return what a page learns then."""
    origin = {"Origin": base, "Sec-Fetch-Site": "same-origin", "Cookie": f"{COOKIE}={cookie}"}
    found: dict[str, Any] = httpx.post(
        f"{base}/api/v1/session/token",
        json={} if account is None else {"accountId": account},
        headers=AGENT | origin,
        timeout=PATIENCE / 1000,
    ).json()
    return found


def send_two(base: str, key: str) -> dict[str, str]:
    """Send an email that arrives and one that bounces; return their ids."""
    ids = {}
    with httpx.Client(
        base_url=f"{base}/api/v1", headers={"X-API-Key": key} | AGENT, timeout=PATIENCE / 1000
    ) as api:
        for status, address in ADDRESSES.items():
            email = {"to": address, "subject": f"The {status} one", "html": "<p>Hello</p>"}
            sent = api.post("/emails", json=email | {"tags": {"run": RUN}})
            ids[status] = sent.json()["messageId"]
        wait_for(lambda: [api.get(f"/emails/{ids[s]}").json()["status"] for s in ids] == [*ids])
    return ids


def answering(**answers: Any) -> Callable[[Route], bool]:
    """Answer the reads of some collections with items, instead of the stack."""

    def answer(route: Route) -> bool:
        collection = route.request.url.partition("/v1/")[2].partition("?")[0]
        if route.request.method != "GET" or collection not in answers:
            return False
        items = answers[collection]
        route.fulfill(json=items if isinstance(items, dict) else {"items": items})
        return True

    return answer


def rewriting(change: Callable[[Any], Any]) -> Callable[[Route], bool]:
    """Change the JSON of the stack's answers, except those about sessions."""

    def answer(route: Route) -> bool:
        if "/v1/session" in route.request.url:
            return False
        found = route.fetch(max_retries=3)  # the server may just close the connection
        route.fulfill(response=found, json=change(found.json()))
        return True

    return answer


def unreachable(*methods: str) -> Callable[[Route], bool]:
    """Leave the API requests of some methods, by default of all, without an answer."""

    def fail(route: Route) -> bool:
        if methods and route.request.method not in methods:
            return False
        route.abort()
        return True

    return fail


#: What the API says of an account that has nothing.
OVERVIEW: Final[dict[str, Any]] = {
    "account": {"limits": [], "pauses": [], "contact": None, "defaultSender": None},
    "emails": 0,
    "keys": [],
    "starterTemplates": [],
    "templates": [],
    "webhooks": [],
}
#: A domain and one of its DNS records, as the API returns them.
AT: Final = "2026-01-01T12:00:00.000+00:00"
DOMAIN: Final[dict[str, Any]] = {
    "domain": "acme.example",
    "createdAt": AT,
    "checkedAt": AT,
    "receives": None,
    "receiveNames": [],
}
RECORD: Final = {
    "purpose": "DKIM",
    "type": "CNAME",
    "host": "t._domainkey.acme.example",
    "value": "t.dkim.amazonses.com",
}

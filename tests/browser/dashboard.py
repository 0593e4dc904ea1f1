"""Opens the dashboard of the running local stack as a user who is signed in."""

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import httpx
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route

from pillarbox.http.sessions import COOKIE
from tests.browser.chromium import PATIENCE
from tests.stack import AGENT, operate

if TYPE_CHECKING:
    from collections.abc import Callable

#: Firefox does not tell Playwright a request's body, so a header of the page's own has it too.
_SCRIPT: Final = """
const send = window.fetch;
window.fetch = (path, options) => {
  const body = encodeURIComponent(options?.body ?? "");
  return send(path, { ...options, headers: { ...options?.headers, "x-body": body } });
};
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""


class User:
    """A browser window of somebody who is signed in with the role of an owner.

    This class answers the routes of sessions, so that a test can end one or have two accounts, and
    puts a real session's token in place of its own. Everything else is the running stack.
    """

    def __init__(self, browser: Browser, stack: dict[str, Any], role: str = "live") -> None:
        self.context: BrowserContext = browser.new_context(viewport={"width": 1280, "height": 900})
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(_SCRIPT)
        self.base: str = stack["base_url"]
        self.token = access_token(stack, stack["accounts"][role])
        self.account = {"id": stack["accounts"][role], "name": "Acme", "plan": "standard"}
        self.accounts = [{"id": self.account["id"], "name": "Acme", "role": "owner"}]
        self.signed_in = True
        self.tokens: list[str] = []
        #: What the page logged as errors, and the requests that another origin would have got.
        self.errors: list[str] = []
        self.foreign: list[str] = []
        #: Answers an API request instead of the stack, unless it returns False.
        self.interfere: Callable[[Route], bool] = lambda _route: False
        #: Changes the JSON of the stack's answers.
        self.rewrite: Callable[[Any], Any] | None = None
        self.context.route("**/api/v1/**", self._api)
        self.page: Page = self.open()

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

    def violations(self) -> list[str]:
        """Return what the policy of the current page blocked."""
        found: list[str] = self.page.evaluate("window.violations")
        return found

    def close(self) -> None:
        self.context.close()

    def _note(self, request: Request) -> None:
        if not request.url.startswith((self.base, "data:", "about:")):
            self.foreign.append(request.url)

    def _api(self, route: Route) -> None:
        request = route.request
        path = request.url.removeprefix(f"{self.base}/api")
        if self.interfere(route):
            return
        if path.startswith("/v1/session"):
            self._session(route, request.method, path)
            return
        headers = {n: v for n, v in request.headers.items() if n != "x-body"}
        headers["authorization"] = f"Bearer {self.token}"
        if self.rewrite is None:
            route.continue_(headers=headers)
        else:
            answer = route.fetch(headers=headers)
            route.fulfill(response=answer, json=self.rewrite(answer.json()))

    def _session(self, route: Route, method: str, path: str) -> None:
        text = unquote(route.request.headers["x-body"])
        body = json.loads(text) if text else {}
        if method == "DELETE":
            self.signed_in = False
            route.fulfill(status=204)
        elif path == "/v1/session/codes":
            route.fulfill(status=202, json={"flow": "flow-1.secret"})
        elif path == "/v1/session" and body not in (
            {"flow": "flow-1.secret", "code": "123456"},
            {"link": "one-time-link"},
        ):
            route.fulfill(status=401, json=_error("invalid_code", "The code is wrong."))
        elif path == "/v1/session/token" and not self.signed_in:
            route.fulfill(status=401, json=_error("not_signed_in", "Sign in."))
        else:
            self.signed_in = True
            self.tokens.append(f"pbs_{len(self.tokens)}")
            chosen = next(
                (one for one in self.accounts if one["id"] == body.get("account")), self.account
            )
            route.fulfill(
                json={
                    "token": self.tokens[-1],
                    "expiresIn": 900,
                    "user": {"id": "u1", "email": "ada@acme.example", "operator": False},
                    "account": self.account | {"id": chosen["id"], "name": chosen["name"]},
                    "role": "owner",
                    "accounts": self.accounts,
                }
            )


def access_token(stack: dict[str, Any], account_id: str) -> str:
    """Return a new access token of an owner of an account."""
    return str(_post(stack["base_url"], "/token", {}, _cookie(stack["base_url"], account_id))[0])


@cache
def _cookie(base: str, account_id: str) -> str:
    """Sign an owner in, who may be new; return the cookie of the session."""
    address = f"owner-of-{account_id}@acme.example"
    url = operate("dashboard", "link", address, "--account", account_id)["url"]
    return _post(base, "", {"link": url.partition("#")[2]})[1]


def _post(base: str, path: str, body: object, cookie: str = "") -> tuple[str, str]:
    """Send a request of a page; return its access token and cookie."""
    headers = {"Origin": base, "Sec-Fetch-Site": "same-origin", "Cookie": f"{COOKIE}={cookie}"}
    answer = httpx.post(
        f"{base}/api/v1/session{path}", json=body, headers=AGENT | headers, timeout=PATIENCE / 1000
    )
    return answer.json()["token"], answer.cookies[COOKIE]


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "type": "authentication_error"}}

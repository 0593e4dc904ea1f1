"""A browser that signs in: it keeps the cookie, and sends what browsers add."""

from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any, Final

from pillarbox.wiring import services
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service

#: What a page of the dashboard adds to a request.
SAME_ORIGIN: Final[Mapping[str, str]] = {
    "Host": "app.example",
    "Origin": "https://app.example",
    "Sec-Fetch-Site": "same-origin",
    "Content-Type": "application/json",
    "User-Agent": "Mozilla/5.0 Firefox/153.0",
}


@dataclass(slots=True)
class Browser:
    """A browser with its cookie jar."""

    cookie: str | None = None

    def post(
        self, path: str, body: Any, client: str = "127.0.0.1", **headers: str | None
    ) -> ApiResponse:
        """Send a POST of a page; a header of None is left out."""
        changed = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {**SAME_ORIGIN, **changed}
        if self.cookie is not None:
            sent["Cookie"] = f"other=1; __Host-pillarbox={self.cookie}"
        given = {name: value for name, value in sent.items() if value is not None}
        response = Api().raw("POST", f"/session{path}", body, given, client=client)
        self._store(response)
        return response

    def request_code(self, address: str, client: str = "127.0.0.1") -> ApiResponse:
        return self.post("/codes", {"email": address}, client)

    def sign_in(self, flow: str, code: str) -> ApiResponse:
        return self.post("", {"flow": flow, "code": code})

    def token(self, account: str | None = None) -> ApiResponse:
        return self.post("/token", {} if account is None else {"accountId": account})

    def _store(self, response: ApiResponse) -> None:
        jar = SimpleCookie(response.headers.get("set-cookie", ""))
        if "__Host-pillarbox" in jar:
            self.cookie = jar["__Host-pillarbox"].value or None


def add_user(address: str) -> None:
    """Create a user who is a member of no account."""
    services().team.add_user(address)


def signed_in(service: Service, address: str, account: str | None = None) -> Browser:
    """Return a browser in which a user, who may be new, is signed in by a link."""
    team, browser = services().team, Browser()
    if account is not None:
        service.session(account, address=address)
    assert browser.post("", {"link": team.new_link(address)}).status == 200
    return browser

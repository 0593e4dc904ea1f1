"""Adds passkeys and signs in with them, as a page of the dashboard does."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final
from unittest import mock

from pillarbox.wiring import services
from tests.contract.client import Api, ApiResponse
from tests.contract.service import APP_URL
from tests.contract.sign_in import Browser
from tests.fakes.authenticator import Authenticator

#: What no authenticator has answered.
WRONG_ANSWER: Final = {
    "flow": "x",
    "credentialId": "AAAA",
    "clientData": "AAAA",
    "authenticatorData": "AAAA",
    "signature": "AAAA",
    "userHandle": "AAAA",
}


def authenticator(**changes: Any) -> Authenticator:
    """Return a new authenticator, in the browser of a page of the service."""
    return Authenticator(**{"origin": APP_URL, "rp_id": APP_URL.partition("//")[2], **changes})


def add(session: str, device: Authenticator, name: str = "Phone") -> ApiResponse:
    """Add the passkey of an authenticator to the user of a session."""
    api = Api(session=session)
    begun = api.raw("POST", "/passkeys/challenges")
    if begun.status != 200:
        return begun
    return api.raw("POST", "/passkeys", device.create(begun.json) | {"name": name})


def sign_in(device: Authenticator, **headers: Any) -> tuple[Browser, ApiResponse]:
    browser = Browser()
    begun = browser.post("/passkeys/challenges", {})
    assert begun.status == 200
    return browser, browser.post("/passkeys", device.get(begun.json), **headers)


@contextmanager
def requiring_passkeys() -> Iterator[None]:
    """Run the service with `OperatorPasskeys=required`."""
    made = services()
    start = replace(made.session_start, operators_need_passkeys=True)
    cases = {
        "sign_in": replace(made.sign_in, start=start),
        "passkeys": replace(made.passkeys, start=start),
    }
    with mock.patch.dict(vars(made), cases):
        yield

"""The operations of docs/openapi.json as requests, so that a test can try each of them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from local.template import ROOT
from openapi.shared import inlined
from pillarbox import wiring
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.accounts.key import MANAGEMENT_SCOPES, OPERATOR_SCOPES, account_of_key
from pillarbox.domain.messages.kept import KeptContent
from pillarbox.domain.messages.message import Event, EventKind
from tests.contract.bodies import raw_html
from tests.contract.client import Api, ApiResponse

_DOCUMENT: Final = inlined(json.loads((ROOT / "docs/openapi.json").read_text(encoding="utf-8")))
#: Path parameters that name something of one account, and those that name something of all.
OF_AN_ACCOUNT: Final = ("message_id", "id", "endpoint_id", "delivery_id", "received_id")
OF_ALL: Final = {"slug": "otp", "version": "1"}


#: The operations on a message whose content is kept.
OF_KEPT: Final = ("resend_message", "get_kept_content")
#: Operation -> what the send asks for whose message it changes or shows.
CHANGES: Final = {
    **dict.fromkeys(OF_KEPT, "keep"),
    "reschedule_message": "scheduledAt",
    "cancel_message": "scheduledAt",
    "release_message": "hold",
}


def in_an_hour() -> str:
    """Return a time to which an email can be scheduled."""
    return (datetime.now(UTC) + timedelta(hours=1)).isoformat(timespec="seconds")


def send_waiting(api: Api, operation: str) -> str:
    """Send a message that an operation may change or show, and return its id."""
    wish = CHANGES[operation]
    if wish == "keep":
        return _send_kept(api)
    value = in_an_hour() if wish == "scheduledAt" else True
    sent = api.send(raw_html(to="waiting@customer.example", **{wish: value}))
    assert sent.status == 200, sent.text
    return str(sent.json["messageId"])


def _send_kept(api: Api) -> str:
    """Send a message as an account that keeps content, and store what the worker would."""
    services, account_id = wiring.services(), account_of_key(api.key or "") or ""
    services.account_store.change(account_id, AccountChanges(keep=7))
    sent = api.send(raw_html(to="kept@customer.example"))
    assert sent.status == 200, sent.text
    message = services.message_store.get(account_id, UUID(sent.json["messageId"]))
    assert message
    event = Event(kind=EventKind.SENT, at=wiring.utc_now())
    sent_message = replace(message.with_events([event], "provider-1"), attempt=1)
    assert services.message_store.save(sent_message)
    octets = f"From: {message.sender}\r\nTo: {message.to[0]}\r\n\r\nkept\r\n"
    services.kept_contents.put(KeptContent.of(message), octets.encode())
    return str(sent.json["messageId"])


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the document that can be requested."""

    id: str
    method: str
    path: str
    described: Mapping[str, Any]

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"\{(\w+)\}", self.path)

    @property
    def permission(self) -> str | None:
        """The permission that the document states."""
        return self.described.get("x-required-permission")

    @property
    def credentials(self) -> set[str]:
        """The security schemes of the document, one of which is enough."""
        schemes = self.described.get("security", _DOCUMENT["security"])
        return {name for scheme in schemes for name in scheme}

    def request(self, api: Api, ids: Mapping[str, str]) -> ApiResponse:
        """Send a request: the ids are path parameters, the rest is from the document's examples."""
        path = self.path.removeprefix("/v1").format_map(OF_ALL | dict(ids))
        content = self.described.get("requestBody", {}).get("content")
        body = None
        if content:
            examples = content["application/json"]["examples"]
            body = next(iter(examples.values()))["value"]
        if self.id == "reschedule_message":  # the time of an example is over one day
            body = {"scheduledAt": in_an_hour()}
        query: dict[str, str | list[str]] = {
            parameter["name"]: {"from": "2026-01-01", "to": "2026-02-01"}[parameter["name"]]
            for parameter in self.described.get("parameters", ())
            if parameter["in"] == "query" and parameter["required"]
        }
        headers = {
            parameter["name"]: parameter["example"]
            for parameter in self.described.get("parameters", ())
            if parameter["in"] == "header" and parameter.get("required")
        }
        return api.raw(self.method, path, body, headers, query=query)


ALL_OPERATIONS: Final = [
    Operation(described["operationId"], method.upper(), path.removeprefix("/api"), described)
    for path, methods in _DOCUMENT["paths"].items()
    for method, described in methods.items()
]
#: Those that take an API key.
OF_KEYS: Final = [one for one in ALL_OPERATIONS if "ApiKey" in one.credentials]
#: Of these, those of the dashboard, and those of operators: management keys have their scopes.
MANAGED: Final = [one for one in OF_KEYS if one.permission in MANAGEMENT_SCOPES]
OPERATED: Final = [one for one in OF_KEYS if one.permission in OPERATOR_SCOPES]
#: The others.
OPERATIONS: Final = [one for one in OF_KEYS if one not in (*MANAGED, *OPERATED)]
#: Those that take a session.
OF_SESSIONS: Final = [one for one in ALL_OPERATIONS if "Session" in one.credentials]

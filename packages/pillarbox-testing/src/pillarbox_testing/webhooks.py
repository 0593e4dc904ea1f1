"""The webhooks that a receiver of the local stack has got since a test began."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from pillarbox_testing.http import get

if TYPE_CHECKING:
    from pillarbox_testing.inbox import Email

_MAX_WAIT: Final = 60.0  # seconds that one request may wait


class NoWebhook(AssertionError):
    """No webhook came; the text says which, and what came instead."""


@dataclass(frozen=True)
class ReceivedWebhook:
    """A webhook as its receiver got it."""

    id: str  #: the inbox's own id
    event_id: str  #: the event's: the same for each attempt
    type: str
    message_id: str
    recipient: str
    signature: str  #: `valid`, `invalid`, `stale`, `missing` or `unknown`
    attempt: int
    payload: Any = field(repr=False)  #: the decoded JSON
    headers: tuple[tuple[str, str], ...] = field(repr=False)


class Webhooks:
    """The webhooks that `/hooks/NAME` has got after a moment.

    Args:
        url: the address of the inbox.
        timeout: how many seconds `wait_for` waits by default.
        after: the id of the newest webhook before the moment; empty: there was none.
        receiver: the NAME; the stack's own endpoint points at `shop`.
    """

    def __init__(
        self, url: str, timeout: float = 10.0, after: str = "", receiver: str = "shop"
    ) -> None:
        self.url = url
        self.timeout = timeout
        self.receiver = receiver
        self._after = after

    def from_now_on(self, timeout: float = 10.0) -> Webhooks:
        """Return a receiver that leaves out what came before."""
        newest = get(f"{self.url}/webhooks?limit=1")["items"]
        return Webhooks(self.url, timeout, newest[0]["id"] if newest else "", self.receiver)

    def at(self, receiver: str) -> Webhooks:
        """Return another receiver: `/hooks/RECEIVER`."""
        return Webhooks(self.url, self.timeout, self._after, receiver)

    def wait_for(
        self,
        event: str = "",
        *,
        message: str = "",
        recipient: str = "",
        timeout: float | None = None,
    ) -> ReceivedWebhook:
        """Return the newest webhook of a type, a message id and a recipient; wait for it.

        Args:
            event: the type, such as `email.delivered`; empty: any.
            message: the message id; empty: any.
            recipient: the address, ignoring case; empty: any.
            timeout: the seconds to wait; None: the default.

        Raises:
            NoWebhook: none came within `timeout` seconds.
        """
        __tracebackhide__ = True
        timeout = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + timeout
        query = {"type": event, "message": message, "recipient": recipient}
        while True:
            left = deadline - time.monotonic()
            wait = min(max(left, 0.0), _MAX_WAIT)
            found = self._get("/webhooks/latest", wait=f"{wait:.3f}", **query)
            if found is not None:
                return _webhook(found)
            if left <= 0:
                raise NoWebhook(self._missing(query, timeout))

    def wait_for_reply(
        self, email: Email, text: str, *, timeout: float | None = None
    ) -> ReceivedWebhook:
        """Answer an email as its recipient, and return the `email.received` that follows.

        Raises:
            NoWebhook: none came within `timeout` seconds.
            ValueError: the stack receives no answers to the email, such as one without `replies`.
        """
        __tracebackhide__ = True
        new = self.from_now_on(self.timeout if timeout is None else timeout)
        get(f"{self.url}/messages/{email.id}/reply", body={"text": text})
        return new.wait_for("email.received", message=email.message_id)

    def all(self) -> list[ReceivedWebhook]:
        """Return the webhooks that have come so far, the newest first."""
        items = self._get("/webhooks")["items"]
        details = [get(f"{self.url}/webhooks/{item['id']}") for item in items]
        return [_webhook(detail) for detail in details if detail]

    def _get(self, path: str, **query: str) -> Any:  # noqa: ANN401  JSON
        query |= {"receiver": self.receiver, "after": self._after}
        text = urlencode({name: value for name, value in query.items() if value})
        return get(f"{self.url}{path}?{text}", timeout=_MAX_WAIT + 30)

    def _missing(self, query: dict[str, str], timeout: float) -> str:
        wanted = ", ".join(f"{name} {value}" for name, value in query.items() if value)
        place = f"/hooks/{self.receiver}"
        text = f"No webhook ({wanted or 'any'}) came to {place} within {timeout:g} seconds."
        items = self._get("/webhooks", limit="10")["items"]
        if not items:
            return f"{text}\nNone has come since the test began: {self.url}{place}"
        others = [f"  {item['type']} of {item['messageId']}" for item in items]
        return "\n".join([text, "These have come since the test began:", *others])


def _webhook(detail: dict[str, Any]) -> ReceivedWebhook:
    try:
        payload = json.loads(detail["body"])
    except ValueError:
        payload = None
    return ReceivedWebhook(
        id=detail["id"],
        event_id=detail["eventId"],
        type=detail["type"],
        message_id=detail["messageId"],
        recipient=detail["recipient"],
        signature=detail["signature"],
        attempt=detail["attempt"],
        payload=payload,
        headers=tuple((header["name"], header["value"]) for header in detail["headers"]),
    )

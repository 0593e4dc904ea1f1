"""The payloads of webhooks: what they say, and that they are Standard Webhooks JSON."""

import json
from typing import Any

from pillarbox.domain.messages.message import Event, EventKind
from pillarbox.domain.webhooks.events import (
    events_of,
)
from pillarbox.http.webhooks.payload import WebhookPayloads
from tests.fakes.builders import at, event, message

WRITE = WebhookPayloads("us-east-1")
ANN = "ann@example.com"


def _data(kind: EventKind, *before: Event, code: str | None = None) -> dict[str, Any]:
    last = Event(kind=kind, at=at(9), recipient=ANN, code=code)
    stored = message(events=(*before, last))
    data: dict[str, Any] = json.loads(WRITE.email(events_of(stored)[-1], stored))["data"]
    return data


def test_a_delay_decides_no_status() -> None:
    """A delayed recipient of a sent email has the status `sent`; before, it is `pending`."""
    assert _data(EventKind.DELAYED, event(EventKind.SENT, 1))["recipientStatus"] == "sent"
    assert _data(EventKind.DELAYED)["recipientStatus"] == "pending"


def test_a_transient_failure_is_not_permanent() -> None:
    """Only a failure that is not tried again is permanent; our own codes have our own text."""
    assert not _data(EventKind.BOUNCED_TRANSIENT, code="mailbox_full")["error"]["permanent"]
    error = _data(EventKind.FAILED, code="expired")["error"]
    assert error["permanent"]
    assert error["message"] == "The email could not be sent in time."


def test_an_event_without_a_reason_has_no_error() -> None:
    """If nothing went wrong, `error` is null; events of the whole email have no recipient."""
    stored = message()
    data = json.loads(WRITE.email(events_of(stored)[0], stored))["data"]
    assert data["error"] is data["recipient"] is data["recipientStatus"] is None
    assert data["messageIdHeader"] is None

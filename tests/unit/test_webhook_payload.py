"""The payloads of webhooks: what they say, and that they are Standard Webhooks JSON."""

import json
from typing import Any
from uuid import UUID

from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.messages.message import Event, EventKind, MessageOrigin
from pillarbox.domain.webhooks.events import (
    events_of,
    suppression_added,
    webhook_test,
)
from pillarbox.http.webhooks.payload import WebhookPayloads
from tests.fakes.builders import ACCOUNT, NOW, at, event, message

WRITE = WebhookPayloads("us-east-1")
ANN = "ann@example.com"


def test_an_event_of_an_email_has_the_state_of_the_email() -> None:
    """The payload names the recipient, both statuses, the tags, the error and the revision."""
    bounced = Event(
        kind=EventKind.BOUNCED, at=at(4.002), recipient=ANN, code="mailbox_unknown", reason="550"
    )
    stored = message(
        message_id=UUID("0195a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"),
        events=(event(EventKind.SENT, 1), bounced),
        origin=MessageOrigin(starter_template="otp", tags={"order": "10442"}),
        bcc=("secret@example.com",),
        provider_message_id="0102-1",
        revision=3,
    )
    payload = WRITE.email(events_of(stored)[-1], stored)
    assert json.loads(payload) == {
        "type": "email.bounced",
        "timestamp": "2026-03-14T15:09:30.537+00:00",
        "data": {
            "messageId": str(stored.message_id),
            "status": "bounced",
            "recipient": ANN,
            "recipientStatus": "bounced",
            "messageIdHeader": "<0102-1@email.amazonses.com>",
            "to": [ANN],
            "subject": "Hello",
            "templateId": None,
            "starterTemplate": "otp",
            "tags": {"order": "10442"},
            "scheduledAt": None,
            "held": False,
            "error": {"code": "mailbox_unknown", "message": "550", "permanent": True},
            "revision": 3,
        },
    }


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


def test_a_suppression_says_why() -> None:
    """The payload has the address, the reason and the message that caused it."""
    message_id = UUID(int=7)
    added = suppression_added(ACCOUNT, ANN, NOW, message_id).for_endpoint("e")
    suppression = Suppression(address=ANN, reason="bounced", at=NOW, message_id=message_id)
    assert json.loads(WRITE.suppression(added, suppression))["data"] == {
        "address": ANN,
        "reason": "bounced",
        "messageId": str(message_id),
    }


def test_a_test_names_its_endpoint() -> None:
    body = json.loads(WRITE.plain(webhook_test(ACCOUNT, NOW).for_endpoint("e")))
    assert body["type"] == "webhook.test"
    assert body["data"] == {"endpointId": "e"}

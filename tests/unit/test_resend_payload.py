"""Webhooks in the shape of Resend's: its SDK verifies them, and finds its fields."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, get_type_hints
from uuid import UUID

import pytest
import resend
from resend.webhooks import _webhook_event as theirs

from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.messages.message import Event, EventKind, Labels, MessageOrigin
from pillarbox.domain.webhooks.endpoint import WebhookFormat, new_secret, signed_headers
from pillarbox.domain.webhooks.events import (
    account_paused,
    domain_changed,
    events_of,
    suppression_added,
    webhook_test,
)
from pillarbox.http.webhooks.payload import payload_writers
from tests.fakes.builders import ACCOUNT, NOW, at, event, message

SDK: Final[Any] = resend
WRITE: Final = payload_writers("eu-west-1")[WebhookFormat.RESEND]
ANN = "ann@example.com"
ENDPOINT = "0195a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c"
STORED = message(
    events=(
        event(EventKind.SENT, 1),
        Event(kind=EventKind.DELAYED, at=at(2), recipient=ANN, code="deferred"),
        Event(kind=EventKind.BOUNCED, at=at(4), recipient=ANN, code="mailbox_full", reason="552"),
        Event(kind=EventKind.COMPLAINED, at=at(5), recipient=ANN),
        Event(kind=EventKind.FAILED, at=at(6), code="expired"),
    ),
    origin=MessageOrigin(starter_template="otp", labels=Labels(tags={"order": "10442"})),
    provider_message_id="0102-1",
)


def verified(payload: bytes) -> dict[str, Any]:
    """Sign a payload as the worker does, and return what Resend's SDK makes of it."""
    now = datetime.now(UTC)
    secret = new_secret(now)
    headers = signed_headers(UUID(ENDPOINT), payload, [secret], now, "svix")
    given = {name: headers[f"svix-{name}"] for name in ("id", "timestamp", "signature")}
    result: dict[str, Any] = SDK.Webhooks.verify(
        {"payload": payload.decode(), "headers": given, "webhook_secret": secret.text}
    )
    return result


def test_emails_have_resends_types_and_fields() -> None:
    """Each event of an email has the type and every field that the SDK says is always there."""
    kinds: dict[str, Any] = {
        "email.sent": theirs.BaseEmailEventData,
        "email.delivery_delayed": theirs.BaseEmailEventData,
        "email.bounced": theirs.EmailBouncedEventData,
        "email.complained": theirs.BaseEmailEventData,
        "email.failed": theirs.EmailFailedEventData,
    }
    found = {
        body["type"]: body["data"]
        for body in (verified(WRITE.email(one, STORED)) for one in events_of(STORED)[1:])
    }
    assert found.keys() == kinds.keys()
    for name, shape in kinds.items():
        assert found[name].keys() >= shape.__required_keys__, name
        assert found[name].keys() <= get_type_hints(shape).keys()
    bounced = found["email.bounced"]
    assert bounced["bounce"] == {"type": "Permanent", "subType": "mailbox_full", "message": "552"}
    assert (bounced["to"], bounced["tags"]) == ([ANN], {"order": "10442"})
    assert bounced["message_id"] == "<0102-1@eu-west-1.amazonses.com>"
    assert found["email.failed"]["failed"] == {"reason": "expired"}


def test_what_may_work_later_is_a_temporary_bounce() -> None:
    """A transient failure of a recipient has Resend's word for it."""
    kind = EventKind.BOUNCED_TRANSIENT
    stored = replace(STORED, events=(Event(kind=kind, at=at(3), recipient=ANN),))
    data = verified(WRITE.email(events_of(stored)[-1], stored))["data"]
    assert (data["bounce"]["type"], data["bounce"]["subType"]) == ("Temporary", "General")


@pytest.mark.parametrize(
    ("reason", "origin"), [("bounced", "bounce"), ("complained", "complaint"), ("x", "manual")]
)
def test_suppressions_have_resends_origins(reason: str, origin: str) -> None:
    added = suppression_added(ACCOUNT, ANN, NOW, STORED.message_id).for_endpoint(ENDPOINT)
    suppression = Suppression(address=ANN, reason=reason, at=NOW, message_id=STORED.message_id)
    body = verified(WRITE.suppression(added, suppression))
    assert body["data"].keys() == theirs.SuppressionEventData.__required_keys__
    assert (body["type"], body["data"]["origin"]) == ("suppression.added", origin)


def test_other_events_keep_our_types_if_resend_has_none() -> None:
    """A domain's change has Resend's type; pauses and tests have ours, which receivers ignore."""
    changed = domain_changed(ACCOUNT, "shop.example", DomainState.VERIFIED, NOW)
    assert changed
    body = verified(WRITE.plain(changed.for_endpoint(ENDPOINT)))
    assert (body["type"], body["data"]) == (
        "domain.updated",
        {"name": "shop.example", "status": "verified"},
    )
    for one in (account_paused(ACCOUNT, NOW), webhook_test(ACCOUNT, NOW)):
        body = verified(WRITE.plain(one.for_endpoint(ENDPOINT)))
        assert body["type"] == one.type
        assert body["data"]["endpoint_id"] == ENDPOINT

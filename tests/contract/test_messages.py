"""GET /v1/emails/{message_id}: contract sections 2.5, 3 and 4.4."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.contract.bodies import TO, otp, raw_html
from tests.contract.client import Api
from tests.contract.service import Service


def test_the_detail_is_that_of_the_send(api: Api) -> None:
    """2.3 to 2.5, notes: what was sent and answered; the status queued is stored as pending."""
    body = otp(
        to=["first@customer.example", "second@customer.example"],
        cc=["cc@customer.example"],
        bcc=[TO],
        fromName="Harbour",
        tags={"order": "7"},
    )
    sent = api.send(body)
    detail = api.get(sent.json["messageId"])
    assert (sent.json["status"], UUID(sent.json["messageId"]).version) == ("queued", 7)
    created = detail.json["createdAt"]
    assert datetime.fromisoformat(created).utcoffset() == timedelta(0)
    assert detail.json | {"keyId": ""} == {
        "messageId": sent.json["messageId"],
        "status": "pending",
        "recipientEmail": "first@customer.example",
        "subject": "Your Harbour code",
        "fromName": "Harbour",
        "providerMessageId": "",
        "errorMessage": None,
        "createdAt": created,
        "updatedAt": created,
        "messageIdHeader": None,
        "from": sent.json["from"],
        "to": ["first@customer.example", "second@customer.example"],
        "cc": ["cc@customer.example"],
        "bcc": [TO],
        "route": "http",
        "keyId": "",
        "starterTemplate": "otp",
        "templateId": None,
        "templateVersion": None,
        "requestId": sent.headers["x-request-id"],
        "tags": {"order": "7"},
        "scheduledAt": None,
        "held": False,
        "awaitsOwner": False,
        "canceledAt": None,
        "kept": None,
        "resendOf": None,
        "events": [{"type": "accepted", "at": created}],
    }


@pytest.mark.parametrize(
    ("body", "subject"),
    [
        (raw_html(subject="Grüße 🎉"), "Grüße 🎉"),
        (otp(brandName="Harbour"), "Your Harbour code"),
        (otp(subject="My own"), "My own"),
    ],
)
def test_the_subject_is_that_of_the_email(api: Api, body: dict[str, Any], subject: str) -> None:
    """2.1, 2.5: a subject in the request replaces the built-in one of a starter template."""
    assert api.get(api.send(body).json["messageId"]).json["subject"] == subject


def test_the_id_is_a_uuid(api: Api) -> None:
    """4.4: an id in capitals is the same id, and what is no UUID is 422 on that field."""
    sent = api.send(otp()).json["messageId"]
    assert api.get(sent.upper()).json["messageId"] == sent
    for message_id in ("1", "0" * 32, "%00"):
        assert api.get(message_id).errors == {"message_id": "invalid_uuid"}


# Events of SES; test_feedback_records.py has each record that SES documents.

LATER = (datetime.now(UTC) + timedelta(days=30)).isoformat(timespec="milliseconds")


def event(
    account: str, message_id: str, kind: str, part: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a record of SES event publishing for a message."""
    return {
        "eventType": kind,
        "mail": {
            "timestamp": LATER,
            "messageId": "provider-1",
            "tags": {"account": [account], "message": [message_id], "attempt": ["1"]},
        },
        kind.lower(): {"timestamp": LATER, **(part or {})},
    }


def bounce(address: str) -> dict[str, Any]:
    return {
        "bounceType": "Permanent",
        "bounceSubType": "General",
        "bouncedRecipients": [{"emailAddress": address, "diagnosticCode": "550 5.1.1 no such"}],
    }


DELIVERED = ("Delivery", {"recipients": [TO]})
HARD = ("Bounce", bounce(TO))


def test_with_several_recipients_the_highest_rank_is_shown(
    service: Service, account: str, api: Api
) -> None:
    """2.5, 3, notes: each recipient has its events, and the message shows the highest rank."""
    message_id = api.send(otp(to=[TO, "gone@customer.example"])).json["messageId"]
    gone = ("Bounce", bounce("gone@customer.example"))
    records = [event(account, message_id, *each) for each in (gone, DELIVERED)]
    assert service.report(*records) == []
    detail = api.get(message_id).json
    assert (detail["status"], detail["errorMessage"]) == ("bounced", "550 5.1.1 no such")
    assert detail["providerMessageId"] == "provider-1"
    assert detail["messageIdHeader"] == "<provider-1@eu-west-1.amazonses.com>"
    assert {e.get("recipient") for e in detail["events"]} == {None, TO, "gone@customer.example"}
    assert {
        "type": "bounced",
        "at": detail["updatedAt"],
        "recipient": "gone@customer.example",
        "code": "mailbox_unknown",
        "reason": "550 5.1.1 no such",
    } in detail["events"]

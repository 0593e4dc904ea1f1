"""GET /v1/emails/{message_id}: contract sections 2.5, 3 and 4.4."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.contract.bodies import TO, otp, raw_html
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service

DETAIL_FIELDS = {
    "messageId",
    "status",
    "recipientEmail",
    "subject",
    "fromName",
    "providerMessageId",
    "errorMessage",
    "createdAt",
    "updatedAt",
}
ORIGIN_FIELDS = {
    "route",
    "keyId",
    "starterTemplate",
    "templateId",
    "templateVersion",
    "requestId",
    "tags",
}


def test_the_detail_has_the_fields_of_the_contract(api: Api) -> None:
    """2.5: the detail has the nine fields; to, cc, bcc, from, origin and events are ours."""
    sent = api.send(otp(fromName="Harbour", cc=["cc@customer.example"], tags={"order": "7"}))
    detail = api.get(sent.json["messageId"])
    assert detail.status == 200
    ours = ORIGIN_FIELDS | {"from", "to", "cc", "bcc", "events"}
    assert DETAIL_FIELDS | ours == set(detail.json)
    assert detail.json["messageId"] == sent.json["messageId"]
    assert detail.json["recipientEmail"] == TO
    assert detail.json["fromName"] == "Harbour"
    assert detail.json["cc"] == ["cc@customer.example"]
    assert detail.json["from"] == sent.json["from"]
    assert (detail.json["route"], detail.json["starterTemplate"]) == ("http", "otp")
    assert detail.json["tags"] == {"order": "7"}
    assert detail.json["requestId"] == sent.headers["x-request-id"]


def test_an_accepted_message_is_pending(api: Api) -> None:
    """2.3, 3, notes: the response says queued; the stored status is pending."""
    sent = api.send(otp())
    detail = api.get(sent.json["messageId"]).json
    assert (sent.json["status"], detail["status"]) == ("queued", "pending")
    assert detail["providerMessageId"] == ""
    assert (detail["errorMessage"], detail["fromName"]) == (None, None)


def test_the_recipient_is_the_first_to(api: Api) -> None:
    """2.5, notes: recipientEmail is the first `to`."""
    body = otp(to=["first@customer.example", "second@customer.example"], bcc=[TO])
    detail = api.get(api.send(body).json["messageId"]).json
    assert detail["recipientEmail"] == "first@customer.example"
    assert detail["to"] == ["first@customer.example", "second@customer.example"]
    assert detail["bcc"] == [TO]


def test_timestamps_are_iso_8601_with_an_offset(api: Api) -> None:
    """2.5: timestamps are rendered with a +00:00 offset."""
    detail = api.get(api.send(otp()).json["messageId"]).json
    for field in ("createdAt", "updatedAt"):
        assert detail[field].endswith("+00:00")
        assert datetime.fromisoformat(detail[field]).utcoffset() == timedelta(0)
    assert detail["events"][0] == {"type": "accepted", "at": detail["createdAt"]}


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


def test_an_unknown_message_is_not_found(api: Api) -> None:
    """4.4, 7: an id that does not exist is 404 message_not_found."""
    response = api.get(str(uuid4()))
    assert (response.status, response.code) == (404, "message_not_found")
    assert response.error["type"] == "not_found"


def test_another_accounts_message_does_not_exist(api: Api, live: Api) -> None:
    """4.4, 7: an id of another account gets the same 404 as an unknown id, byte for byte."""
    sent = api.send(otp()).json["messageId"]
    assert live.get(sent).text == live.get(str(uuid4())).text


@pytest.mark.parametrize("message_id", ["1", "x" * 36, "0" * 32, "----" + "0" * 32, "%00"])
def test_the_id_is_a_uuid(api: Api, message_id: str) -> None:
    """4.4: a message_id that is not a UUID is 422 on that field."""
    assert api.get(message_id).errors == {"message_id": "invalid_uuid"}


def test_an_id_in_capitals_is_the_same_id(api: Api) -> None:
    """RFC 9562 section 4: UUIDs are case-insensitive on input."""
    sent = api.send(otp()).json["messageId"]
    assert api.get(sent.upper()).json["messageId"] == sent


# Events of SES: the statuses of section 3, and the ranks of the notes.

LATER = "2027-01-01T00:00:00.000Z"


def event(
    account: str, message_id: str, kind: str, part: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a record of SES event publishing for a message."""
    name = {"DeliveryDelay": "deliveryDelay"}.get(kind, kind.lower())
    return {
        "eventType": kind,
        "mail": {
            "timestamp": LATER,
            "messageId": "provider-1",
            "tags": {"account": [account], "message": [message_id], "attempt": ["1"]},
        },
        name: {"timestamp": LATER, **(part or {})},
    }


def bounce(kind: str, address: str = TO, subtype: str = "General") -> dict[str, Any]:
    return {
        "bounceType": kind,
        "bounceSubType": subtype,
        "bouncedRecipients": [{"emailAddress": address, "diagnosticCode": "550 5.1.1 no such"}],
    }


DELIVERED = ("Delivery", {"recipients": [TO]})
SENT: tuple[str, dict[str, Any]] = ("Send", {})
HARD = ("Bounce", bounce("Permanent"))
SOFT = ("Bounce", bounce("Transient", subtype="MailboxFull"))
COMPLAINT = ("Complaint", {"complainedRecipients": [{"emailAddress": TO}]})
REJECT = ("Reject", {"reason": "Bad content"})
DELAY = (
    "DeliveryDelay",
    {"delayType": "MailboxFull", "delayedRecipients": [{"emailAddress": TO}]},
)


def after(service: Service, *events: tuple[str, dict[str, Any]]) -> tuple[Api, ApiResponse]:
    """Return the client of a new account, and its only message after some events."""
    account = service.account()
    api = Api(service.key(account))
    message_id = api.send(otp()).json["messageId"]
    assert service.report(*(event(account, message_id, *each) for each in events)) == []
    return api, api.get(message_id)


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([SENT], "sent"),
        ([SENT, DELIVERED], "delivered"),
        ([DELIVERED, SENT], "delivered"),
        ([SENT, DELAY], "sent"),
        ([DELAY], "pending"),
        ([SENT, SOFT], "bounced"),
        ([SOFT, DELIVERED], "delivered"),
        ([SENT, HARD], "bounced"),
        ([HARD, DELIVERED], "bounced"),
        ([COMPLAINT, DELIVERED, SENT], "complained"),
        ([REJECT], "failed"),
        ([SENT, SENT, DELIVERED, DELIVERED], "delivered"),
    ],
)
def test_events_give_the_same_status_in_any_order(
    service: Service, events: list[tuple[str, dict[str, Any]]], status: str
) -> None:
    """2.5, 3, notes: the highest rank decides the status, in any order of events."""
    for order in (events, events[::-1]):
        _, detail = after(service, *order)
        assert detail.json["status"] == status


def test_the_detail_has_each_event_with_its_recipient(service: Service) -> None:
    """2.5, notes: errorMessage, providerMessageId, updatedAt, and each event and reason."""
    detail = after(service, SENT, HARD)[1].json
    assert detail["errorMessage"] == "550 5.1.1 no such"
    assert detail["providerMessageId"] == "provider-1"
    assert detail["updatedAt"] == "2027-01-01T00:00:00.000+00:00"
    assert detail["events"][-1] == {
        "type": "bounced",
        "at": "2027-01-01T00:00:00.000+00:00",
        "recipient": TO,
        "code": "general",
        "reason": "550 5.1.1 no such",
    }


def test_with_several_recipients_the_highest_rank_is_shown(
    service: Service, account: str, api: Api
) -> None:
    """Notes: each recipient has its own rank, and the message shows the highest."""
    body = otp(to=[TO, "gone@customer.example"])
    message_id = api.send(body).json["messageId"]
    gone = ("Bounce", bounce("Permanent", "gone@customer.example"))
    service.report(*(event(account, message_id, *each) for each in (gone, DELIVERED)))
    detail = api.get(message_id).json
    assert detail["status"] == "bounced"
    assert {e.get("recipient") for e in detail["events"]} == {None, TO, "gone@customer.example"}


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([HARD], "recipient_suppressed"),
        ([COMPLAINT], "recipient_suppressed"),
        ([SOFT], ""),
        ([DELAY], ""),
        ([("Bounce", bounce("Permanent", subtype="OnAccountSuppressionList"))], ""),
    ],
)
def test_permanent_bounces_and_complaints_suppress(
    service: Service, events: list[tuple[str, dict[str, Any]]], code: str
) -> None:
    """3, notes: only permanent bounces and complaints suppress an address."""
    api, _ = after(service, *events)
    assert api.send(otp()).code == code


def test_ids_sort_by_the_time_of_acceptance(api: Api) -> None:
    """Protocol: message ids are UUIDv7, which sort by time."""
    assert UUID(api.send(otp()).json["messageId"]).version == 7

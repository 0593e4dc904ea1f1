"""Reading SES's events: one record of each type, and texts that are not records."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.ses.events import find_message, read_provider_event
from pillarbox.application.delivery.ports import (
    ProviderEvent,
    TaggedMessage,
    TenantChange,
    UnreadableEvent,
)
from pillarbox.domain.messages.message import Event, EventKind
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT
from tests.loops import for_each

MESSAGE_ID = "0197a1b2-0000-7000-8000-000000000001"
ANN = "ann@example.com"
MAIL = {
    "timestamp": "2026-03-14T15:09:26.535Z",
    "source": "hello@shop.example",
    "sendingAccountId": "123456789012",
    "messageId": "0102018e-x",
    "destination": [ANN, "bob@example.com"],
    "headersTruncated": False,
    "headers": [{"name": "Subject", "value": "Hello"}],
    "commonHeaders": {"subject": "Hello"},
    "tags": {
        "ses:configuration-set": ["pillarbox"],
        "account": [ACCOUNT],
        "message": [MESSAGE_ID],
        "attempt": ["1"],
    },
}
SENT_AT = datetime(2026, 3, 14, 15, 9, 26, 535_000, UTC)
LATER = datetime(2026, 3, 14, 15, 10, 1, 123_000, UTC)
STAMP = "2026-03-14T15:10:01.123456Z"


def record(kind: str, **part: Any) -> dict[str, Any]:
    return copy.deepcopy({"eventType": kind, "mail": MAIL} | part)


def bounce(kind: str, subtype: str, **recipient: str) -> dict[str, Any]:
    return record(
        "Bounce",
        bounce={
            "feedbackId": "f",
            "bounceType": kind,
            "bounceSubType": subtype,
            "bouncedRecipients": [{"emailAddress": ANN, "action": "failed"} | recipient],
            "timestamp": STAMP,
            "reportingMTA": "dsn; mx.example.com",
        },
    )


def complaint(**more: Any) -> dict[str, Any]:
    return record(
        "Complaint",
        complaint={
            "feedbackId": "f",
            "complaintSubType": None,
            "complainedRecipients": [{"emailAddress": f"Ann Lee <{ANN}>"}],
            "timestamp": STAMP,
            **more,
        },
    )


def delivery(*recipients: Any) -> dict[str, Any]:
    return record("Delivery", delivery={"timestamp": STAMP, "recipients": [*recipients]})


def event(kind: EventKind, code: str | None = None, reason: str | None = None) -> Event:
    """Return an event of a report about Ann."""
    return Event(kind=kind, at=LATER, recipient=ANN, code=code, reason=reason)


def mail_event(kind: EventKind, code: str | None = None, reason: str | None = None) -> Event:
    return Event(kind=kind, at=SENT_AT, code=code, reason=reason)


def read(published: dict[str, Any]) -> ProviderEvent:
    provider_event = read_provider_event(json.dumps(published))
    assert isinstance(provider_event, ProviderEvent)
    return provider_event


GENERAL = {"diagnosticCode": "smtp; 550 5.1.1 user unknown", "status": "5.1.1"}
DELAY = {
    "timestamp": STAMP,
    "delayType": "SpamDetected",
    "expirationTime": STAMP,
    "delayedRecipients": [{"emailAddress": ANN, "status": "4.4.1"}],
}
HARD, SOFT, COMPLAINED = EventKind.BOUNCED, EventKind.BOUNCED_TRANSIENT, EventKind.COMPLAINED
FREED = (
    "Amazon SES did not send the email because the address was on its own suppression list. The"
    " address is free now: send the email again. If that fails too, the operator finds the address"
    " with `pillarbox suppression ses list`."
)
#: Lists of SES, and what an account is told of an email that SES did not send because of them.
LISTS = {
    "OnAccountSuppressionList": FREED,
    "OnTenantSuppressionList": FREED,
    "Suppressed": "Amazon SES did not send the email because the address is on its list of all"
    " customers. Only Amazon SES clears that list, at most 14 days after the last bounce. The"
    " operator can make it not count: `pillarbox doctor` says how.",
}
UNWANTED = event(COMPLAINED, "complaint", "The recipient reported the mail as unwanted.")
#: A record, its event, and why the recipient is suppressed.
READ: list[tuple[dict[str, Any], Event, str | None]] = [
    (record("Send", send={}), mail_event(EventKind.SENT), None),
    (delivery(ANN), event(EventKind.DELIVERED), None),
    (
        bounce("Permanent", "General", **GENERAL),
        event(HARD, "mailbox_unknown", "550 5.1.1 user unknown"),
        "bounced",
    ),
    (bounce("Permanent", "NoEmail"), event(HARD, "no_email", "Bounce: NoEmail"), "bounced"),
    *(
        (bounce("Permanent", subtype), event(EventKind.FAILED, "suppressed_by_ses", reason), None)
        for subtype, reason in LISTS.items()
    ),
    (
        bounce("Transient", "MailboxFull", diagnosticCode="x" * 600),
        event(SOFT, "mailbox_full", "x" * 600),
        None,
    ),
    (
        bounce("Undetermined", "Undetermined"),
        event(SOFT, "undetermined", "Bounce: Undetermined"),
        None,
    ),
    (complaint(complaintFeedbackType="abuse"), replace(UNWANTED, code="abuse"), "complained"),
    (complaint(), UNWANTED, "complained"),
    *(
        (
            complaint(complaintSubType=subtype),
            event(EventKind.FAILED, "suppressed_by_ses", reason),
            None,
        )
        for subtype, reason in LISTS.items()
    ),
    (
        record("Reject", reject={"reason": "Bad content"}),
        mail_event(EventKind.FAILED, "rejected", "Bad content"),
        None,
    ),
    (
        record("Rendering Failure", failure={"errorMessage": "no x", "templateName": "t"}),
        mail_event(EventKind.FAILED, "rendering_failed", "no x"),
        None,
    ),
    (
        record("DeliveryDelay", deliveryDelay=DELAY),
        event(EventKind.DELAYED, "spam_detected"),
        None,
    ),
]


@pytest.mark.parametrize(("published", "expected", "suppressed"), READ)
def test_each_type_of_record_is_read(
    published: dict[str, Any], expected: Event, suppressed: str | None
) -> None:
    """The tags of a record identify its message; hard bounces and complaints suppress."""
    provider_event = read(published)
    assert (provider_event.account_id, str(provider_event.message_id)) == (ACCOUNT, MESSAGE_ID)
    assert provider_event.provider_message_id == "0102018e-x"
    assert provider_event.events == (expected,)
    assert provider_event.at == expected.at
    assert provider_event.suppress == (((ANN, suppressed),) if suppressed else ())
    assert provider_event.unknown == ()


def test_a_record_may_have_several_recipients() -> None:
    both = (ANN, "bob@example.com")
    assert tuple(event.recipient for event in read(delivery(*both)).events) == both


def test_an_event_is_read_with_and_without_its_envelope() -> None:
    """EventBridge sets the whole event aside, but queues only its detail."""
    published = delivery(ANN)
    envelope = {"version": "0", "source": "aws.ses", "detail-type": "Email Delivered"}
    assert read(envelope | {"detail": published}) == read(published)


@pytest.mark.parametrize("kind", ["Open", "Click", "Subscription"])
def test_other_types_are_ignored(kind: str) -> None:
    assert read_provider_event(json.dumps(record(kind))) is None


@for_each(
    "tags",
    [
        None,
        {},
        {"account": [ACCOUNT]},
        {"message": [MESSAGE_ID]},
        {"account": [], "message": [MESSAGE_ID]},
        {"account": [ACCOUNT], "message": ["x"]},
        {"account": [ACCOUNT], "message": [5]},
        "x account message",
    ],
)
def test_emails_of_other_systems_are_ignored(tags: object) -> None:
    """A record without our tags belongs to another system's email, whatever else is in it."""
    published = record("Send")
    published["mail"]["tags"] = tags
    assert read_provider_event(json.dumps(published)) is None
    assert read_provider_event(json.dumps({"eventType": ["Send"], "mail": {"tags": tags}})) is None


TENANT = {
    "detail-type": "Sending Status Disabled",
    "source": "aws.ses",
    "account": "012345678901",
    "time": "2025-07-24T12:44:28Z",
    "region": "us-east-1",
    "resources": ["arn:aws:ses:us-east-1:012345678901:tenant/pillarbox-shared/tn-1a2b"],
    "detail": {
        "version": "1.0.0",
        "data": {
            "origin": "CUSTOMER_MANAGED",
            "record": {
                "status": "DISABLED",
                "cause": "Status manually updated.",
                "lastUpdatedTimestamp": [2025, 7, 24, 12, 44, 28, 995000000],
            },
        },
    },
}


def test_a_change_of_a_tenant_names_it() -> None:
    """Both types of events name the tenant in `resources`; other resources are none of ours."""
    for kind in ("Sending Status Disabled", "Sending Status Enabled"):
        text = json.dumps(TENANT | {"detail-type": kind})
        assert read_provider_event(text) == TenantChange("pillarbox-shared")
        assert find_message(text) is None
    other = ["arn:aws:ses:us-east-1:012345678901:configuration-set/mails"]
    for resources in ([], other):
        assert read_provider_event(json.dumps(TENANT | {"resources": resources})) is None


BROKEN: list[Any] = [
    json.dumps(TENANT | {"resources": None}),
    json.dumps(TENANT | {"resources": [1]}),
    json.dumps(TENANT | {"detail-type": ["x"]}),
    "",
    "x",
    "[]",
    "1",
    "null",
    "{}",
    json.dumps(record("SomethingNew")),
    *(
        json.dumps(record("Send") | {"mail": MAIL | change})
        for change in (
            {"timestamp": "soon"},
            {"timestamp": None},
            {"timestamp": "2026-03-14T15:09:26"},
        )
    ),
    json.dumps(record("Delivery")),
    json.dumps(delivery(5)),
    json.dumps(record("Bounce", bounce={"bounceType": "Permanent"})),
    json.dumps(record("Reject", reject=None)),
]


@pytest.mark.parametrize("text", BROKEN)
def test_other_text_cannot_be_read(text: str) -> None:
    """The error of a text that is no record of a known form quotes nothing of it."""
    with pytest.raises(UnreadableEvent, match=r"\A[A-Za-z]+( [A-Za-z]+|: [A-Za-z]+( '\w+')?)*\Z"):
        read_provider_event(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def odd_records(draw: Callable[[Any], Any]) -> str:
    """Draw a record with some members replaced, added or removed, and perhaps cut short."""
    published, _, _ = draw(st.sampled_from(READ))
    odd: dict[str, Any] = copy.deepcopy(published)
    for _ in range(draw(st.integers(1, 3))):
        part = odd
        while inner := [value for value in part.values() if isinstance(value, dict) and value]:
            if draw(st.booleans()):
                break
            part = draw(st.sampled_from(inner))
        name = draw(st.sampled_from(sorted(part)) | st.text(max_size=5))
        if name in part and draw(st.booleans()):
            del part[name]
        else:
            part[name] = draw(JSON)
    return json.dumps(odd)[: -1 if draw(st.booleans()) else None]


@given(odd_records())
def test_a_broken_record_is_only_unreadable(text: str) -> None:
    try:
        provider_event = read_provider_event(text)
    except UnreadableEvent:
        return
    assert not isinstance(provider_event, ProviderEvent) or provider_event.events


def test_a_record_of_long_texts_fits_into_an_item() -> None:
    """Fifty long addresses with all events, each with long texts of a server, take half an item."""
    balloon = "\N{BALLOON}"
    people = tuple(f"{n:02}{balloon * 15}@{balloon * 45}.example" for n in range(50))
    message = builders.message(to=people, subject=balloon * 240)
    long, report = balloon * 5_000, {"timestamp": STAMP}
    for person in people:
        named = [{"emailAddress": person, "diagnosticCode": long}]
        for published in (
            record("DeliveryDelay", deliveryDelay=report | {"delayedRecipients": named}),
            bounce("Transient", long, emailAddress=person, diagnosticCode=long),
            bounce("Permanent", long, emailAddress=person, diagnosticCode=long),
            complaint(complaintFeedbackType=long, complainedRecipients=named),
            delivery(person),
            record("Reject", reject={"reason": long}),
        ):
            message = message.with_events(read(published).events)
    assert len(message.events) == 5 * 50 + 1
    octets = len(json.dumps(message_item(message), ensure_ascii=False).encode())
    assert 100_000 < octets < 300_000  # DynamoDB counts fewer, and accepts 400 KB


TAGGED = TaggedMessage(ACCOUNT, UUID(MESSAGE_ID), "0102018e-x")
SENT = json.dumps(record("Send"))


@for_each(
    ("text", "found"),
    [
        (SENT, TAGGED),
        (json.dumps(record("Open"), indent=2), TAGGED),
        (json.dumps({"detail": record("Bounce", bounce=None)}), TAGGED),
        (SENT[:-1], TAGGED),
        ("[" * 2_000 + SENT, TAGGED),
        (SENT.replace("messageId", "id"), TaggedMessage(ACCOUNT, UUID(MESSAGE_ID))),
        (SENT.replace(MESSAGE_ID, "x"), None),
        (SENT.replace(ACCOUNT, ""), None),
        (json.dumps({"subject": SENT}), None),
        ("", None),
    ],
)
def test_a_record_that_cannot_be_read_names_its_message(
    text: str, found: TaggedMessage | None
) -> None:
    """The tags are found in any text that has them, but not in one that a stranger wrote."""
    assert find_message(text) == found


def test_each_bounced_recipient_has_its_own_event() -> None:
    """Of several recipients, those that bounced are recorded and suppressed, each by itself."""
    bounced = bounce("Permanent", "General", **GENERAL)
    others = ("bob@example.com", "Carl <carl@example.com>")
    bounced["mail"]["destination"].append("carl@example.com")
    bounced["bounce"]["bouncedRecipients"] += [{"emailAddress": other} for other in others]
    provider_event = read(bounced)
    addresses = [ANN, "bob@example.com", "carl@example.com"]
    assert [event.recipient for event in provider_event.events] == addresses
    assert [tuple(entry) for entry in provider_event.suppress] == [
        (address, "bounced") for address in addresses
    ]


@for_each(
    ("destination", "named", "suppressed"),
    [
        ([ANN, "Bob@example.com"], "BOB@example.com", ["Bob@example.com"]),
        ([ANN, "bob@example.com"], "victim@example.net", []),
        ([ANN], "victim@example.net", [ANN]),
        (None, "victim@example.net", ["victim@example.net"]),
    ],
)
def test_a_report_suppresses_recipients_that_ses_names(
    destination: list[str] | None, named: str, suppressed: list[str]
) -> None:
    """The recipient's server can name anybody, also after the message lost an erased recipient.

    SES's own list has an address as the email had it.
    """
    reports = [
        bounce("Permanent", "General", emailAddress=named),
        complaint(complainedRecipients=[{"emailAddress": named}]),
    ]
    for report in reports:
        report["mail"]["destination"] = destination
        event = read_provider_event(json.dumps(report))
        assert isinstance(event, ProviderEvent)
        assert [address for address, _ in event.suppress] == suppressed

"""What `PUT /behaviour?recipient=` makes of accepted mail: all outcomes, and odd events."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.integration.local.local_ses import LocalSes

Send = Callable[..., str]
ADA = "ada@example.com"


@pytest.fixture
def events(send: Send, inbox: httpx.Client, local_ses: LocalSes) -> Callable[..., list[Any]]:
    """Return a function that sends under a mode, and returns the events that follow."""

    def events(mode: str, count: int, *to: str) -> list[Any]:
        asked = {"recipient": ADA} if not to else {}
        assert inbox.put("/behaviour", params=asked, json={"mode": mode}).is_success
        send(*(to or (ADA,)))
        return local_ses.await_records(count)

    return events


@pytest.mark.parametrize(
    ("mode", "kinds", "outcome"),
    [
        ("bounce", ["Send", "Bounce"], "bounced"),
        ("soft-bounce", ["Send", "Bounce"], "bounced for now"),
        ("complaint", ["Send", "Delivery", "Complaint"], "complained"),
        ("delay", ["Send", "DeliveryDelay"], "delayed"),
        ("virus", ["Send", "Reject"], "rejected"),
        ("rendering-failure", ["Rendering Failure"], "not rendered"),
        ("global-list", ["Send", "Bounce"], "globally suppressed"),
        ("open", ["Send", "Delivery", "Open"], "opened"),
        ("click", ["Send", "Delivery", "Click"], "clicked"),
        ("subscription", ["Send", "Delivery", "Subscription"], "subscription changed"),
        ("unknown-event", ["Send", "Quarantine"], "delivered"),
        ("repeated-events", ["Send", "Send", "Delivery", "Delivery"], "delivered"),
    ],
)
def test_each_mode_has_its_events(
    events: Callable[..., list[Any]], inbox: httpx.Client, mode: str, kinds: list[str], outcome: str
) -> None:
    assert [record["eventType"] for record in events(mode, len(kinds))] == kinds
    (item,) = inbox.get("/messages", params={"to": ADA}).json()["items"]
    assert item["deliveries"][0]["outcome"] == outcome


@pytest.mark.parametrize(
    ("mode", "count", "member", "expected"),
    [
        ("soft-bounce", 2, "bounce", {"bounceType": "Transient", "bounceSubType": "MailboxFull"}),
        (
            "undetermined-bounce",
            2,
            "bounce",
            {
                "bounceType": "Undetermined",
                "bounceSubType": "Undetermined",
                "bouncedRecipients": [],
            },
        ),
        ("empty-bounce", 2, "bounce", {"bounceType": "Permanent", "bouncedRecipients": []}),
        ("empty-complaint", 3, "complaint", {"complainedRecipients": []}),
        ("empty-delivery", 2, "delivery", {"recipients": []}),
        ("empty-delay", 2, "deliveryDelay", {"delayedRecipients": []}),
        ("delay", 2, "deliveryDelay", {"delayType": "TransientCommunicationFailure"}),
        ("unknown-bounce", 2, "bounce", {"bounceSubType": "MailboxOnTheMoon"}),
        ("rendering-failure", 1, "failure", {"templateName": "none"}),
    ],
)
def test_the_last_event_has_these_members(
    events: Callable[..., list[Any]], mode: str, count: int, member: str, expected: dict[str, Any]
) -> None:
    details = events(mode, count)[-1][member]
    assert {name: details[name] for name in expected} == expected


def test_a_complaint_without_a_type(events: Callable[..., list[Any]]) -> None:
    assert "complaintFeedbackType" not in events("untyped-complaint", 3)[-1]["complaint"]


def test_one_event_with_a_result_for_each_recipient(events: Callable[..., list[Any]]) -> None:
    record = events("mixed-bounce", 2, ADA, "bob@example.com", "eve@example.com")[-1]
    bounced = record["bounce"]["bouncedRecipients"]
    assert [each["emailAddress"] for each in bounced] == [ADA, "bob@example.com", "eve@example.com"]
    assert [each.get("status") for each in bounced] == ["5.1.1", "5.2.2", None]


def test_a_late_delivery(events: Callable[..., list[Any]]) -> None:
    record = events("late-delivery", 2)[-1]
    accepted, delivered = (
        datetime.fromisoformat(record[member]["timestamp"]) for member in ("mail", "delivery")
    )
    assert delivered - accepted >= timedelta(hours=6)


def test_recipients_of_one_email_may_differ(
    send: Send, inbox: httpx.Client, local_ses: LocalSes
) -> None:
    inbox.put("/behaviour", params={"recipient": "b@example.com"}, json={"mode": "bounce"})
    inbox.put("/behaviour", params={"recipient": "d@example.com"}, json={"mode": "delay"})
    send("a@example.com", "b@example.com", "d@example.com")
    kinds = [record["eventType"] for record in local_ses.await_records(4)]
    assert kinds == ["Send", "Delivery", "Bounce", "DeliveryDelay"]

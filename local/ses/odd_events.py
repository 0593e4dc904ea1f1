"""Events of a form that SES's examples do not show, for a test of who reads them.

SES promises no complete list of its fields: "best effort", in any order, perhaps twice
(developer guide, monitor-using-event-publishing, read on 2026-11-28).
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from local.ses.behaviour import Mode
from local.ses.mail import timestamp

#: The type and the details of an event.
type Event = tuple[str, dict[str, Any]]

#: The member with the recipients of an event.
RECIPIENTS: Final[Mapping[str, str]] = {
    "Bounce": "bouncedRecipients",
    "Complaint": "complainedRecipients",
    "Delivery": "recipients",
    "DeliveryDelay": "delayedRecipients",
}
_LATE: Final = timedelta(hours=6)


def odd(mode: Mode, events: list[Event]) -> list[Event]:
    """Return the events of an email in the form that a mode names; of other modes unchanged."""
    change = _CHANGES.get(mode)
    return [*change(events)] if change else events


def _empty(kind: str) -> Callable[[list[Event]], Iterator[Event]]:
    """Name no recipient in events of a type."""

    def change(events: list[Event]) -> Iterator[Event]:
        for event_type, details in events:
            none: dict[str, Any] = {RECIPIENTS[kind]: []} if event_type == kind else {}
            yield event_type, details | none

    return change


def _undetermined(events: list[Event]) -> Iterator[Event]:
    """Say nothing of a bounce but that there was one, as SES did in 2013 for automatic replies."""
    nothing: dict[str, Any] = {
        "bounceType": "Undetermined",
        "bounceSubType": "Undetermined",
        "bouncedRecipients": [],
    }
    for event_type, details in events:
        yield event_type, details | (nothing if event_type == "Bounce" else {})


def _unknown_subtype(events: list[Event]) -> Iterator[Event]:
    for event_type, details in events:
        unknown = {"bounceSubType": "MailboxOnTheMoon"} if event_type == "Bounce" else {}
        yield event_type, details | unknown


def _untyped(events: list[Event]) -> Iterator[Event]:
    """Leave out what a mailbox provider's report may leave out."""
    for event_type, details in events:
        yield event_type, {k: v for k, v in details.items() if k != "complaintFeedbackType"}


def _unknown_type(events: list[Event]) -> Iterator[Event]:
    """Put a type that SES does not have yet in place of the delivery."""
    for event_type, details in events:
        yield ("Quarantine" if event_type == "Delivery" else event_type), details


def _mixed(events: list[Event]) -> Iterator[Event]:
    """Put all bounces into one event, with a result of its own for each recipient."""
    bounces = [details for event_type, details in events if event_type == "Bounce"]
    results: list[dict[str, str]] = [
        {"action": "failed", "status": "5.1.1", "diagnosticCode": "smtp; 550 5.1.1 user unknown"},
        {"action": "failed", "status": "5.2.2", "diagnosticCode": "smtp; 552 5.2.2 mailbox full"},
        {},
    ]
    bounced = (one["emailAddress"] for each in bounces for one in each["bouncedRecipients"])
    recipients = [
        {"emailAddress": address} | results[min(place, len(results) - 1)]
        for place, address in enumerate(bounced)
    ]
    yield from (event for event in events if event[0] != "Bounce")
    if bounces:
        yield "Bounce", bounces[0] | {"bouncedRecipients": recipients}


def _repeated(events: list[Event]) -> Iterator[Event]:
    for event in events:
        yield from (event, event)


def _late(events: list[Event]) -> Iterator[Event]:
    """Move a delivery to hours after the email was accepted."""
    for event_type, details in events:
        at = details.get("timestamp")
        if event_type == "Delivery" and at:
            late = datetime.fromisoformat(at) + _LATE
            yield event_type, details | {"timestamp": timestamp(late)}
        else:
            yield event_type, details


_CHANGES: Final[Mapping[Mode, Callable[[list[Event]], Iterator[Event]]]] = {
    "undetermined-bounce": _undetermined,
    "empty-bounce": _empty("Bounce"),
    "empty-complaint": _empty("Complaint"),
    "empty-delivery": _empty("Delivery"),
    "empty-delay": _empty("DeliveryDelay"),
    "unknown-event": _unknown_type,
    "unknown-bounce": _unknown_subtype,
    "untyped-complaint": _untyped,
    "mixed-bounce": _mixed,
    "repeated-events": _repeated,
    "late-delivery": _late,
}

"""What webhooks announce: the events of messages, and their ids."""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from uuid import UUID

import pytest

from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.kept import erase_recipient
from pillarbox.domain.messages.message import ERASED_ADDRESS, Event, EventKind
from pillarbox.domain.webhooks.endpoint import WebhookType, is_delivery_id
from pillarbox.domain.webhooks.events import (
    account_paused,
    events_of,
    find_erased,
    find_event,
    new_events,
    receives,
    suppression_added,
    webhook_test,
)
from tests.fakes.builders import ACCOUNT, NOW, at, event, message
from tests.fakes.webhooks import endpoint

ANN, BOB, CLEO = "ann@example.com", "bob@example.com", "cleo@example.com"


def test_each_event_of_an_email_has_its_type() -> None:
    types = {
        EventKind.SENT: "email.sent",
        EventKind.DELIVERED: "email.delivered",
        EventKind.DELAYED: "email.delayed",
        EventKind.BOUNCED: "email.bounced",
        EventKind.BOUNCED_TRANSIENT: "email.bounced",
        EventKind.COMPLAINED: "email.complained",
        EventKind.FAILED: "email.failed",
        EventKind.UNCERTAIN: "email.failed",
    }
    found = events_of(message(events=tuple(map(event, types))))
    assert [each.type for each in found] == ["email.accepted", *types.values()]


def test_a_change_without_an_event_announces_nothing() -> None:
    old = message(events=(event(EventKind.DELAYED, 1, ANN), event(EventKind.SENT, 1)))
    new = old.with_events([event(EventKind.DELAYED, 60, ANN), event(EventKind.SENT, 0)])
    assert new.events != old.events
    assert not new_events(old, new)
    assert not new_events(old, replace(old, attempt=2, revision=7))


def test_the_order_of_events_does_not_matter() -> None:
    events: list[Event] = [
        event(EventKind.SENT, 1),
        event(EventKind.DELAYED, 2, ANN),
        event(EventKind.DELIVERED, 3, ANN),
        event(EventKind.DELIVERED, 9, ANN),
        event(EventKind.COMPLAINED, 4, ANN),
    ]
    start = message()
    for order in permutations(events):
        record, announced = start, []
        for each in order:
            changed = record.with_events([each])
            announced += [a.event_id("e") for a in new_events(record, changed)]
            record = changed
        assert len(announced) == len(set(announced)) == 4
        assert set(announced) == {a.event_id("e") for a in events_of(record)[1:]}


@pytest.mark.parametrize("erased", [(ANN,), (BOB, ANN), (ANN, BOB, CLEO)])
def test_an_erasure_announces_no_event_again(erased: tuple[str, ...]) -> None:
    record = message(to=("Ann@example.com", BOB), cc=(CLEO,)).with_events(
        [
            event(EventKind.SENT, 1),
            *(
                event(EventKind.DELAYED, second, name)
                for second, name in enumerate((ANN, BOB, CLEO))
            ),
            event(EventKind.BOUNCED, 5, ANN),
            event(EventKind.DELIVERED, 6, BOB),
        ]
    )
    for mailbox in erased:
        old, record = record, erase_recipient(record, mailbox)
        assert old.to + old.cc != record.to + record.cc
        assert not new_events(old, record)
    failed = record.with_events([event(EventKind.FAILED, 9)])
    assert [each.kind for each in new_events(old, failed)] == [EventKind.FAILED]
    late = record.with_events([event(EventKind.COMPLAINED, 9, erased[0])])
    (complained,) = new_events(record, late)
    assert (complained.kind, complained.recipient) == (EventKind.COMPLAINED, ERASED_ADDRESS)


def test_an_event_is_found_after_its_recipient_was_erased() -> None:
    """What waited is that event of an erased person whose type and time are nearest."""
    record = message(to=(ANN, BOB)).with_events(
        [
            event(EventKind.DELIVERED, 1, ANN),
            event(EventKind.BOUNCED_TRANSIENT, 2, ANN),
            event(EventKind.BOUNCED, 60, ANN),
            event(EventKind.DELIVERED, 3, BOB),
        ]
    )
    announced = [each.for_endpoint("e") for each in events_of(record)]
    erased = erase_recipient(record, ANN)
    found = [find_erased(erased, each) for each in announced if not find_event(erased, each)]
    assert [each and (each.kind, each.recipient) for each in found] == [
        (EventKind.DELIVERED, ERASED_ADDRESS),
        (EventKind.BOUNCED_TRANSIENT, ERASED_ADDRESS),
        (EventKind.BOUNCED, ERASED_ADDRESS),
    ]
    assert find_erased(record, announced[1]) is None


def test_ids_are_of_version_5_and_differ() -> None:
    """Message, kind, recipient and endpoint each change the id; the time does not."""
    stored = message(events=(event(EventKind.DELIVERED, 1, ANN),))
    (_, delivered) = events_of(stored)
    ids = {
        delivered.event_id("one"),
        delivered.event_id("two"),
        replace(delivered, message_id=new_id(NOW)).event_id("one"),
        replace(delivered, kind=EventKind.BOUNCED).event_id("one"),
        replace(delivered, recipient=BOB).event_id("one"),
    }
    assert len(ids) == 5
    assert {each.version for each in ids} == {5}
    assert replace(delivered, at=at(99)).event_id("one") == delivered.event_id("one")


def test_the_id_is_stable() -> None:
    stored = message(message_id=UUID("0195a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"))
    (accepted,) = events_of(stored)
    assert str(accepted.event_id("endpoint")) == "d08cdb9d-d3c3-50c7-9bdc-d142994ef131"


def test_what_happens_again_has_another_id() -> None:
    """An address that is suppressed again, a second pause and a second test are other events."""
    for first, second in (
        (suppression_added(ACCOUNT, ANN, at(n), None) for n in (1, 2)),
        (account_paused(ACCOUNT, at(n)) for n in (1, 2)),
        (webhook_test(ACCOUNT, at(n)) for n in (1, 2)),
    ):
        assert first.event_id("e") != second.event_id("e")
        assert first.event_id("e") == replace(first).event_id("e")


@pytest.mark.parametrize("what", ["account_id", "address", "domain", "pause", "message_id"])
def test_what_happens_at_the_same_time_has_another_id(what: str) -> None:
    """Such as two addresses of one email that bounced, or two domains that were verified."""
    event, other = webhook_test(ACCOUNT, NOW), {what: "x"}
    assert replace(event, **other).event_id("e") != event.event_id("e")  # type: ignore[arg-type]


def test_a_webhook_event_of_a_message_names_no_address() -> None:
    """The queue and the timer hold no address that the record may lose."""
    stored = message(events=(event(EventKind.DELIVERED, 1, ANN),))
    assert ANN not in repr([each.for_endpoint("e") for each in events_of(stored)])


def test_delivery_ids_sort_by_the_time_of_the_events() -> None:
    """A later event has a higher id, and only texts of that form are ids."""
    ids = [
        account_paused(ACCOUNT, NOW + timedelta(seconds=n)).for_endpoint("e").delivery_id
        for n in (0, 0.001, 86_400, 10**9)
    ]
    assert ids == sorted(ids)
    assert all(map(is_delivery_id, ids))
    assert not any(map(is_delivery_id, ("", "x" * 2000, ids[0][1:], ids[0] + "0")))


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ({"*"}, set(WebhookType) - {WebhookType.EMAIL_ACCEPTED, WebhookType.WEBHOOK_TEST}),
        ({"email.bounced"}, {WebhookType.EMAIL_BOUNCED}),
        ({"email.accepted"}, {WebhookType.EMAIL_ACCEPTED}),
    ],
)
def test_an_endpoint_receives_its_types(types: set[str], expected: set[WebhookType]) -> None:
    """`*` is every type except acceptance and the test, which only a request sends."""
    chosen = endpoint(types=frozenset(types))
    assert {each for each in WebhookType if receives(chosen, each)} == expected

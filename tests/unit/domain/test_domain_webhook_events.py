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


def test_a_message_announces_its_acceptance_and_its_events() -> None:
    """Each event of the record has the type of its kind, its recipient and its time."""
    stored = message(
        events=(
            event(EventKind.SENT, 1),
            event(EventKind.BOUNCED, 2, ANN),
            event(EventKind.BOUNCED_TRANSIENT, 3, BOB),
            event(EventKind.UNCERTAIN, 4),
        )
    )
    found = [(each.type, each.recipient, each.at) for each in events_of(stored)]
    assert found == [
        (WebhookType.EMAIL_ACCEPTED, None, stored.created_at),
        (WebhookType.EMAIL_SENT, None, at(1)),
        (WebhookType.EMAIL_BOUNCED, ANN, at(2)),
        (WebhookType.EMAIL_BOUNCED, BOB, at(3)),
        (WebhookType.EMAIL_FAILED, None, at(4)),
    ]


@pytest.mark.parametrize("kind", EventKind)
def test_every_kind_of_event_has_a_type(kind: EventKind) -> None:
    stored = message(events=(event(kind),))
    assert events_of(stored)[-1].type in set(WebhookType)


def test_a_change_announces_what_it_adds() -> None:
    """A new record announces its acceptance; a change announces the events that are new."""
    first = message()
    second = first.with_events([event(EventKind.SENT, 1)])
    third = second.with_events([event(EventKind.DELIVERED, 2, ANN)])
    assert [each.kind for each in new_events(None, first)] == [EventKind.ACCEPTED]
    assert [each.kind for each in new_events(first, third)] == [
        EventKind.SENT,
        EventKind.DELIVERED,
    ]
    assert [each.kind for each in new_events(second, third)] == [EventKind.DELIVERED]


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


def test_an_event_is_found_in_its_record() -> None:
    """The id says which event of a record a webhook announces; an older record has it not."""
    stored = message(events=(event(EventKind.DELIVERED, 1, ANN),))
    (accepted, delivered) = events_of(stored)
    announced = delivered.for_endpoint("e")
    assert find_event(stored, announced) == delivered
    assert find_event(replace(stored, events=()), announced) is None
    assert find_event(stored, accepted.for_endpoint("e")) == accepted


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

"""Messages: what happened makes the status, in whatever order it was heard."""

from dataclasses import replace
from datetime import timedelta
from itertools import combinations, combinations_with_replacement, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.message import Event, EventKind, Message, Status
from tests.fakes import builders
from tests.fakes.builders import at, event

ANN, BOB = "ann@example.com", "bob@example.com"
MESSAGE = builders.message(to=(ANN, BOB))
KINDS = [kind for kind in EventKind if kind is not EventKind.ACCEPTED]
EVENTS = st.builds(
    Event,
    kind=st.sampled_from(KINDS),
    at=st.integers(0, 3).map(at),
    recipient=st.sampled_from([None, ANN, BOB]),
    code=st.sampled_from([None, "one", "other"]),
    reason=st.sampled_from([None, "this", "that"]),
)


@pytest.mark.parametrize(
    ("kind", "rank", "status"),
    [
        (EventKind.DELAYED, 0, Status.PENDING),
        (EventKind.ACCEPTED, 10, Status.PENDING),
        (EventKind.UNCERTAIN, 15, Status.FAILED),
        (EventKind.SENT, 20, Status.SENT),
        (EventKind.FAILED, 30, Status.FAILED),
        (EventKind.BOUNCED_TRANSIENT, 40, Status.BOUNCED),
        (EventKind.DELIVERED, 50, Status.DELIVERED),
        (EventKind.BOUNCED, 60, Status.BOUNCED),
        (EventKind.COMPLAINED, 70, Status.COMPLAINED),
    ],
)
def test_each_kind_has_its_rank_and_status(kind: EventKind, rank: int, status: Status) -> None:
    """The ranks are those of docs/decisions.md; a delay leaves only its time."""
    message = MESSAGE.with_events([event(kind, 5)])
    assert (kind.rank, kind.status, message.status) == (rank, status, status)
    assert message.rank == max(rank, 10)
    assert message.pending == (status is Status.PENDING)
    assert message.updated_at == at(5)


def test_every_order_of_up_to_five_events_ends_alike() -> None:
    """Every sequence of five kinds, in every order and doubled, ends in one state (promise 5)."""
    tried = 0
    for kinds in combinations_with_replacement(KINDS, 5):
        events = [
            event(kind, position % 2, (ANN, BOB)[position % 2])
            for position, kind in enumerate(kinds)
        ]
        expected = MESSAGE.with_events(events)
        # One order of each sort is enough here: hypothesis shuffles below.
        for order in (events[::-1], events[2:] + events[:2], events * 2):
            message = MESSAGE
            for one in order:
                message = message.with_events([one])
            assert message == expected
            tried += 1
    assert tried == 3 * 792


@pytest.mark.parametrize("kinds", list(combinations(KINDS, 3)))
def test_the_highest_rank_wins(kinds: tuple[EventKind, ...]) -> None:
    """In all 120 orders of five events on two recipients the highest rank is shown."""
    events = [event(kind, 1, ANN) for kind in kinds] + [event(kind, 2, BOB) for kind in kinds[:2]]
    highest = max(kinds, key=lambda kind: kind.rank)
    outcomes = {
        (message.status, message.rank, message.decisive, message.events)
        for order in permutations(events)
        for message in [MESSAGE.with_events([order[0]]).with_events(order[1:])]
    }
    ((status, _, decisive, _),) = outcomes
    assert status == highest.status
    assert decisive is not None
    assert decisive.kind is highest


@given(st.lists(EVENTS, max_size=5), st.randoms(use_true_random=False))
def test_no_order_nor_repetition_changes_the_outcome(events: list[Event], random: object) -> None:
    """Shuffled, doubled and cut into pieces, the same events make the same message."""
    expected = MESSAGE.with_events(events)
    again = events * 2
    random.shuffle(again)  # type: ignore[attr-defined]
    message = MESSAGE
    for one in again:
        message = message.with_events([one])
    assert message == expected
    assert message.with_events(events) is message


@given(st.lists(EVENTS, max_size=30))
def test_the_record_stays_small(events: list[Event]) -> None:
    """Of one kind for one recipient one is kept: the latest, of the hand-over the earliest."""
    kept = MESSAGE.with_events(events).events
    assert len({(one.kind, one.recipient) for one in kept}) == len(kept)
    for one in kept:
        times = [e.at for e in events if (e.kind, e.recipient) == (one.kind, one.recipient)]
        assert one.at == (min(times) if one.kind is EventKind.SENT else max(times))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [{"at": at(2)}, {"code": "b"}, {"reason": "b"}])
def test_of_two_of_a_kind_one_is_kept(kind: EventKind, after: dict[str, Any]) -> None:
    """Whichever is heard first, the latest stays, of the hand-over the earliest; then by words."""
    first = replace(event(kind, 1, ANN), code="a", reason="a")
    second = replace(first, **after)
    kept = first if kind is EventKind.SENT else second
    for order in ([first, second], [second, first]):
        assert MESSAGE.with_events(order).events == (kept,)


@pytest.mark.parametrize(
    ("kinds", "error"),
    [
        ([], None),
        ([EventKind.DELAYED], None),
        ([EventKind.SENT, EventKind.DELIVERED], None),
        ([EventKind.FAILED], EventKind.FAILED),
        ([EventKind.UNCERTAIN], EventKind.UNCERTAIN),
        ([EventKind.UNCERTAIN, EventKind.SENT], None),
        ([EventKind.BOUNCED_TRANSIENT, EventKind.DELIVERED], None),
        ([EventKind.DELIVERED, EventKind.BOUNCED], EventKind.BOUNCED),
        ([EventKind.DELIVERED, EventKind.COMPLAINED], EventKind.COMPLAINED),
    ],
)
def test_the_error_is_the_decisive_failure(kinds: list[EventKind], error: EventKind | None) -> None:
    """A message shows an error while its decisive event is a failure, and that one's words."""
    message = MESSAGE.with_events([event(kind) for kind in kinds])
    assert (message.error.kind if message.error else None) == error


def test_of_equal_ranks_the_earliest_speaks() -> None:
    """When two recipients bounced, the first bounce gives the reason."""
    late, early = event(EventKind.BOUNCED, 9, ANN), event(EventKind.BOUNCED, 3, BOB)
    assert MESSAGE.with_events([late, early]).error == early


def test_of_one_moment_the_first_recipient_speaks() -> None:
    """Of failures at one moment the whole message's decides, then the first recipient's."""
    whole, ann, bob = (event(EventKind.FAILED, 1, recipient) for recipient in (None, ANN, BOB))
    for order in permutations([whole, ann, bob]):
        assert MESSAGE.with_events(order).error == whole
    for order in permutations([ann, bob]):
        assert MESSAGE.with_events(order).error == ann


def test_updated_at_is_the_last_thing_kept() -> None:
    """A new message was updated when it was made; a late delay moves it, a stale event does not."""
    assert MESSAGE.updated_at == MESSAGE.created_at
    stale = MESSAGE.with_events([event(EventKind.SENT, -5)])
    assert stale.updated_at == MESSAGE.created_at
    assert stale.with_events([event(EventKind.DELAYED, 7)]).updated_at == at(7)


def test_the_provider_id_comes_with_the_first_event_that_has_it() -> None:
    """An id is kept once known, and alone is news as well."""
    known = MESSAGE.with_events([], "ses-1")
    assert known.provider_message_id == "ses-1"
    assert known.with_events([], "ses-1") is known
    assert MESSAGE.with_events([]) is MESSAGE


def test_everyone_gets_one_copy() -> None:
    """Recipients are listed once each, in the order given."""
    message: Message = builders.message(to=(BOB, ANN), cc=(ANN,), bcc=(BOB, "eve@example.com"))
    assert message.recipients == (BOB, ANN, "eve@example.com")


def test_leases_do_not_touch_what_happened() -> None:
    """The status of a leased message is pending."""
    leased = builders.message(attempt=3)
    assert leased.status is Status.PENDING
    assert leased.error is None
    assert leased.updated_at - leased.created_at == timedelta(0)


def test_a_new_message_was_neither_handed_over_nor_changed() -> None:
    """Attempts and revisions count from none."""
    message = builders.message()
    assert (message.attempt, message.revision) == (0, 0)

"""Messages: the set of events decides the status, in any order."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.messages.message import Event, EventKind, Message, Status, plain_reason
from tests.fakes import builders
from tests.fakes.builders import at, event

MAX_CODE = 100
MAX_REASON = 500

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
    """The ranks are those of docs/contract.md; a delay changes only the update time."""
    message = MESSAGE.with_events([event(kind, 5)])
    assert (kind.rank, kind.status, message.status) == (rank, status, status)
    assert message.rank == max(rank, 10)
    assert message.pending == (status is Status.PENDING)
    assert message.updated_at == at(5)


@given(st.lists(EVENTS, max_size=5), st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_change_the_message(
    events: list[Event], random: object
) -> None:
    """Shuffled, doubled and one by one: all end in the highest rank (promise 5)."""
    expected = MESSAGE.with_events(events)
    highest = max((event.kind for event in events), key=lambda kind: kind.rank, default=None)
    is_decided = highest is not None and highest.rank >= 10
    assert expected.status is (highest.status if highest and is_decided else Status.PENDING)
    assert expected.decisive is None or expected.decisive.kind is highest
    doubled = events * 2
    random.shuffle(doubled)  # type: ignore[attr-defined]
    message = MESSAGE
    for single in doubled:
        message = message.with_events([single])
    assert message == expected
    assert message.with_events(events) is message


@given(st.lists(EVENTS, max_size=30))
def test_the_record_stays_small(events: list[Event]) -> None:
    """One event per kind and recipient is kept: the latest, or for `sent` the earliest."""
    kept = MESSAGE.with_events(events).events
    assert len({(event.kind, event.recipient) for event in kept}) == len(kept)
    for survivor in kept:
        same = (survivor.kind, survivor.recipient)
        times = [event.at for event in events if (event.kind, event.recipient) == same]
        assert survivor.at == (min(times) if survivor.kind is EventKind.SENT else max(times))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [{"at": at(2)}, {"code": "b"}, {"reason": "b"}])
def test_one_of_two_events_of_a_kind_is_kept(kind: EventKind, after: dict[str, Any]) -> None:
    """In both orders the latest stays, or for `sent` the earliest; code and reason break ties."""
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
    message = MESSAGE.with_events([event(kind) for kind in kinds])
    assert (message.error.kind if message.error else None) == error


def test_the_earliest_of_equal_ranks_decides() -> None:
    """When two recipients bounced, the first bounce is the error."""
    late, early = event(EventKind.BOUNCED, 9, ANN), event(EventKind.BOUNCED, 3, BOB)
    assert MESSAGE.with_events([late, early]).error == early


def test_the_first_recipient_decides_at_equal_times() -> None:
    whole, ann, bob = (event(EventKind.FAILED, 1, recipient) for recipient in (None, ANN, BOB))
    for order in permutations([whole, ann, bob]):
        assert MESSAGE.with_events(order).error == whole
    for order in permutations([ann, bob]):
        assert MESSAGE.with_events(order).error == ann


def test_updated_at_is_the_time_of_the_latest_event() -> None:
    """The update time starts at creation; a later delay moves it, an older event does not."""
    assert MESSAGE.updated_at == MESSAGE.created_at
    stale = MESSAGE.with_events([event(EventKind.SENT, -5)])
    assert stale.updated_at == MESSAGE.created_at
    assert stale.with_events([event(EventKind.DELAYED, 7)]).updated_at == at(7)


def test_the_first_provider_id_is_kept() -> None:
    known = MESSAGE.with_events([], "ses-1")
    assert known.provider_message_id == "ses-1"
    assert known.with_events([], "ses-1") is known
    assert MESSAGE.with_events([]) is MESSAGE


def test_each_recipient_is_listed_once() -> None:
    """A repeated recipient, in any case, is listed once, in the order and form of the request."""
    bcc = (BOB, "eve@example.com", "EVE@example.com")
    message: Message = builders.message(to=(BOB, "Ann@example.com"), cc=(ANN,), bcc=bcc)
    assert message.recipients == (BOB, "Ann@example.com", "eve@example.com")


@pytest.mark.parametrize(
    ("reason", "plain"),
    [
        ("smtp; 550 5.1.1 user unknown", "550 5.1.1 user unknown"),
        ("SMTP;550 no", "550 no"),
        ("550 smtp; no", "550 smtp; no"),
        ("smtp;", "smtp;"),
        ("Bounce: General", "Bounce: General"),
    ],
)
def test_a_reason_is_shown_without_its_type(reason: str, plain: str) -> None:
    """The `smtp;` of a diagnostic code (RFC 3464) says nothing to people and is left out."""
    assert plain_reason(reason) == plain


@given(st.characters(exclude_categories=["Cs"]), st.integers(1, 600))
def test_codes_and_reasons_are_bounded_in_octets(letter: str, times: int) -> None:
    """DynamoDB counts octets of UTF-8, of which a letter has up to four."""
    reported = replace(event(EventKind.BOUNCED, 1, ANN), code=letter * times, reason=letter * times)
    kept = MESSAGE.with_events([reported]).events[-1]
    for text, most in ((kept.code, MAX_CODE), (kept.reason, MAX_REASON)):
        size = len((text or "").encode())
        assert most - 3 <= size <= most or text == letter * times

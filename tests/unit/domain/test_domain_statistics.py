"""The arithmetic of the statistics: buckets of time, index entries and rollups."""

from datetime import UTC, datetime, timedelta

import pytest

from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import EventKind, MessageOrigin, SendRoute, Status
from pillarbox.domain.messages.schedule import Schedule
from pillarbox.domain.messages.statistics import (
    END_OF_TIME,
    REACHABLE,
    Granularity,
    IndexEntry,
    Rollup,
    TimeRange,
    combine_rollups,
    creation_time,
    index_entry,
    percentile,
    reached,
    roll_up_entries,
    span_number,
)
from pillarbox.domain.timing import milliseconds, to_datetime
from tests.fakes import builders
from tests.fakes.builders import event

TEN_SECONDS, HOUR, DAY, MONTH = Granularity


def ms(text: str) -> int:
    """Return a moment of 2026 or another year in milliseconds since 1970."""
    return round(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


def entry(at: int, status: Status, *, updated: int | None = None, shards: int = 1) -> IndexEntry:
    """Return the entry of a message with a status, by default updated when it was created."""
    return IndexEntry(
        new_id(to_datetime(at), shards), 1, status, at if updated is None else updated
    )


def test_a_time_range_excludes_its_end() -> None:
    time_range = TimeRange(5, 7)
    assert [moment in time_range for moment in range(4, 9)] == [False, True, True, False, False]
    empty = [TimeRange(5, 6).is_empty, TimeRange(5, 5).is_empty, TimeRange(5, 4).is_empty]
    assert empty == [False, True, True]
    assert END_OF_TIME == 281_474_976_710_656


@pytest.mark.parametrize(
    ("granularity", "start", "end"),
    [
        (TEN_SECONDS, "2026-12-31T23:59:50", "2027-01-01T00:00:00"),
        (HOUR, "2026-12-31T23:00:00", "2027-01-01T00:00:00"),
        (DAY, "2026-12-31T00:00:00", "2027-01-01T00:00:00"),
        (MONTH, "2026-12-01T00:00:00", "2027-01-01T00:00:00"),
        (MONTH, "2024-02-01T00:00:00", "2024-03-01T00:00:00"),
        (MONTH, "2027-01-01T00:00:00", "2027-02-01T00:00:00"),
        (HOUR, "2026-03-14T15:00:00", "2026-03-14T16:00:00"),
    ],
)
def test_a_bucket_begins_and_ends_on_its_boundary(
    granularity: Granularity, start: str, end: str
) -> None:
    first, after = ms(start), ms(end)
    for moment in (first, first + 1, (first + after) // 2, after - 1):
        assert (granularity.start(moment), granularity.end(moment)) == (first, after)
    assert granularity.start(first - 1) < first
    assert [granularity.ceiling(moment) for moment in (first, first + 1, after - 1, after)] == [
        first,
        after,
        after,
        after,
    ]


@pytest.mark.parametrize(
    ("granularity", "number", "start"),
    [
        (TEN_SECONDS, 1, "1970-01-01T00:00:10"),
        (HOUR, 25, "1970-01-02T01:00:00"),
        (DAY, 59, "1970-03-01T00:00:00"),
        (MONTH, 0, "1970-01-01T00:00:00"),
        (MONTH, 11, "1970-12-01T00:00:00"),
        (MONTH, 12, "1971-01-01T00:00:00"),
        (MONTH, 23, "1971-12-01T00:00:00"),
        (MONTH, 674, "2026-03-01T00:00:00"),
        (MONTH, 23_640, "3940-01-01T00:00:00"),
    ],
)
def test_buckets_are_numbered_from_1970(granularity: Granularity, number: int, start: str) -> None:
    assert granularity.bucket_number(ms(start)) == number
    assert granularity.bucket_start(number) == ms(start)


def test_each_granularity_has_the_next_finer_one() -> None:
    """A month has days, a day hours, an hour tens of seconds, which are not divided."""
    assert [granularity.finer for granularity in (MONTH, DAY, HOUR, TEN_SECONDS)] == [
        DAY,
        HOUR,
        TEN_SECONDS,
        None,
    ]


def test_an_entry_knows_when_and_where_its_message_was_created() -> None:
    """The id has the time to the millisecond, and whether there are several shards."""
    moment = datetime(2026, 3, 14, 15, 9, 26, 535_000, UTC)
    assert milliseconds(moment) == 1_773_500_966_535
    assert to_datetime(1_773_500_966_535) == moment
    for shards, is_sharded in ((1, False), (2, True), (256, True)):
        plain = entry(milliseconds(moment), Status.SENT, shards=shards)
        assert (plain.created, plain.is_sharded) == (milliseconds(moment), is_sharded)
        assert creation_time(plain.message_id) == milliseconds(moment)


@pytest.mark.parametrize(
    ("kinds", "statuses"),
    [
        ([], set()),
        ([EventKind.ACCEPTED, EventKind.DELAYED], set()),
        ([EventKind.SENT], {"sent"}),
        ([EventKind.DELIVERED], {"sent", "delivered"}),
        ([EventKind.BOUNCED], {"sent", "bounced"}),
        ([EventKind.BOUNCED_TRANSIENT], {"sent"}),
        ([EventKind.BOUNCED_TRANSIENT, EventKind.DELIVERED], {"sent", "delivered"}),
        ([EventKind.BOUNCED_TRANSIENT, EventKind.BOUNCED], {"sent", "bounced"}),
        ([EventKind.COMPLAINED], {"sent", "delivered", "complained"}),
        ([EventKind.FAILED], {"failed"}),
        ([EventKind.UNCERTAIN, EventKind.DELIVERED], {"failed", "sent", "delivered"}),
    ],
)
def test_later_events_imply_the_earlier_statuses(
    kinds: list[EventKind], statuses: set[str]
) -> None:
    """A complaint implies a delivery, and a delivery or any bounce implies that it was sent.

    A transient bounce, such as an out-of-office reply, is not counted as a bounce.
    """
    message = builders.message(events=tuple(map(event, kinds)))
    assert reached(message) == statuses
    assert "pending" not in REACHABLE


def test_the_entry_of_a_failure_has_its_code() -> None:
    """A failure without a code counts by its kind; other messages have no error."""
    bounced = event(EventKind.BOUNCED, 5)
    message = builders.message(events=(bounced,), revision=3)
    assert index_entry(message) == IndexEntry(
        message.message_id,
        3,
        Status.BOUNCED,
        milliseconds(bounced.at),
        frozenset({Status.SENT, Status.BOUNCED}),
        "bounced",
        "key-1",
    )
    sent = builders.message(events=(event(EventKind.SENT),))
    assert index_entry(sent).error is None


def test_a_wait_fits_into_its_span_and_not_into_the_one_before() -> None:
    """Spans begin with 100 ms and double every four; a clock that is behind counts as no wait."""
    assert [span_number(wait) for wait in (-5, 0, 100, 101, 200, 201, 400)] == [1, 1, 1, 2, 5, 6, 9]
    assert span_number(2**300) == 255
    for wait in range(101, 20_000, 37):
        number = span_number(wait)
        shorter, length = percentile({number - 1: 1}, 1), percentile({number: 1}, 1)
        assert shorter is not None
        assert length is not None
        assert shorter <= wait <= length + 1 <= 1.2 * wait


def test_a_percentile_is_the_span_that_so_many_messages_fit_into() -> None:
    """Of 19 fast messages and a slow one half are sent at once, and 95 of 100 too, but not all."""
    waits = {1: 19, 21: 1}
    assert [percentile(waits, part) for part in (0.5, 0.95, 0.96, 1)] == [100, 100, 3200, 3200]
    assert percentile({}, 0.5) is None


def test_the_wait_of_a_message_ends_when_it_was_sent() -> None:
    """The earliest event `sent` counts; a message without one has no wait."""
    sent = builders.message(events=(event(EventKind.SENT, 3), event(EventKind.DELIVERED, 50)))
    assert index_entry(sent).wait == span_number(3000)
    unknown = builders.message(events=(event(EventKind.DELIVERED, 50),))
    assert index_entry(unknown).wait == 0
    rollup = roll_up_entries(HOUR, 0, map(index_entry, (sent, sent, unknown)))
    assert rollup.waits == {span_number(3000): 2}
    assert combine_rollups(DAY, 0, [rollup, rollup]).waits == {span_number(3000): 4}


def test_entries_are_counted_by_status_and_update() -> None:
    start = ms("2026-03-14T15:00:00")
    later = ms("2026-03-14T17:30:00")
    bounce = IndexEntry(
        new_id(to_datetime(start)), 1, Status.BOUNCED, start, frozenset({Status.SENT}), "full"
    )
    rollup = roll_up_entries(
        HOUR,
        start,
        [
            bounce,
            bounce,
            entry(start, Status.SENT),
            entry(start, Status.SENT, updated=later),
            entry(start + 1, Status.SENT, updated=later - 1),
        ],
    )
    assert rollup.by_status_and_update == {
        (Status.BOUNCED, start): 2,
        (Status.SENT, start): 1,
        (Status.SENT, ms("2026-03-14T17:00:00")): 2,
    }
    assert (rollup.reached, rollup.errors) == ({Status.SENT: 2}, {"full": 2})
    assert (rollup.total, rollup.count(frozenset({Status.SENT}))) == (5, 3)
    assert rollup.created == TimeRange(start, ms("2026-03-14T16:00:00"))
    assert not rollup.is_divisible
    within = TimeRange(start + 1, later)
    assert [*rollup.counts(frozenset(Status), within)] == [
        (Status.SENT, ms("2026-03-14T17:00:00"), 2)
    ]
    assert [*rollup.counts(frozenset({Status.BOUNCED}), within)] == []


def test_finer_rollups_add_up() -> None:
    """The rollup of a day has the sums of its hours, with updates by the day."""
    day = ms("2026-03-14T00:00:00")
    hours = [day + 3_600_000, day + 7_200_000]
    parts = [
        roll_up_entries(
            HOUR,
            hour,
            [
                IndexEntry(
                    new_id(to_datetime(hour)), 1, Status.FAILED, hour, frozenset(REACHABLE), "x"
                )
            ]
            * 2,
        )
        for hour in hours
    ]
    total = combine_rollups(DAY, day, parts)
    assert total == Rollup(
        DAY,
        day,
        {(Status.FAILED, day): 4},  # type: ignore[arg-type]
        dict.fromkeys(REACHABLE, 4),  # type: ignore[arg-type]
        {"x": 4},  # type: ignore[arg-type]
    )
    assert total.is_divisible


def test_the_wait_of_a_scheduled_email_begins_when_it_is_due() -> None:
    """The time that the caller chose is no wait; that of another email begins at its acceptance."""
    sent = event(EventKind.SENT, 3_601)
    due = Schedule(due_at=builders.at(3_600), life=timedelta(hours=1))
    scheduled, ordinary = (
        index_entry(builders.message(events=(sent,), schedule=schedule)) for schedule in (due, None)
    )
    assert (scheduled.wait, ordinary.wait) == (span_number(1_000), span_number(3_601_000))


def test_a_notice_of_the_service_has_no_wait() -> None:
    """Its id has the time of the alert, and it may be written an hour later, in a digest."""
    sent = event(EventKind.SENT, 3600)
    notice = builders.message(events=(sent,), origin=MessageOrigin(route=SendRoute.NOTICE))
    assert index_entry(notice).wait == 0

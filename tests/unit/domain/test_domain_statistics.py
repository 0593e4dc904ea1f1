"""The arithmetic of the statistics: buckets of time, index entries and rollups."""

from datetime import datetime, timedelta

import pytest

from pillarbox.domain.messages.message import EventKind, MessageOrigin, SendRoute
from pillarbox.domain.messages.schedule import Schedule
from pillarbox.domain.messages.statistics import (
    END_OF_TIME,
    Granularity,
    TimeRange,
    index_entry,
    percentile,
    reached,
    span_number,
)
from tests.fakes import builders
from tests.fakes.builders import event

TEN_SECONDS, HOUR, DAY, MONTH = Granularity


def ms(text: str) -> int:
    """Return a moment of 2026 or another year in milliseconds since 1970."""
    return round(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


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


@pytest.mark.parametrize(
    ("kinds", "statuses"),
    [
        ("accepted delayed", ""),
        ("delivered", "sent delivered"),
        ("bounced", "sent bounced"),
        ("bounced_transient delivered", "sent delivered"),
        ("complained", "sent delivered complained"),
        ("failed", "failed"),
        ("uncertain delivered", "failed sent delivered"),
    ],
)
def test_later_events_imply_the_earlier_statuses(kinds: str, statuses: str) -> None:
    """A transient bounce, such as an out-of-office reply, is not counted as a bounce."""
    events = tuple(event(EventKind(kind)) for kind in kinds.split())
    assert reached(builders.message(events=events)) == set(statuses.split())


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


def test_the_wait_of_a_scheduled_email_begins_when_it_is_due() -> None:
    sent = (event(EventKind.SENT, 3_601), event(EventKind.DELIVERED, 3_650))
    due = Schedule(due_at=builders.at(3_600), life=timedelta(hours=1))
    for schedule, wait in ((due, 1_000), (None, 3_601_000)):
        message = builders.message(events=sent, schedule=schedule)
        assert index_entry(message).wait == span_number(wait)


def test_a_notice_of_the_service_has_no_wait() -> None:
    """Its id has the time of the alert, and it may be written an hour later, in a digest."""
    sent = event(EventKind.SENT, 3600)
    notice = builders.message(events=(sent,), origin=MessageOrigin(route=SendRoute.NOTICE))
    assert index_entry(notice).wait == 0

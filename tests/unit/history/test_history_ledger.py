"""What the ledger reads and writes, item by item."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import islice
from unittest.mock import Mock
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import END_OF_TIME, IndexEntry, TimeRange
from tests.unit.history.ledger_world import (
    ACCOUNT,
    HOUR,
    LedgerWorld,
    WatchedEngine,
    entry,
)

EVER = TimeRange(0, END_OF_TIME)


@pytest.fixture
def world() -> LedgerWorld:
    return LedgerWorld()


def items_read(world: LedgerWorld, read: Callable[[], object]) -> int:
    engine = world.watch()
    read()
    return len(engine.read)


def overtake(world: LedgerWorld, kind: str, times: int) -> WatchedEngine:
    """Let another writer get in before each of the next writes of items of one kind."""
    other, numbers = LedgerWorld(), iter(range(900, 900 + times))
    vars(other.table)["client"] = world.engine

    def put_another(_: object) -> None:
        for number in islice(numbers, 1):
            other.put(entry(number, created=HOUR, status=Status.SENT, updated=HOUR + 5))

    return world.watch(kind, put_another)


def test_entries_of_a_time_are_read_from_the_items_of_that_time(world: LedgerWorld) -> None:
    moments = [HOUR - 1, HOUR, HOUR + 29_999, HOUR + 30_000, HOUR + 59_999, HOUR + 60_000]
    entries = [entry(n, created=created) for n, created in enumerate(moments)]
    world.put(*entries)
    for since, until, expected, items in (
        (HOUR, HOUR + 30_000, entries[1:3], 1),
        (HOUR - 1, HOUR, entries[:1], 1),
        (HOUR + 1, HOUR + 29_999, [], 1),
        (HOUR + 29_999, HOUR + 30_001, entries[2:4], 2),
        (HOUR + 30_000, HOUR + 60_000, entries[3:5], 1),
        (HOUR + 30_000, HOUR + 60_001, entries[3:], 2),
    ):
        assert world.created(since, until) == expected
        assert items_read(world, partial(world.created, since, until)) == items


def test_an_empty_time_reads_nothing(world: LedgerWorld) -> None:
    world.put(entry(1, created=HOUR))
    world.engine.reset()
    assert world.created(HOUR, HOUR) == []
    assert world.created(HOUR + 1, HOUR) == []
    assert world.engine.calls == 0


@pytest.mark.parametrize("shards", [1, 4, 256])
def test_the_last_item_of_a_second_belongs_to_the_highest_shard(
    world: LedgerWorld, shards: int
) -> None:
    highest = shards - 1
    last = entry(highest, created=HOUR + 999, shards=shards)
    after = entry(highest, created=HOUR + 1000, shards=shards)
    world.put(last, after)
    assert world.created(HOUR, HOUR + 1000) == [last]
    assert world.created(HOUR, HOUR + 1001) == [last, after]
    assert world.created(HOUR + 999, HOUR + 1000) == [last]
    # The items of shards alone, whose spans are seconds.
    second, read = TimeRange(HOUR, HOUR + 1000), world.ledger.entries_created
    assert read(ACCOUNT, second, 1000) == [last]
    assert items_read(world, lambda: read(ACCOUNT, second, 1000)) == 1


def updated_entries() -> dict[str, IndexEntry]:
    """Return delivered messages by when they were created and updated."""
    end = HOUR + 3_600_000
    times = {
        "early": (HOUR, HOUR + 1),
        "end of the hour": (HOUR + 1, end - 1),
        "late": (HOUR + 2, end),
        "next hour": (end, end + 5),
        "later": (HOUR + 3, end + 7_200_000),
    }
    return {
        name: entry(n, created=created, updated=updated, status=Status.BOUNCED)
        for n, (name, (created, updated)) in enumerate(times.items())
    }


@pytest.mark.parametrize(
    ("updated", "created", "names"),
    [
        (EVER, EVER, {"early", "end of the hour", "late", "next hour", "later"}),
        (TimeRange(HOUR + 1, HOUR + 2), EVER, {"early"}),
        (TimeRange(HOUR + 2, HOUR + 3_600_000), EVER, {"end of the hour"}),
        (TimeRange(HOUR + 3_600_000, HOUR + 3_600_005), EVER, {"late"}),
        (TimeRange(HOUR + 3_600_000, HOUR + 3_600_006), EVER, {"late", "next hour"}),
        (EVER, TimeRange(HOUR, HOUR + 2), {"early", "end of the hour"}),
        (EVER, TimeRange(HOUR + 2, HOUR + 4), {"late", "later"}),
        (EVER, TimeRange(HOUR + 3_600_000, HOUR + 7_200_000), {"next hour"}),
        (EVER, TimeRange(HOUR + 3_600_001, HOUR + 7_200_000), set()),
    ],
)
def test_lists_by_update_have_both_ranges(
    world: LedgerWorld, updated: TimeRange, created: TimeRange, names: set[str]
) -> None:
    entries = updated_entries()
    world.put(*entries.values())
    read = world.ledger.entries_updated(ACCOUNT, Status.BOUNCED, updated, created)
    assert {name for name, one in entries.items() if one in read} == names
    assert len(read) == len(names)
    assert world.ledger.entries_updated(ACCOUNT, Status.SENT, updated, created) == []


def test_a_list_by_update_reads_only_the_items_of_its_time(world: LedgerWorld) -> None:
    world.put(
        *(
            entry(n, created=HOUR + 30_000 * n, updated=HOUR + 30_000 * n, status=Status.SENT)
            for n in range(100)
        )
    )
    second = TimeRange(HOUR + 60_000, HOUR + 61_000)
    read = world.ledger.entries_updated
    assert len(read(ACCOUNT, Status.SENT, second, EVER)) == 1
    assert items_read(world, lambda: read(ACCOUNT, Status.SENT, second, EVER)) == 1
    assert len(read(ACCOUNT, Status.SENT, EVER, second)) == 1
    # The updates of a first hour are looked for in that hour alone, and not before the creation.
    assert items_read(world, lambda: read(ACCOUNT, Status.SENT, EVER, second)) == 100
    other = TimeRange(HOUR + 3_600_000, HOUR + 3_601_000)
    assert items_read(world, lambda: read(ACCOUNT, Status.SENT, EVER, other)) == 0


def test_the_newest_entry_is_read_from_the_last_item(world: LedgerWorld) -> None:
    assert world.ledger.newest_entry(ACCOUNT, 1000) is None
    assert world.ledger.newest_entry_time(ACCOUNT) is None
    entries = [entry(n, created=HOUR + 30_000 * n) for n in range(5)]
    newest = entry(9, created=HOUR + 120_000 + 29_999)
    world.put(*entries, newest, entry(10, created=HOUR + 120_007))
    assert world.ledger.newest_entry(ACCOUNT, 0) == newest
    assert world.ledger.newest_entry_time(ACCOUNT) == newest.created
    world.engine.reset()
    assert items_read(world, lambda: world.ledger.newest_entry(ACCOUNT, 0)) == 1
    assert world.engine.calls == 1


@pytest.mark.parametrize(
    ("numbers_times_shards", "lag", "newest"),
    [
        # Of the newest entry of each shard the oldest counts.
        ([(n, 1000 * n + 5, 4) for n in range(4)] + [(n, 3, 4) for n in range(1, 4)], 60_000, 0),
        # The first entry that is older than the lag counts, whatever its shard.
        *(
            ([(min(n, 1), 1000 * n, 2) for n in range(4)], lag, second)
            for lag, second in ((999, 2), (1000, 1), (1999, 1), (2000, 0))
        ),
        # What an account had before it got shards is complete: its newest entry counts.
        ([(7, 10, 1), (6, 9, 1), (1, 31_000, 4)], 60_000, 0),
        # While a shard has no entry at all, no time is known before which all have one.
        ([(1, 5, 2), (1, 1005, 2)], 60_000, None),
        # If the newest entries are of different numbers of shards, the higher number counts.
        ([(n, 1000 * n + 5, 4) for n in range(4)] + [(1, 4005, 2)], 60_000, 0),
    ],
)
def test_with_shards_the_newest_entry_is_that_of_the_shard_that_is_furthest_behind(
    world: LedgerWorld,
    numbers_times_shards: list[tuple[int, int, int]],
    lag: int,
    newest: int | None,
) -> None:
    entries = [
        entry(number, created=HOUR + at, shards=shards)
        for number, at, shards in numbers_times_shards
    ]
    world.put(*entries)
    expected = None if newest is None else entries[newest]
    assert world.ledger.newest_entry(ACCOUNT, lag) == expected


def test_two_items_of_each_shard_are_read_at_a_time(world: LedgerWorld) -> None:
    world.put(*(entry(n % 4, created=HOUR + 1000 * n, shards=4) for n in range(20)))
    world.engine.reset()
    assert items_read(world, lambda: world.ledger.newest_entry(ACCOUNT, 60_000)) == 1 + 8
    assert world.engine.calls == 2


@pytest.mark.parametrize(("times", "is_written"), [(0, True), (9, True), (10, False)])
@pytest.mark.parametrize("kind", ["C#", "U#sent#"])
def test_a_write_is_tried_ten_times(
    world: LedgerWorld, kind: str, times: int, *, is_written: bool
) -> None:
    one = entry(1, created=HOUR, status=Status.SENT, updated=HOUR + 5)
    engine = overtake(world, kind, times)
    if is_written:
        world.put(one)
        written = world.item(HOUR)
        assert written is not None
        assert len(written) == 1 + times
        assert written == world.copies("sent", HOUR)
    else:
        with pytest.raises(ServiceError, match="Too many writers") as raised:
            world.put(one)
        assert raised.value.code == "service_unavailable"
    tried = [sort_key for sort_key in engine.written if sort_key.startswith(kind)]
    assert len(tried) == min(times + 1, 10)


def test_a_copy_is_written_before_its_entry(world: LedgerWorld) -> None:
    one = entry(1, created=HOUR, status=Status.SENT, updated=HOUR + 5)
    world.watch("C#", Mock(side_effect=RuntimeError("the engine failed")))
    with pytest.raises(RuntimeError, match="the engine failed"):
        world.put(one)
    assert world.item(HOUR) is None
    assert world.copies("sent", HOUR) == {one.message_id: one}


def correct(
    world: LedgerWorld, right: Iterable[IndexEntry] = (), wrong: dict[UUID, int] | None = None
) -> dict[UUID, IndexEntry] | None:
    """Correct the item of an hour's first half minute, and return it."""
    in_right = {one.message_id: one for one in right}
    world.ledger.correct_item(keys.entries(ACCOUNT, HOUR), in_right, wrong or {})
    return world.item(HOUR)


@pytest.mark.parametrize(("newest", "is_removed"), [(4, False), (5, True), (6, True)])
def test_a_wrong_entry_is_removed_up_to_a_revision(
    world: LedgerWorld, newest: int, *, is_removed: bool
) -> None:
    wrong, other = entry(1, created=HOUR, revision=5), entry(2, created=HOUR, revision=0)
    world.put(wrong, other)
    corrected = correct(world, wrong={wrong.message_id: newest})
    kept = {} if is_removed else {wrong.message_id: wrong}
    assert corrected == {other.message_id: other} | kept


@pytest.mark.parametrize(("revision", "is_put"), [(4, False), (5, True), (6, True)])
def test_a_right_entry_is_put_unless_a_newer_one_is_there(
    world: LedgerWorld, revision: int, *, is_put: bool
) -> None:
    stored = entry(1, created=HOUR, revision=5)
    world.put(stored)
    right = replace(stored, revision=revision, status=Status.SENT)
    assert correct(world, [right]) == {stored.message_id: right if is_put else stored}


def test_a_correction_writes_items_that_are_missing_and_deletes_empty_ones(
    world: LedgerWorld,
) -> None:
    one = entry(1, created=HOUR)
    assert correct(world, [one]) == {one.message_id: one}
    world.engine.reset()
    assert correct(world, [one]) == {one.message_id: one}
    assert world.engine.write_units == 0
    assert correct(world, wrong={one.message_id: 1}) is None


@pytest.mark.parametrize("times", [9, 10])
def test_a_correction_never_undoes_what_was_written_meanwhile(
    world: LedgerWorld, times: int
) -> None:
    one = entry(1, created=HOUR)
    overtake(world, "C#", times)
    if times < 10:
        corrected = correct(world, [one])
        assert corrected is not None
        assert len(corrected) == 10
    else:
        with pytest.raises(ServiceError, match="Too many writers"):
            correct(world, [one])

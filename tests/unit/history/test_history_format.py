"""The ledger's items: their stored form, octet for octet, and what is read and written of them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import islice
from unittest.mock import Mock
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.ledger import as_copy, copy_place, place
from pillarbox.adapters.dynamodb.history.ledger_format import (
    pack,
    rollup_attributes,
    rollup_of,
    subset_attributes,
    subsets_of,
    unpack,
)
from pillarbox.adapters.dynamodb.table import Item, from_item
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import (
    END_OF_TIME,
    Granularity,
    IndexEntry,
    Rollup,
    Subset,
    SubsetKind,
    TimeRange,
    roll_up_subset,
)
from tests.unit.history.ledger_world import (
    ACCOUNT,
    CREATED,
    HOUR,
    LedgerWorld,
    WatchedEngine,
    entry,
)

SENT, DELIVERED, BOUNCED = Status.SENT, Status.DELIVERED, Status.BOUNCED


def stored(item: Item) -> dict[str, object]:
    return from_item(item)


#: One entry of each status, with everything that an entry may have; then the octets of each.
ENTRIES = (
    entry(1),
    entry(2, revision=2, status=SENT, updated=CREATED + 1, reached=frozenset({SENT})),
    entry(
        3,
        revision=3,
        status=DELIVERED,
        updated=CREATED + 2,
        reached=frozenset({SENT, DELIVERED}),
        key_id="key_1",
        template="otp",
    ),
    entry(
        4,
        revision=65_535,
        status=BOUNCED,
        updated=2**44 + 5,
        reached=frozenset({SENT, BOUNCED}),
        error="mailbox_full",
        key_id="key_2",
    ),
    entry(
        5,
        status=Status.COMPLAINED,
        reached=frozenset({SENT, DELIVERED, Status.COMPLAINED}),
        template="otp",
    ),
    entry(6, status=Status.FAILED, reached=frozenset({Status.FAILED}), error="expired"),
    entry(7, status=Status.FAILED, reached=frozenset({Status.FAILED}), error="mailbox_full"),
)
OCTETS = (
    "019c111ff622 7000 8000000000000001 0001 019c 111ff622 00 00",
    "019c111ff622 7000 8000000000000002 0002 019c 111ff623 09 00",
    "019c111ff622 7000 8000000000000003 0003 019c 111ff624 1a 00",
    "019c111ff622 7000 8000000000000004 ffff 1000 00000005 2b 01",
    "019c111ff622 7000 8000000000000005 0001 019c 111ff622 5c 00",
    "019c111ff622 7000 8000000000000006 0001 019c 111ff622 85 02",
    "019c111ff622 7000 8000000000000007 0001 019c 111ff622 85 01",
)
ITEM = {
    "entries": bytes.fromhex("".join(OCTETS)),
    "errors": ["mailbox_full", "expired"],
    "origins": bytes.fromhex("0000 0000 0101 0200 0001 0000 0000"),
    "keys": ["key_1", "key_2"],
    "templates": ["otp"],
}


def test_entries_have_the_stored_form_in_the_order_of_their_ids() -> None:
    assert stored(pack(reversed(ENTRIES))) == ITEM
    assert tuple(unpack(ITEM)) == ENTRIES


def test_an_item_without_errors_keys_and_templates_lacks_their_attributes() -> None:
    item = stored(pack(ENTRIES[:2]))
    assert item == {"entries": bytes.fromhex("".join(OCTETS[:2]))}
    assert tuple(unpack(item)) == ENTRIES[:2]


def test_waits_take_an_octet_each() -> None:
    entries = (entry(1), entry(2, wait=5), entry(3, wait=255))
    item = stored(pack(entries))
    assert item["waits"] == bytes((0, 5, 255))
    assert tuple(unpack(item)) == entries


def test_shapes_are_named_once_and_numbered() -> None:
    entries = [entry(n, template="t", shape=shape) for n, shape in enumerate(("{a}", None, "{a}"))]
    item = stored(pack(entries))
    assert (item["shapes"], item["given"]) == (["{a}"], bytes((1, 0, 1)))
    assert [one.shape for one in unpack(item)] == ["{a}", None, "{a}"]
    assert as_copy(entries[0]).shape is None
    of_key, of_template = (
        roll_up_subset(Subset(kind, "t"), Granularity.HOUR, 0, entries)
        for kind in (SubsetKind.KEY, SubsetKind.TEMPLATE)
    )
    assert of_key.shapes == {}
    read = rollup_of(Granularity.HOUR, {"sk": "hour#0"} | stored(rollup_attributes(of_template, 1)))
    assert read.shapes == of_template.shapes == {"{a}": 2}


def test_only_entries_of_a_time_are_read() -> None:
    entries = [entry(n, created=CREATED + n) for n in range(4)]
    read = unpack(stored(pack(entries)), TimeRange(CREATED + 1, CREATED + 3))
    assert [*read] == entries[1:3]


@pytest.mark.parametrize("revision", [65_534, 65_535, 65_536, 70_000])
def test_a_revision_is_stored_up_to_two_octets(revision: int) -> None:
    (read,) = unpack(stored(pack([entry(1, revision=revision)])))
    assert read.revision == min(revision, 65_535)


def test_an_item_names_254_error_codes_and_then_others() -> None:
    """From the 255th code on a new one is stored as "other"; codes that the item has stay."""
    errors = [*(f"code_{n}" for n in range(256)), "code_253", "code_254"]
    entries = [entry(n, status=BOUNCED, error=error) for n, error in enumerate(errors)]
    item = stored(pack(entries))
    assert item["errors"] == [*errors[:254], "other"]
    read = [one.error for one in unpack(item)]
    assert read == [*errors[:254], "other", "other", "code_253", "other"]


@pytest.mark.parametrize(("names", "octets"), [(255, 2), (256, 4)])
def test_many_names_take_two_octets_each(names: int, octets: int) -> None:
    for entries in (
        [entry(n, key_id=f"name_{n}") for n in range(names)],
        [entry(n, template=f"name_{n}") for n in range(names)],
    ):
        item = stored(pack(entries))
        origins = item["origins"]
        assert isinstance(origins, bytes)
        assert len(origins) == octets * names
        assert [*unpack(item)] == entries


COUNTS = {
    Granularity.TEN_SECONDS: ({"p0": 4, "s0": 3, "d1": 2, "b100": 1}, 10_000),
    Granularity.HOUR: ({"p0": 4, "s0": 3, "d1": 2, "b100": 1}, 3_600_000),
    Granularity.DAY: ({"p0": 4, "s0": 3, "d1": 2, "b100": 1}, 86_400_000),
}


@pytest.mark.parametrize("granularity", COUNTS)
def test_a_rollup_has_the_stored_form(granularity: Granularity) -> None:
    cells, length = COUNTS[granularity]
    start = granularity.start(CREATED)
    rollup = Rollup(granularity, start)
    rollup.by_status_and_update.update(
        {
            (Status.PENDING, start): 4,
            (SENT, start): 3,
            (DELIVERED, start + length): 2,
            (BOUNCED, start + 100 * length): 1,
        }
    )
    rollup.reached.update({SENT: 6, DELIVERED: 2, BOUNCED: 1})
    rollup.errors.update({"general": 1})
    rollup.waits.update({3: 5, 255: 2**32 - 1})
    waits = bytes.fromhex("03 00000005 ff ffffffff")
    item = {
        "cells": cells,
        "reached": [6, 2, 1, 0, 0],
        "errors": {"general": 1},
        "waits": waits,
        "rev": 7,
    }
    assert stored(rollup_attributes(rollup, 7)) == item
    sort_key = {"sk": f"{granularity.value}#{start}"}
    read = rollup_of(granularity, item | sort_key)
    assert read == rollup
    assert read.is_divisible is (granularity is Granularity.DAY)


def test_a_month_counts_by_months() -> None:
    january, march = 1_767_225_600_000, 1_803_859_200_000
    rollup = Rollup(Granularity.MONTH, january)
    rollup.by_status_and_update[BOUNCED, march] = 1
    item = {"cells": {"b14": 1}, "reached": [0, 0, 0, 0, 0], "rev": 1}
    assert stored(rollup_attributes(rollup, 1)) == item
    read = rollup_of(Granularity.MONTH, item | {"sk": f"month#{january}"})
    assert (read, read.is_divisible) == (rollup, True)


def test_only_an_hour_says_whether_it_is_divisible() -> None:
    for granularity in Granularity:
        start = granularity.start(CREATED)
        item = stored(rollup_attributes(Rollup(granularity, start, is_divisible=True), 1))
        assert item.get("divisible") == (True if granularity is Granularity.HOUR else None)
    item = stored(rollup_attributes(Rollup(Granularity.HOUR, start, is_divisible=True), 1))
    assert rollup_of(Granularity.HOUR, item | {"sk": f"hour#{start}"}).is_divisible


def test_a_rollup_of_few_messages_has_their_entries() -> None:
    start = Granularity.HOUR.start(CREATED)
    rollup = Rollup(Granularity.HOUR, start, entries=(entry(1, revision=0), entry(2, revision=0)))
    item = stored(rollup_attributes(rollup, 1))
    few = item["few"]
    assert isinstance(few, bytes)
    assert len(few) == 2 * 26
    assert rollup_of(Granularity.HOUR, item | {"sk": f"hour#{start}"}) == rollup
    assert "few" not in rollup_attributes(Rollup(Granularity.HOUR, start), 1)


def test_the_list_of_subsets_has_the_stored_form() -> None:
    subsets = [
        Subset(SubsetKind.TEMPLATE, "otp"),
        Subset(SubsetKind.KEY, "key_2"),
        Subset(SubsetKind.KEY, "key_1"),
    ]
    item = stored(subset_attributes(subsets, 3))
    assert item == {"subsets": ["key#key_1", "key#key_2", "template#otp"], "rev": 3}
    assert [*subsets_of(item)] == sorted(subsets)


HALF_MINUTE = 1_769_813_820_000


@pytest.mark.parametrize(
    ("created", "shards", "number", "moment"),
    [
        (HALF_MINUTE - 1, 1, 0, HALF_MINUTE - 30_000),
        (HALF_MINUTE, 1, 0, HALF_MINUTE),
        (HALF_MINUTE + 29_999, 1, 0, HALF_MINUTE),
        (HALF_MINUTE, 4, 0, HALF_MINUTE + 1),
        (HALF_MINUTE + 999, 4, 3, HALF_MINUTE + 4),
        (HALF_MINUTE + 1000, 4, 3, HALF_MINUTE + 1004),
        (HALF_MINUTE + 29_000, 256, 255, HALF_MINUTE + 29_256),
    ],
)
def test_the_keys_of_items_stay(created: int, shards: int, number: int, moment: int) -> None:
    one = entry(number, created=created, shards=shards)
    assert place(one) == moment
    assert copy_place(one) == ("pending", moment)
    key = keys.entries(ACCOUNT, place(one))
    assert key == {"pk": {"S": f"STAT#{ACCOUNT}"}, "sk": {"S": f"C#{moment:015}"}}


def test_an_entry_that_was_updated_in_a_later_hour_is_in_a_group_of_its_own() -> None:
    hour_end = Granularity.HOUR.end(CREATED)
    assert copy_place(entry(1, status=SENT, updated=hour_end - 1)) == ("sent", hour_end - 30_000)
    assert copy_place(entry(1, status=SENT, updated=hour_end)) == ("sent-later", hour_end)


@pytest.mark.parametrize("status", Status)
def test_only_the_list_of_delivered_messages_lacks_their_origins(status: Status) -> None:
    first_hour = entry(1, status=status, key_id="key_1", template="otp")
    late = replace(first_hour, updated=Granularity.HOUR.end(CREATED))
    has_origins = status is not Status.DELIVERED
    assert as_copy(first_hour) == (first_hour if has_origins else entry(1, status=status))
    assert as_copy(late) == late


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

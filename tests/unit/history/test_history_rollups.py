"""What making rollups reads and writes, item by item."""

from collections.abc import Mapping
from typing import Any

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.ledger_format import rollup_attributes, subset_attributes
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import Granularity, Rollup, Subset, SubsetKind
from tests.unit.history.ledger_world import (
    ACCOUNT,
    DAY_LENGTH,
    HOUR_LENGTH,
    LedgerWorld,
    entry,
)

#: Midnight.
DAY = 1_769_817_600_000
KEY_1, OTP = Subset(SubsetKind.KEY, "key_1"), Subset(SubsetKind.TEMPLATE, "otp")
HOURS, DAYS = Granularity.HOUR, Granularity.DAY


@pytest.fixture
def world() -> LedgerWorld:
    return LedgerWorld()


def stored(
    world: LedgerWorld, granularity: Granularity, start: int, subset: Subset | None = None
) -> dict[str, Any]:
    """Return the item of a rollup, or nothing."""
    return world.stored(keys.rollup(ACCOUNT, granularity, start, subset))


def put_rollup(world: LedgerWorld, start: int, revision: int) -> None:
    """Put the wrong rollup of an hour."""
    rollup = Rollup(HOURS, start)
    rollup.by_status_and_update[Status.PENDING, start] = 9
    item = keys.rollup(ACCOUNT, HOURS, start) | rollup_attributes(rollup, revision)
    world.engine.put_item(Item=item)


@pytest.mark.parametrize("granularity", [DAYS, Granularity.MONTH])
def test_a_day_is_never_made_from_its_entries(world: LedgerWorld, granularity: Granularity) -> None:
    """A day or month whose hours have no rollups yet has none, and reads no entries."""
    world.put(entry(1, created=granularity.start(DAY)))
    engine = world.watch()
    assert world.ledger.roll_up(ACCOUNT, granularity, granularity.start(DAY)) is False
    assert (engine.written, [sk for sk in engine.read if sk.startswith("C#")]) == ([], [])


def test_rollups_of_subsets_are_listed_first(world: LedgerWorld) -> None:
    world.put(entry(1, created=DAY, key_id="key_1", template="otp"), entry(2, created=DAY))
    engine = world.watch()
    assert world.ledger.roll_up(ACCOUNT, HOURS, DAY) is True
    hour = f"hour#{DAY:015}"
    assert engine.written == [f"subsets#{DAY:015}", hour, hour, hour]
    for subset in (KEY_1, OTP):
        item = stored(world, HOURS, DAY, subset)
        assert (item["cells"], item["rev"]) == ({"p0": 1}, 1)
    world.put(entry(3, created=DAY + HOUR_LENGTH, key_id="key_1"))
    engine.written.clear()
    assert world.ledger.roll_up(ACCOUNT, HOURS, DAY + HOUR_LENGTH) is True
    hour = f"hour#{DAY + HOUR_LENGTH:015}"
    assert [sk for sk in engine.written if not sk.startswith(("C#", "U#"))] == [hour, hour]
    world.put(entry(4, created=DAY + HOUR_LENGTH, key_id="key_2"))
    world.ledger.roll_up(ACCOUNT, HOURS, DAY + HOUR_LENGTH)
    item = world.stored(keys.subsets(ACCOUNT, DAY))
    assert (item["subsets"], item["rev"]) == (["key#key_1", "key#key_2", "template#otp"], 2)


def test_a_subset_that_has_no_messages_left_gets_an_empty_rollup(world: LedgerWorld) -> None:
    one = entry(1, created=DAY, key_id="key_1")
    world.put(one)
    world.ledger.roll_up(ACCOUNT, HOURS, DAY)
    world.ledger.correct_item(keys.entries(ACCOUNT, DAY), {}, {one.message_id: 1})
    world.ledger.roll_up(ACCOUNT, HOURS, DAY)
    assert stored(world, HOURS, DAY, KEY_1)["cells"] == {}


def test_an_hour_of_shards_is_made_from_its_ten_seconds(world: LedgerWorld) -> None:
    """Its entries may be millions."""
    world.put(*(entry(n % 4, created=DAY + 1000 * n, shards=4) for n in range(10)))
    world.ledger.roll_up(ACCOUNT, Granularity.TEN_SECONDS, DAY)
    engine = world.watch()
    world.ledger.roll_up(ACCOUNT, HOURS, DAY)
    assert not [sort_key for sort_key in engine.read if sort_key.startswith("C#")]
    assert stored(world, HOURS, DAY)["cells"] == {"p0": 10}


@pytest.mark.parametrize(
    ("granularity", "start", "days"),
    [
        (HOURS, DAY + 5 * HOUR_LENGTH, [0]),
        (HOURS, DAY + 23 * HOUR_LENGTH, [0]),
        (DAYS, DAY, [0]),
        # The day is 31 January.
        (Granularity.MONTH, Granularity.MONTH.start(DAY), [-1, 0]),
        (Granularity.MONTH, DAY + DAY_LENGTH, [1]),
    ],
)
def test_the_lists_of_the_days_of_a_bucket_are_read(
    world: LedgerWorld, granularity: Granularity, start: int, days: list[int]
) -> None:
    for number in (-1, 0, 1):
        day = DAY + number * DAY_LENGTH
        names = subset_attributes([Subset(SubsetKind.KEY, f"key_{number}")], 1)
        world.engine.put_item(Item=keys.subsets(ACCOUNT, day) | names)
    engine = world.watch()
    world.ledger.roll_up(ACCOUNT, granularity, start)
    lists = [f"subsets#{DAY + number * DAY_LENGTH:015}" for number in days]
    assert [sk for sk in engine.read if sk.startswith("subsets#")] == lists
    # That of all messages, and one of each subset in the lists.
    own = f"{granularity.value}#{start:015}"
    assert engine.read.count(own) == 1 + len(days)


@pytest.mark.parametrize(("times", "is_written"), [(0, True), (9, True), (10, False)])
@pytest.mark.parametrize("kind", ["hour#", "subsets#"])
def test_a_rollup_is_tried_ten_times(
    world: LedgerWorld, kind: str, times: int, *, is_written: bool
) -> None:
    world.put(entry(1, created=DAY, key_id="key_1"))
    left = [times]

    def overtake(item: Mapping[str, Any]) -> None:
        if left[0] and (kind == "subsets#" or item["pk"]["S"] == f"STAT#{ACCOUNT}"):
            left[0] -= 1
            if kind == "hour#":
                put_rollup(world, DAY, revision=100 + left[0])
            else:
                other = subset_attributes([OTP], 100 + left[0])
                world.engine.put_item(Item=keys.subsets(ACCOUNT, DAY) | other)

    engine = world.watch(kind, overtake)
    if is_written:
        assert world.ledger.roll_up(ACCOUNT, HOURS, DAY) is True
        item = stored(world, HOURS, DAY)
        assert item["cells"] == {"p0": 1}
        if kind == "hour#":
            assert item["rev"] == (101 if times else 1)
        assert stored(world, HOURS, DAY, KEY_1)["cells"] == {"p0": 1}
    else:
        with pytest.raises(ServiceError, match="Too many writers") as raised:
            world.ledger.roll_up(ACCOUNT, HOURS, DAY)
        assert raised.value.code == "service_unavailable"
    if kind == "subsets#":
        assert engine.written.count(f"subsets#{DAY:015}") == min(times + 1, 10)

"""What the audit of a ledger finds wrong and what it writes, item by item."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.history.ledger_audit import items_of
from pillarbox.adapters.dynamodb.history.ledger_format import pack, rollup_attributes, unpack
from pillarbox.adapters.dynamodb.table import Item, from_item
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import Granularity, IndexEntry, Rollup, TimeRange
from tests.unit.history.ledger_world import ACCOUNT, HOUR, HOUR_LENGTH, LedgerWorld, entry

PENDING, SENT = Status.PENDING, Status.SENT
RANGE = TimeRange(HOUR, HOUR + HOUR_LENGTH)


class Audited(LedgerWorld):
    """What tests of the audit ask for."""

    def store(self, key: Item, *entries: IndexEntry) -> None:
        """Store entries in an item, whatever the item had."""
        self.engine.put_item(Item=key | pack(entries))

    def wrong(self, *entries: IndexEntry) -> set[UUID]:
        """Return the messages that are found wrong, if these are those of an hour."""
        return self.audit.find_wrong(ACCOUNT, RANGE, {one.message_id: one for one in entries})

    def correct(self, *entries: IndexEntry) -> None:
        """Correct the entries of messages."""
        self.audit.correct(ACCOUNT, RANGE, {one.message_id: one for one in entries})


@pytest.fixture
def world() -> Audited:
    return Audited()


def listed(group: str, moment: int) -> Item:
    return keys.updates(ACCOUNT, group, moment)


@pytest.mark.parametrize(
    ("group", "moment"),
    [
        ("sent", HOUR),
        ("sent", HOUR + HOUR_LENGTH - 30_000),
        ("sent-later", HOUR + HOUR_LENGTH),
        ("bounced-later", HOUR + 40 * 86_400_000),
    ],
)
def test_a_copy_in_another_list_is_wrong(world: Audited, group: str, moment: int) -> None:
    one = entry(1, created=HOUR)
    world.put(one)
    world.store(listed(group, moment), replace(one, status=SENT))
    assert world.wrong(one) == {one.message_id}
    world.correct(one)
    assert world.wrong(one) == set()
    assert world.copies(group, moment) is None
    assert world.copies("pending", HOUR) == {one.message_id: one}


def test_the_entry_by_creation_is_corrected_last(
    world: Audited, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If that write fails, the entry is still the old one, so the next check finds it wrong."""
    one = entry(1, created=HOUR, revision=3)
    world.put(one)
    written: list[str] = []
    monkeypatch.setattr(
        DynamoLedger, "correct_item", lambda _, key, *_of: written.append(key["sk"]["S"])
    )
    world.correct(replace(one, status=SENT, updated=HOUR + 7))
    assert len(written) == 3
    assert [keys.is_by_creation(sort_key) for sort_key in written] == [False, False, True]


def test_a_later_update_in_the_hour_of_a_part_is_right(world: Audited) -> None:
    one = entry(1, created=HOUR, status=SENT, updated=HOUR + HOUR_LENGTH - 1)
    world.put(one)
    part = TimeRange(HOUR, HOUR + 1)
    assert world.audit.find_wrong(ACCOUNT, part, {one.message_id: one}) == set()


def history(shards: int = 1) -> list[IndexEntry]:
    """Return the entries of a day's last two hours, and one that opens the next day."""
    end = HOUR + HOUR_LENGTH
    return [
        entry(1, created=HOUR, shards=shards, key_id="key_1"),
        entry(2, created=HOUR + 5, shards=shards, status=SENT, updated=end, template="otp"),
        entry(3, created=end, shards=shards, key_id="key_1"),
        entry(4, created=end + HOUR_LENGTH),
    ]


def right_items(world: Audited) -> dict[tuple[str, str], Any]:
    """Return each stored item by its keys, without its revision."""
    return {
        (pk, sk): {name: value for name, value in from_item(item).items() if name != "rev"}
        for pk, partition in world.engine.partitions.items()
        for sk in partition.order
        if (item := partition.get(sk)) is not None
    }


@pytest.mark.parametrize("shards", [1, 4])
def test_a_rebuild_from_nothing_makes_what_the_stream_makes(world: Audited, shards: int) -> None:
    entries = history(shards)
    world.put(*entries)
    for start in (HOUR, HOUR + HOUR_LENGTH) if shards > 1 else ():
        world.ledger.roll_up(ACCOUNT, Granularity.TEN_SECONDS, start)
    world.ledger.roll_up(ACCOUNT, Granularity.HOUR, HOUR)
    world.ledger.roll_up(ACCOUNT, Granularity.HOUR, HOUR + HOUR_LENGTH)
    world.ledger.roll_up(ACCOUNT, Granularity.DAY, Granularity.DAY.start(HOUR))
    other = Audited()
    items = len(items_of(ACCOUNT, entries))
    assert other.audit.count_differences(ACCOUNT, entries) == items
    assert other.audit.repair(ACCOUNT, entries) == items
    assert right_items(other) == right_items(world)
    assert other.audit.count_differences(ACCOUNT, entries) == 0
    assert world.audit.repair(ACCOUNT, entries) == 0


def wrong_rollup(world: Audited, revision: int) -> Item:
    key = keys.rollup(ACCOUNT, Granularity.HOUR, HOUR)
    rollup = Rollup(Granularity.HOUR, HOUR)
    rollup.by_status_and_update[PENDING, HOUR] = 77
    world.engine.put_item(Item=key | rollup_attributes(rollup, revision))
    return key


@pytest.mark.parametrize("revision", [None, 1, 8])
def test_a_repaired_rollup_has_the_next_revision(world: Audited, revision: int | None) -> None:
    entries = history()
    world.audit.repair(ACCOUNT, entries)
    key = keys.rollup(ACCOUNT, Granularity.HOUR, HOUR)
    partition = world.engine.partition(key["pk"]["S"])
    if revision is None:
        partition.remove(key["sk"]["S"])
    else:
        wrong_rollup(world, revision)
    assert world.audit.count_differences(ACCOUNT, entries) == 1
    assert world.audit.repair(ACCOUNT, entries) == 1
    item = from_item(partition.get(key["sk"]["S"]) or {})
    assert (item["cells"], item["rev"]) == ({"p0": 1, "s1": 1}, (revision or 0) + 1)


@pytest.mark.parametrize("kind", ["C#", "U#", "hour#", "subsets#"])
@pytest.mark.parametrize("state", ["missing", "wrong", "superfluous"])
def test_a_repair_never_overwrites_what_changed_meanwhile(
    world: Audited, kind: str, state: str
) -> None:
    """If an item changed since it was read, the repair says so and leaves the item as it is."""
    entries = history()
    world.audit.repair(ACCOUNT, entries)
    partition = world.engine.partition(f"STAT#{ACCOUNT}")
    sort_key = next(sk for sk in partition.order if sk.startswith(kind))
    right = dict(partition.get(sort_key) or {})
    wrong = _changed(right)
    if state == "missing":
        partition.remove(sort_key)
    elif state == "wrong":
        partition.put(sort_key, wrong)
    newest = _changed(_changed(right))
    world.watch(before=lambda _: partition.put(sort_key, newest))
    with pytest.raises(ServiceError, match="changed meanwhile") as raised:
        world.audit.repair(ACCOUNT, [] if state == "superfluous" else entries)
    assert raised.value.code == "service_unavailable"
    assert partition.get(sort_key) == newest


def _changed(item: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    """Return an item with another revision and one more entry or another count."""
    if "entries" in item:
        entries = [*unpack(from_item(item))]
        return {**item} | pack([*entries, entry(50 + len(entries), created=HOUR)])
    revision = int(item["rev"]["N"]) + 1
    changed = {**item} | {"rev": {"N": str(revision)}}
    if "cells" in item:
        return changed | {"cells": {"M": {"p0": {"N": str(50 + revision)}}}}
    return changed | {"subsets": {"L": [{"S": f"key#key_{revision}"}]}}

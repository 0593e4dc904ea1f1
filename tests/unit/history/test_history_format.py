"""The stored form of the ledger's items, octet for octet: what exists must stay readable."""

from dataclasses import replace

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
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import (
    Granularity,
    Rollup,
    Subset,
    SubsetKind,
    TimeRange,
    roll_up_subset,
)
from tests.unit.history.ledger_world import ACCOUNT, CREATED, entry

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


def test_a_stored_item_is_read() -> None:
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

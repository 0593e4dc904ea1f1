"""Identifiers that sort by time, know their shard, and can be derived again by a retry."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.accounts.account import SHARD_COUNTS
from pillarbox.domain.ids import created_at, derived_id, new_id, shard_count, shard_of
from tests.fakes.builders import NOW, at

MAX_SHARDS = 256

SHARDS = st.sampled_from(SHARD_COUNTS)
TIMES = st.integers(10**8, 7 * 10**12).map(lambda ms: datetime.fromtimestamp(ms / 1000, UTC))


def test_ids_of_one_millisecond_differ() -> None:
    assert len({new_id(NOW) for _ in range(1000)}) == 1000


@given(st.integers(0, 999), st.integers(0, 999))
def test_derived_ids_are_stable_and_distinct(one: int, other: int) -> None:
    """Each generation and position gives one id with the generation's time, and only that one."""
    generation, next_generation = new_id(NOW), new_id(at(0.001))
    identifier = derived_id(generation, one)
    assert identifier == derived_id(UUID(str(generation)), one)
    assert identifier.version == 7
    assert created_at(identifier) == created_at(generation) == NOW
    assert identifier not in {generation, derived_id(next_generation, one)}
    assert (identifier == derived_id(generation, other)) == (one == other)


def test_a_time_between_milliseconds_is_rounded() -> None:
    time = NOW + timedelta(microseconds=499)
    assert abs(created_at(new_id(time)) - time) < timedelta(milliseconds=1)


@given(TIMES, SHARDS, st.integers(0, 99))
def test_an_id_and_those_derived_from_it_say_their_shard(
    time: datetime, shards: int, position: int
) -> None:
    """With several shards an id has version 8, its time, their number and one of them."""
    generation = new_id(time, shards)
    for identifier in (generation, derived_id(generation, position)):
        assert identifier.version == (7 if shards == 1 else 8)
        assert identifier.variant == "specified in RFC 4122"
        assert created_at(identifier) == time
        assert shard_count(identifier) == shards
        assert 0 <= shard_of(identifier) < shards


@given(st.uuids())
def test_every_uuid_has_one_shard(identifier: UUID) -> None:
    assert 0 <= shard_of(identifier) < MAX_SHARDS
    assert shard_of(UUID(str(identifier))) == shard_of(identifier)
    if str(identifier)[14] != "8":  # the version, in any variant
        assert shard_of(identifier) == 0


@given(TIMES, TIMES, SHARDS, SHARDS)
def test_ids_of_any_shards_sort_by_time(
    one: datetime, other: datetime, shards: int, other_shards: int
) -> None:
    if one != other:
        ids = new_id(one, shards), new_id(other, other_shards)
        assert (str(ids[0]) < str(ids[1])) == (one < other)


def test_ids_are_spread_evenly_over_the_shards() -> None:
    """Of 8,000 new and 8,000 derived ids, each of 8 shards gets about an eighth."""
    generation = new_id(NOW, 8)
    for ids in (
        [new_id(NOW, 8) for _ in range(8000)],
        [derived_id(generation, position) for position in range(8000)],
    ):
        counts = Counter(map(shard_of, ids))
        assert set(counts) == set(range(8))
        assert all(800 < count < 1200 for count in counts.values())

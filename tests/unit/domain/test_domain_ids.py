"""Identifiers: UUIDv7 that sort by time, and ids that a retry derives again."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.ids import created_at, derived_id, new_id
from tests.fakes.builders import NOW, at

TIMES = st.integers(10**8, 7 * 10**12).map(lambda ms: datetime.fromtimestamp(ms / 1000, UTC))


@given(TIMES)
def test_an_id_holds_its_time(time: datetime) -> None:
    """An id has version 7 and variant 10, and holds its creation time to the millisecond."""
    identifier = new_id(time)
    assert identifier.version == 7
    assert identifier.variant == "specified in RFC 4122"
    assert created_at(identifier) == time


@given(TIMES, TIMES)
def test_ids_sort_by_time(one: datetime, other: datetime) -> None:
    """The texts of two ids sort in the order of their creation times."""
    if one != other:
        assert (str(new_id(one)) < str(new_id(other))) == (one < other)


def test_ids_of_one_millisecond_differ() -> None:
    """A thousand ids of the same millisecond are all different."""
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
    """The time in an id differs from the creation time by less than a millisecond."""
    time = NOW + timedelta(microseconds=499)
    assert abs(created_at(new_id(time)) - time) < timedelta(milliseconds=1)

"""Identifiers: UUIDv7 that sort by time, and those that a retry finds again."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.ids import created_at, derived_id, new_id
from tests.fakes.builders import NOW, at

MOMENTS = st.integers(10**8, 7 * 10**12).map(lambda ms: datetime.fromtimestamp(ms / 1000, UTC))


@given(MOMENTS)
def test_an_id_carries_its_moment(moment: datetime) -> None:
    """An id is of version 7 and variant 10, and gives its moment back to the millisecond."""
    identifier = new_id(moment)
    assert identifier.version == 7
    assert identifier.variant == "specified in RFC 4122"
    assert created_at(identifier) == moment


@given(MOMENTS, MOMENTS)
def test_ids_sort_by_time(one: datetime, other: datetime) -> None:
    """The texts of two ids stand in the order of their moments."""
    if one != other:
        assert (str(new_id(one)) < str(new_id(other))) == (one < other)


def test_ids_of_one_moment_differ() -> None:
    """A thousand ids of one millisecond are a thousand ids."""
    assert len({new_id(NOW) for _ in range(1000)}) == 1000


@given(st.integers(0, 999), st.integers(0, 999))
def test_derived_ids_are_stable_and_distinct(one: int, other: int) -> None:
    """A generation and a position give one id, of the generation's moment; others give others."""
    generation, next_generation = new_id(NOW), new_id(at(0.001))
    identifier = derived_id(generation, one)
    assert identifier == derived_id(UUID(str(generation)), one)
    assert identifier.version == 7
    assert created_at(identifier) == created_at(generation) == NOW
    assert identifier not in {generation, derived_id(next_generation, one)}
    assert (identifier == derived_id(generation, other)) == (one == other)


def test_a_moment_between_milliseconds_is_rounded() -> None:
    """An id made within a millisecond is off by less than one."""
    moment = NOW + timedelta(microseconds=499)
    assert abs(created_at(new_id(moment)) - moment) < timedelta(milliseconds=1)

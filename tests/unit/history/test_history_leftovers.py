"""A batch that failed half-way leaves copies in the ledger; the retry with more removes them."""

import random
from collections.abc import Iterator, Sequence
from itertools import product

import pytest

from pillarbox.application.history.pagination import PageRequest, SortBy
from pillarbox.domain.messages.message import EventKind, Message, Status
from tests.unit.history.test_history_aggregation import FaultyEngine, wrong_items
from tests.unit.history.world import World

#: Events of one message, each of another status.
EVENTS = (EventKind.SENT, EventKind.DELIVERED, EventKind.COMPLAINED)


@pytest.fixture(autouse=True)
def _same_ids() -> Iterator[None]:
    state = random.getstate()
    random.seed(20261122)
    yield
    random.setstate(state)


def listed(world: World, status: Status) -> Sequence[Message]:
    return world.page(PageRequest(status=status, limit=100, sort_by=SortBy.UPDATED_AT)).items


@pytest.mark.parametrize(
    ("seconds", "write", "fault"),
    [*product([1, 40, 4000], [1, 2, 3, 4], ["failure before", "failure after"])],
)
def test_a_retry_with_more_removes_what_the_first_try_wrote(
    seconds: int, write: int, fault: str
) -> None:
    world = World()
    message = world.send()
    for kind in EVENTS[:2]:
        world.pass_time(seconds)
        world.add_event(message, kind)
    failed, world.stream = world.stream, []
    for position, change in enumerate(failed):
        vars(world.table)["client"] = FaultyEngine(world, write, fault)
        world.aggregation.apply([change])
        vars(world.table)["client"] = world.engine
        # The stream repeats the change together with what came after it, and fails again.
        vars(world.table)["client"] = FaultyEngine(world, write, fault)
        world.aggregation.apply(failed[position:])
        vars(world.table)["client"] = world.engine
    world.pass_time(seconds)
    world.add_event(message, EVENTS[2])
    world.stream = failed + world.stream
    world.aggregate()
    assert wrong_items(world) == 0
    world.pass_time(86_400)  # so the list reads the ledger
    counts = {status: len(listed(world, status)) for status in Status}
    assert counts == {status: int(status is Status.COMPLAINED) for status in Status}

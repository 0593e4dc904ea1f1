"""The stream records when each key last sent a message, at most once an hour."""

from datetime import datetime, timedelta
from unittest.mock import Mock

import pytest

from pillarbox.adapters.dynamodb.accounts.key_uses import DynamoKeyUses
from pillarbox.domain.errors import Unavailable
from tests.unit.history.test_history_aggregation import FaultyEngine, wrong_items
from tests.unit.history.world import START, World

HOUR = timedelta(hours=1)


def recorded(world: World) -> dict[str, datetime]:
    return dict(DynamoKeyUses(world.table).last_uses(world.account_id))


def test_the_newest_message_of_each_key_is_its_last_use() -> None:
    world = World()
    for _ in range(8):
        world.send()
        world.pass_time(1)
    world.aggregate()
    newest = {m.origin.key_id: m.created_at for m in world.messages.values() if m.origin.key_id}
    assert recorded(world) == newest
    assert len(newest) == 2
    assert DynamoKeyUses(world.table).last_use(world.account_id, "key_3") is None


@pytest.mark.parametrize("same_process", [True, False])
def test_a_use_is_written_at_most_once_an_hour(same_process: bool) -> None:  # noqa: FBT001  a case
    world, seen = World(), set[datetime]()
    for _ in range(13):
        world.messages.clear()  # so that each message is from key_1
        world.send()
        world.aggregate()
        seen.add(recorded(world)["key_1"])
        world.pass_time(600)
        if not same_process:
            world.key_uses = DynamoKeyUses(world.table)
            world.aggregation = world.make_aggregation()
    assert seen == {START, START + HOUR, START + 2 * HOUR}


def test_an_older_use_never_replaces_a_newer_one() -> None:
    world = World()
    DynamoKeyUses(world.table).record(world.account_id, "key_1", START + 5 * HOUR)
    DynamoKeyUses(world.table).record(world.account_id, "key_1", START)
    assert recorded(world) == {"key_1": START + 5 * HOUR}


def test_of_two_processes_that_record_at_once_the_newer_use_stays() -> None:
    world = World()

    def other() -> None:
        DynamoKeyUses(world.table).record(world.account_id, "key_1", START + 2 * HOUR)

    vars(world.table)["client"] = FaultyEngine(world, 1, "another process", other)
    DynamoKeyUses(world.table).record(world.account_id, "key_1", START)
    assert recorded(world) == {"key_1": START + 2 * HOUR}


def test_a_use_that_cannot_be_recorded_stops_no_statistics() -> None:
    world = World()
    intact = world.key_uses
    world.key_uses = Mock(spec=DynamoKeyUses)
    world.key_uses.record.side_effect = Unavailable("data store")
    world.send()
    result = world.make_aggregation().apply(world.stream)
    assert (result.retry_from, result.marked_hours, len(result.errors)) == (None, 0, 1)
    assert wrong_items(world) == 0
    assert recorded(world) == {}
    world.key_uses = intact
    world.aggregate()
    assert set(recorded(world)) == {"key_1"}

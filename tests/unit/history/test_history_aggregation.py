"""The ledger stays exact when a batch of changes fails, is repeated or meets another one."""

# ruff: noqa: S311  numbers from a seed, no secrets

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from unittest import mock
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoKeyUses
from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.history.ledger_audit import DynamoLedgerAudit
from pillarbox.adapters.dynamodb.history.message_log import count_changes, marked
from pillarbox.adapters.dynamodb.history.rebuild_marks import DynamoRebuildMarks
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.application.history.aggregate import Aggregation, roll_up_ended
from pillarbox.application.history.ports import RebuildMark, UnreadableChange
from pillarbox.application.stream_result import StreamResult
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.message import Event, EventKind, Message, MessageOrigin
from pillarbox.domain.messages.schedule import Schedule
from pillarbox.domain.messages.statistics import END_OF_TIME, Granularity, IndexEntry, index_entry
from pillarbox.domain.timing import milliseconds
from tests.examples import examples
from tests.fakes.builders import NOW, at, message
from tests.unit.history.test_history_model import simulate
from tests.unit.history.world import START, World


class FaultyEngine:
    """The engine, with a fault at one of its next writes; other invocations come three times."""

    def __init__(
        self, world: World, write: int, fault: str, other: Callable[[], None] | None = None
    ) -> None:
        self._engine = world.engine
        self._world = world
        self.writes_until_fault = self._write = write
        self._others = 3
        self._fault = fault
        self._other = other or self._apply_newer

    def _apply_newer(self) -> None:
        """Change half of the messages, and apply all as they are then; no stream repeats it."""
        messages = self._world.messages
        kind = (EventKind.COMPLAINED, EventKind.BOUNCED, EventKind.DELIVERED)[self._others - 1]
        for changed in [*messages.values()][self._others % 2 :: 2]:
            self._world.add_event(changed, kind)
        self._world.stream = []
        assert self._world.make_aggregation().apply([*messages.values()]).retry_from is None

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._engine, name)
        if name not in {"put_item", "delete_item"}:
            return call

        def write(**request: Any) -> Any:
            self.writes_until_fault -= 1
            if self.writes_until_fault:
                return call(**request)
            match self._fault:
                case "failure before":
                    raise server_error()
                case "failure after":
                    call(**request)
                    raise server_error()
            self._other()  # between a read and its write
            self._others -= 1
            self.writes_until_fault = self._write if self._others else 0
            return call(**request)

        return write


def server_error() -> ClientError:
    response: Any = {
        "Error": {"Code": "InternalServerError"},
        "ResponseMetadata": {"HTTPStatusCode": 500},
    }
    return ClientError(response, "PutItem")


def wrong_items(world: World) -> int:
    """Return the number of items in the ledger that differ from a recount."""
    audit = DynamoLedgerAudit(world.table)
    return audit.count_differences(world.account_id, map(index_entry, world.messages.values()))


@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("fault", ["failure before", "failure after", "another invocation"])
@given(st.integers(0, 2**32))
@settings(max_examples=examples(2), deadline=None)
@pytest.mark.slow
def test_a_retry_repairs_what_a_failure_at_any_write_left(
    fault: str, shards: int, seed: int
) -> None:
    rng, world = random.Random(seed), World(shards=shards)
    simulate(world, rng, 30, (5, 2000, 80_000))
    world.aggregate()
    for _ in range(6):
        simulate(world, rng, 12, (1, 40, 4000, 90_000))
        batch, world.stream = world.stream, []
        vars(world.table)["client"] = FaultyEngine(world, rng.randrange(1, 9), fault)
        retry_from = world.aggregation.apply(batch).retry_from
        vars(world.table)["client"] = world.engine
        for _ in range(rng.randrange(3)):
            if world.messages:
                target = rng.choice([*world.messages.values()])
                world.add_event(target, rng.choice([*EventKind]))
        if retry_from is not None:
            world.stream = batch[retry_from:] + world.stream
        world.aggregate()
        assert wrong_items(world) == 0
        assert world.shapes_are_right(0, END_OF_TIME)


def test_an_hour_is_over_when_a_message_of_the_next_one_is_there() -> None:
    hour = 1_769_810_400_000
    ledger, end = mock.Mock(roll_up=mock.Mock(return_value=1)), Granularity.HOUR.end(hour)
    assert roll_up_ended(ledger, "a", [hour], end - 1) == 0
    assert roll_up_ended(ledger, "a", [hour, hour], end) == 1
    ledger.roll_up.assert_called_once_with("a", Granularity.HOUR, hour)


@pytest.mark.parametrize("write", [1, 2, 3, 4])
def test_a_rollup_counts_what_another_invocation_adds_as_its_hour_ends(write: int) -> None:
    world = World()
    world.send()
    world.aggregate()
    late_addition = world.send()
    world.pass_time(2 * 3600)
    in_new_hour = world.send()

    def add() -> None:
        assert world.aggregation.apply([late_addition]).retry_from is None

    vars(world.table)["client"] = FaultyEngine(world, write, "another invocation", add)
    assert world.aggregation.apply([in_new_hour]).retry_from is None
    vars(world.table)["client"] = world.engine
    assert wrong_items(world) == 0


def test_a_batch_continues_after_an_unreadable_record() -> None:
    world = World()
    first, second = (world.send() for _ in range(2))
    created = milliseconds(world.now - timedelta(hours=3))

    def read(number: int) -> Message:
        if number == 2:
            raise UnreadableChange(first.account_id, created)
        return {1: first, 3: second}[number]

    result = world.make_aggregation(read).apply([1, 2, 3])
    assert (result.retry_from, result.marked_hours) == (None, 1)
    assert [type(error) for error in result.errors] == [UnreadableChange]
    hour = Granularity.HOUR.start(created)
    assert [*world.marks.all()] == [RebuildMark(first.account_id, hour, world.now)]
    assert wrong_items(world) == 0


def test_a_mark_that_fails_does_not_stop_those_of_other_accounts() -> None:
    world = World()
    created = milliseconds(world.now - timedelta(hours=3))

    class MarksOfOthers(DynamoRebuildMarks):
        def put(self, mark: RebuildMark) -> None:
            if mark.account_id == "acct00000001":
                raise RuntimeError("cannot be marked")
            super().put(mark)

    def read(number: int) -> Message:
        raise UnreadableChange(f"acct0000000{number}", created)

    world.marks = MarksOfOthers(world.table)
    assert world.make_aggregation(read).apply([1, 2]).retry_from == 0
    assert [mark.account_id for mark in world.marks.all()] == ["acct00000002"]


def test_records_that_show_no_message_stop_nothing() -> None:
    """A record whose hour is unknown, and so cannot be marked, and one of no message are left."""
    world = World()
    sent = world.send()

    def read(number: int) -> Message | None:
        if number == 1:
            raise UnreadableChange(world.account_id, None)
        return {2: None, 3: sent}[number]

    result = world.make_aggregation(read).apply([1, 2, 3])
    assert (result.retry_from, result.marked_hours, len(result.errors)) == (None, 0, 1)
    assert [*world.marks.all()] == []
    assert wrong_items(world) == 0


def test_an_account_that_fails_is_retried_from_its_first_change() -> None:
    world = World()
    messages = [world.send(), world.send()]
    other = replace(messages[0], account_id="acct00000002")
    vars(world.table)["client"] = FaultyEngine(world, 1, "failure before")
    result = world.aggregation.apply([messages[0], other, messages[1]])
    assert (result.retry_from, len(result.errors)) == (0, 1)
    assert world.ledger.newest_entry_time(other.account_id) == index_entry(other).created
    vars(world.table)["client"] = world.engine
    assert world.aggregation.apply(messages).retry_from is None
    assert wrong_items(world) == 0


@pytest.mark.parametrize(("age", "marked_hours"), [(299, 0), (300, 1)])
def test_a_temporary_failure_is_retried_for_five_minutes(age: int, marked_hours: int) -> None:
    world = World()
    world.written_at = world.now
    sent = world.send()
    world.pass_time(age)
    vars(world.table)["client"] = FaultyEngine(world, 1, "failure before")
    result = world.aggregation.apply([sent])
    assert result == StreamResult(None if marked_hours else 0, result.errors, marked_hours)
    hour = Granularity.HOUR.start(index_entry(sent).created)
    assert [mark.hour for mark in world.marks.all()] == [hour] * marked_hours


def test_owners_hear_of_what_waits_for_them_however_late() -> None:
    """No rebuild tells them: a failure to tell is retried, and the breaker is no obstacle."""
    waits = message(
        origin=MessageOrigin(for_owner=True),
        schedule=Schedule(due_at=NOW, life=timedelta(days=7), held=True),
    )
    tell = mock.Mock(side_effect=[Unavailable("alerts"), None])
    aggregation = Aggregation[Message](
        read=lambda record: record,
        written_at=lambda _: NOW,
        ledger=mock.Mock(newest_entry_time=mock.Mock(return_value=None)),
        marks=mock.Mock(),
        key_uses=mock.Mock(),
        clock=lambda: NOW + timedelta(hours=19),
        judge=mock.Mock(side_effect=ValueError),
        tell_owners=tell,
    )
    assert [aggregation.apply([waits]).retry_from for _ in range(2)] == [0, None]
    assert tell.mock_calls == [mock.call(waits.account_id, [waits])] * 2


@pytest.mark.parametrize("error", [ValueError, KeyError, TypeError, RuntimeError])
def test_a_bad_item_of_one_account_stops_no_other(error: type[Exception]) -> None:
    world = World()
    sent = world.send()
    other = replace(sent, account_id="acct00000002")

    class BadLedger(DynamoLedger):
        def put_entries(self, account_id: str, entries: Iterable[IndexEntry]) -> None:
            if account_id == other.account_id:
                raise error
            super().put_entries(account_id, entries)

    world.ledger = BadLedger(world.table)
    result = world.make_aggregation().apply([other, sent])
    assert (result.retry_from, result.marked_hours) == (None, 1)
    assert [type(raised) for raised in result.errors] == [error]
    assert [mark.account_id for mark in world.marks.all()] == [other.account_id]
    assert wrong_items(world) == 0


def test_a_change_that_cannot_be_marked_is_retried() -> None:
    world = World()
    world.written_at = world.now
    sent = world.send()
    world.pass_time(86_400)

    class Unreachable(DynamoRebuildMarks):
        def put(self, mark: RebuildMark) -> None:
            raise Unavailable(f"data store for {mark}")

    world.marks = Unreachable(world.table)
    vars(world.table)["client"] = FaultyEngine(world, 1, "failure before")
    result = world.make_aggregation().apply([sent])
    assert (result.retry_from, result.marked_hours, len(result.errors)) == (0, 0, 2)
    assert world.make_aggregation().apply([sent]).retry_from is None
    assert wrong_items(world) == 0


def test_a_batch_without_news_writes_nothing() -> None:
    rng, world = random.Random(3), World()
    simulate(world, rng, 60, (5, 2000, 80_000))
    batch = list(world.messages.values())
    world.aggregate()
    world.engine.reset()
    assert world.aggregation.apply(batch) == StreamResult(None, [])
    assert world.engine.write_units == 0


def test_a_lease_writes_nothing() -> None:
    world = World()
    sent = world.send()
    world.aggregate()
    world.engine.reset()
    world.pass_time(1)
    leased = replace(sent, revision=1, attempt=1)
    assert world.aggregation.apply([leased]).retry_from is None
    assert world.engine.write_units == 0


def test_many_changes_of_half_a_minute_cost_little_more_than_their_bytes() -> None:
    """Hundreds of messages in one batch cost at most 0.3 write units each."""
    world = World()
    for number in range(300):
        sent = world.send(world.now + timedelta(milliseconds=number * 20))
        world.add_event(sent, EventKind.SENT)
        world.add_event(sent, EventKind.DELIVERED)
    world.engine.reset()
    world.aggregate()
    assert world.engine.write_units <= 0.3 * 300


NEW = message()
SENT = NEW.with_events([Event(kind=EventKind.SENT, at=NOW)])


def record(**images: Any) -> dict[str, Any]:
    return {"dynamodb": images}


def test_acceptances_and_new_statuses_are_counted() -> None:
    records = [
        record(NewImage=message_item(NEW)),
        record(OldImage=message_item(NEW), NewImage=message_item(SENT)),
        record(OldImage=message_item(SENT), NewImage=message_item(SENT)),
    ]
    assert count_changes(records) == {"accepted": 1, "sent": 1}


def test_a_deleted_message_is_no_count() -> None:
    """Deleting an account removes its messages: such a record has no new image."""
    assert count_changes([record(OldImage=message_item(SENT))]) == {}


def test_a_restored_message_was_counted_before() -> None:
    first, second = marked(message_item(NEW), NOW), marked(message_item(NEW), at(1))
    assert count_changes([record(NewImage=first)]) == {}
    assert count_changes([record(OldImage=message_item(SENT), NewImage=first)]) == {}
    assert count_changes([record(OldImage=first, NewImage=second)]) == {}
    later = marked(message_item(SENT), NOW)
    assert count_changes([record(OldImage=first, NewImage=later)]) == {"sent": 1}


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

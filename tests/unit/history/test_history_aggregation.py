"""The ledger stays exact whatever happens to a batch of changes."""

# ruff: noqa: S311  chance that comes again from its seed, and no secret

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from pillarbox.adapters.dynamodb.ledger_audit import DynamoLedgerAudit
from pillarbox.application.history.aggregate import Aggregation
from pillarbox.domain.message import EventKind, Message
from pillarbox.domain.statistics import index_entry
from tests.unit.history.test_history_model import live
from tests.unit.history.world import World


class Troubled:
    """The engine, with something that happens at one of its writes, counted from now."""

    def __init__(
        self, world: World, write: int, happens: str, other: Callable[[], None] | None = None
    ) -> None:
        self._engine = world.engine
        self._world = world
        self.write = write
        self._happens = happens
        self._other = other or self._take_all

    def _take_all(self) -> None:
        other = Aggregation[Message](read=lambda m: m, ledger=self._world.ledger)
        assert other.apply(list(self._world.messages.values())).again is None

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._engine, name)
        if name not in {"put_item", "delete_item"}:
            return call

        def write(**request: Any) -> Any:
            self.write -= 1
            if self.write:
                return call(**request)
            match self._happens:
                case "failure before":
                    raise failure()
                case "failure after":
                    call(**request)
                    raise failure()
            self._other()  # between a read and its write
            return call(**request)

        return write


def failure() -> ClientError:
    answer: Any = {
        "Error": {"Code": "InternalServerError"},
        "ResponseMetadata": {"HTTPStatusCode": 500},
    }
    return ClientError(answer, "PutItem")


def wrong(world: World) -> int:
    """The items of the ledger that are not what a recount makes."""
    audit = DynamoLedgerAudit(world.table)
    return audit.count_wrong(world.account_id, map(index_entry, world.messages.values()))


@pytest.mark.parametrize("happens", ["failure before", "failure after", "another invocation"])
@given(st.integers(0, 2**32))
@settings(max_examples=12, deadline=None)
def test_a_failure_at_any_write_leaves_nothing_once_the_batch_came_again(
    happens: str, seed: int
) -> None:
    """A batch fails, or is overtaken, at any of its writes, comes again with more: all is right."""
    chance, world = random.Random(seed), World()
    live(world, chance, 30, (5, 2000, 80_000))
    world.aggregate()
    for _ in range(6):
        live(world, chance, 12, (1, 40, 4000, 90_000))
        batch, world.stream = world.stream, []
        vars(world.table)["client"] = Troubled(world, chance.randrange(1, 9), happens)
        world.aggregation.apply(batch)
        vars(world.table)["client"] = world.engine
        for _ in range(chance.randrange(3)):
            if world.messages:
                which = chance.choice([*world.messages.values()])
                world.happen(which, chance.choice([*EventKind]))
        world.stream = batch + world.stream
        world.aggregate()
        assert wrong(world) == 0


@pytest.mark.parametrize("write", [1, 2, 3, 4])
def test_an_hour_that_ends_has_what_another_invocation_adds_meanwhile(write: int) -> None:
    """While one invocation begins a new hour, another one that saw the old hour open adds to it."""
    world = World()
    world.send()
    world.aggregate()
    added = world.send()
    world.pass_time(2 * 3600)
    begun = world.send()

    def add() -> None:
        assert world.aggregation.apply([added]).again is None

    vars(world.table)["client"] = Troubled(world, write, "another invocation", add)
    assert world.aggregation.apply([begun]).again is None
    vars(world.table)["client"] = world.engine
    assert wrong(world) == 0


def test_a_batch_goes_on_behind_what_failed() -> None:
    """What fails of one account comes again; other accounts' changes are taken all the same."""
    world = World()
    first, second = (world.send() for _ in range(2))
    read = {1: first, 3: second}
    aggregation = Aggregation[int](read=read.__getitem__, ledger=world.ledger)
    taken = aggregation.apply([1, 2, 3])
    assert taken.again == 1
    assert [type(error) for error in taken.errors] == [KeyError]
    assert wrong(world) == 0


def test_an_account_that_fails_comes_again_from_its_first_change() -> None:
    """A store that cannot be reached is told by the account's first change; others are taken."""
    world = World()
    messages = [world.send(), world.send()]
    other = replace(messages[0], account_id="acct00000002")
    vars(world.table)["client"] = Troubled(world, 1, "failure before")
    taken = world.aggregation.apply([messages[0], other, messages[1]])
    assert (taken.again, len(taken.errors)) == (0, 1)
    assert world.ledger.newest_entry(other.account_id) == index_entry(other).created
    vars(world.table)["client"] = world.engine
    assert world.aggregation.apply(messages).again is None
    assert wrong(world) == 0


def test_a_batch_that_says_nothing_new_writes_nothing() -> None:
    """Taking a batch a second time costs reads alone."""
    chance, world = random.Random(3), World()
    live(world, chance, 60, (5, 2000, 80_000))
    batch = list(world.messages.values())
    world.aggregate()
    world.engine.reset()
    assert world.aggregation.apply(batch).again is None
    assert world.engine.write_units == 0


def test_a_lease_is_no_change() -> None:
    """A revision that changes nothing to be listed or counted is not written."""
    world = World()
    sent = world.send()
    world.aggregate()
    world.engine.reset()
    world.pass_time(1)
    leased = replace(sent, revision=1, attempt=1)
    assert world.aggregation.apply([leased]).again is None
    assert world.engine.write_units == 0


def test_many_changes_of_a_half_minute_cost_little_more_than_their_bytes() -> None:
    """Hundreds of messages in one batch cost at most 0.3 write units each."""
    world = World()
    for number in range(300):
        sent = world.send(world.now + timedelta(milliseconds=number * 20))
        world.happen(sent, EventKind.SENT)
        world.happen(sent, EventKind.DELIVERED)
    world.engine.reset()
    world.aggregate()
    assert world.engine.write_units <= 0.3 * 300

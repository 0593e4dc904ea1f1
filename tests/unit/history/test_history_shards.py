"""The history of an account whose messages are spread over shards."""

# ruff: noqa: S311  numbers from a seed, no secrets

import random
from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.metered import Item, size_of
from pillarbox.adapters.dynamodb import keys
from pillarbox.application.history.pagination import PageRequest, SortBy
from pillarbox.application.history.queries import Bucket
from pillarbox.domain.accounts.account import first_sharding
from pillarbox.domain.ids import shard_of
from pillarbox.domain.messages.message import EventKind, Message
from pillarbox.domain.messages.statistics import END_OF_TIME
from pillarbox.domain.timing import milliseconds
from tests.examples import examples
from tests.unit.history.test_history_aggregation import wrong_items
from tests.unit.history.world import START, World

NEWEST = PageRequest(limit=100)


def ledger(world: World) -> dict[str, Item]:
    partition = world.engine.partition(keys.entries(world.account_id, 0)["pk"]["S"])
    return {sk: item for sk in partition.order if (item := partition.get(sk)) is not None}


def apply(world: World, choose: Callable[[Message], bool]) -> None:
    """Apply the changes of some messages, and leave the others in the stream."""
    chosen = [message for message in world.stream if choose(message)]
    world.stream = [message for message in world.stream if not choose(message)]
    assert world.aggregation.apply(chosen).retry_from is None


@pytest.mark.slow
@given(st.integers(0, 2**32), st.sampled_from([1, 20, 400]))
@settings(max_examples=examples(6), deadline=None)
def test_a_shard_that_lags_is_listed_from_its_records(seed: int, pause: int) -> None:
    rng, world = random.Random(seed), World(shards=4)
    behind = rng.randrange(4)
    for _ in range(5):
        for _ in range(rng.randrange(1, 20)):
            world.send()
            world.pass_time(rng.random() * pause)
        apply(world, lambda message: shard_of(message.message_id) != behind)
        for sort_by in SortBy:
            request = PageRequest(sort_by=sort_by, limit=100)
            lag = timedelta(minutes=15)
            if all(message.created_at > world.now - lag for message in world.stream):
                assert world.page(request) == world.expected_page(request)
        if rng.random() < 0.5:
            apply(world, lambda _: True)
    apply(world, lambda _: True)
    assert wrong_items(world) == 0


def test_records_of_all_shards_are_read_newest_first() -> None:
    world = World(shards=4)
    sent = []
    for _ in range(20):
        sent.append(world.send().message_id)
        world.pass_time(1)
    read = world.log.newest_first(world.account_id, 0, END_OF_TIME)
    assert [message.message_id for message in read] == sent[::-1]


def test_shards_write_items_of_their_own() -> None:
    """Batches of two shards have no item of entries in common, so neither waits for the other."""
    world = World(shards=4)
    for _ in range(200):
        world.add_event(world.send(), EventKind.SENT)
        world.pass_time(0.03)
    written: list[set[str]] = []
    for shard in range(4):
        before = ledger(world)
        apply(world, lambda message, shard=shard: shard_of(message.message_id) == shard)  # type: ignore[misc]
        changed = {sk for sk, item in ledger(world).items() if before.get(sk) != item}
        written.append({sk for sk in changed if sk.startswith(("C#", "U#"))})
        assert written[-1]
    assert len(set().union(*written)) == sum(map(len, written))
    assert wrong_items(world) == 0


def test_items_stay_small_at_the_highest_rate() -> None:
    """At the 250 a second that a partition takes at most, an item has 6.5 KB, of 400 allowed."""
    world = World(shards=2)
    world.now = world.now.replace(second=0, microsecond=0)
    for number in range(1000):
        world.send(world.now + timedelta(milliseconds=2 * number))
    world.aggregate()
    sizes = [size_of(item) for sk, item in ledger(world).items() if sk.startswith("C#")]
    assert len(sizes) == 4
    assert sum(sizes) > 26_000
    assert max(sizes) < 10_000  # the ids choose their shards at random


def test_a_raise_leaves_the_items_of_before() -> None:
    world = World()
    for _ in range(30):
        world.send()
        world.pass_time(1)
    world.aggregate()
    before = ledger(world)
    world.shard(8, first_sharding(world.now))
    world.send()
    world.pass_time(2 * 3600)
    for _ in range(30):
        world.send()
        world.pass_time(1)
    world.aggregate()
    after = ledger(world)
    assert {sk for sk in before if sk.startswith("C#")} <= set(after)
    plain = [sk for sk in after if sk.startswith("C#") and int(sk[2:]) % 30_000 == 0]
    assert len(plain) == 2
    assert world.page(NEWEST) == world.expected_page(NEWEST)
    assert wrong_items(world) == 0


@pytest.mark.parametrize("shards", [1, 8])
def test_the_number_of_shards_may_be_given_or_read(shards: int) -> None:
    world = World(shards=shards)
    for _ in range(40):
        world.send()
        world.pass_time(40)
    world.aggregate()
    world.engine.reset()
    page = world.page(NEWEST)
    calls = world.engine.calls
    assert page == world.expected_page(NEWEST)
    world.engine.reset()
    assert world.queries.page(world.account_id, NEWEST, shards) == page
    assert world.engine.calls < calls
    since, until = milliseconds(START), milliseconds(world.now)
    analytics = world.queries.analytics(world.account_id, since, until, Bucket.HOUR, shards)
    assert analytics == world.analytics(since, until, Bucket.HOUR)
    assert analytics.total.count == 40

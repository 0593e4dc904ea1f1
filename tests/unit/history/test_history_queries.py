"""What lists and figures read and show: of all, of keys and templates, of several shards."""

# ruff: noqa: S311  numbers from a seed, no secrets

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.metered import Item, size_of
from pillarbox.adapters.dynamodb import keys
from pillarbox.application.history.pagination import PageRequest, SortBy
from pillarbox.application.history.queries import Bucket, MessageCounts
from pillarbox.application.history.tuning import Tuning
from pillarbox.domain.ids import shard_of
from pillarbox.domain.messages.message import EventKind, Message, MessageOrigin, Status
from pillarbox.domain.messages.statistics import (
    Subset,
    SubsetKind,
)
from pillarbox.domain.timing import milliseconds
from tests.examples import examples
from tests.refusals import faults
from tests.unit.history.test_history_aggregation import wrong_items
from tests.unit.history.test_history_check import busy_hour, check
from tests.unit.history.world import START, SUBSETS, World

HOUR = 3_600_000
KEY_1, KEY_2 = SUBSETS[:2]


def equals_recount(world: World) -> bool:
    """Return whether the figures of all subsets since the start are those of a recount."""
    window = (milliseconds(START) - HOUR, milliseconds(world.now) + 1, Bucket.DAY)
    return world.shapes_are_right(*window[:2]) and all(
        world.analytics(*window, subset) == world.expected_analytics(*window, subset)
        for subset in SUBSETS
    )


def days(world: World, count: int) -> None:
    """Send some messages on each of some days, and apply the changes."""
    for _ in range(count):
        for _ in range(8):
            world.add_event(world.send(), EventKind.SENT)
            world.pass_time(1200)
        world.aggregate()
        world.pass_time(86_400 - 8 * 1200)
    world.send()
    world.aggregate()


def subset_partitions(world: World) -> list[str]:
    partitions = world.engine.partitions.items()
    return [
        pk for pk, one in partitions if pk.startswith(f"STAT#{world.account_id}#") and one.order
    ]


@pytest.mark.parametrize("shards", [1, 4])
def test_each_subset_has_rollups_of_its_own(shards: int) -> None:
    world = World(shards=shards)
    days(world, 3)
    assert equals_recount(world)
    assert wrong_items(world) == 0
    unused = Subset(SubsetKind.KEY, "key_3")
    window = (milliseconds(START), milliseconds(world.now), Bucket.DAY)
    assert world.analytics(*window, unused).total.count == 0
    assert len(subset_partitions(world)) == len(SUBSETS)


def test_the_sweep_repairs_rollups_of_subsets_and_the_list_of_a_day() -> None:
    world = busy_hour()
    for pk in subset_partitions(world):
        world.engine.partition(pk).remove(world.engine.partition(pk).order[-1])
    lists = [sk for sk in world.engine.partition(f"STAT#{world.account_id}").order if "subs" in sk]
    for sk in lists:
        world.engine.partition(f"STAT#{world.account_id}").remove(sk)
    assert wrong_items(world) > len(lists) >= 1
    assert check(world) >= 1
    assert wrong_items(world) == 0


def test_a_list_of_few_messages_reads_no_other_messages_of_the_account() -> None:
    """Rollups of a subset that sent little have its entries, so its list reads only those."""
    world = World()
    for hour in range(30):
        rare = world.send()
        for _ in range(40 if hour % 3 == 0 else 2):
            world.send()
            world.pass_time(1)
        origin = MessageOrigin(starter_template="welcome")
        changed = replace(rare, origin=origin, revision=1)
        world._put(changed)
        world.pass_time(3600)
        world.aggregate()
    world.engine.reset()
    request = PageRequest(template="welcome", sort_by=SortBy.UPDATED_AT, limit=10)
    assert world.page(request) == world.expected_page(request)
    # The records of the page, the newest entry and its hour, and the rollups.
    assert world.engine.read_units <= 10 + 12


def test_many_messages_of_a_key_and_of_a_template_are_refused_together() -> None:
    """Neither has few enough messages to read; with a short time, or few of one, it works."""
    world = World(tuning=Tuning(max_filtered=3))
    sent = [world.send() for _ in range(12)]
    many = PageRequest(key_id="key_1", template="otp")
    assert world.page(many) == world.expected_page(many)
    sent.append(world.send())  # the template's fourth message
    world.aggregate()
    assert faults(world.page, many) == [("template", "too_many_matches")]
    for few in (
        PageRequest(key_id="key_2", template="otp"),
        PageRequest(key_id="key_1", template="otp", since=milliseconds(sent[-1].created_at) + 1),
        PageRequest(key_id="key_1", template="otp", status=Status.FAILED),
    ):
        assert world.page(few) == world.expected_page(few)


def test_a_saved_template_counts_under_its_id_in_every_version() -> None:
    world = World()
    sent = world.send()
    template_id = str(UUID(int=7))
    for version in (1, 2):
        origin = MessageOrigin(template_id=template_id, template_version=version)
        changed = replace(world.send(), origin=origin)
        world.messages[changed.message_id] = changed
        world.stream[-1] = changed
        world.pass_time(1)
    world.aggregate()
    world.pass_time(7200)
    world.send()
    world.aggregate()
    window = (milliseconds(sent.created_at), milliseconds(world.now) + 1, Bucket.HOUR)
    of_template = world.analytics(*window, Subset(SubsetKind.TEMPLATE, template_id))
    assert of_template.total.count == 2
    assert f"STAT#{world.account_id}#template#{template_id}" in subset_partitions(world)


DAY = 86_400_000


def test_analytics_have_the_ten_most_frequent_errors() -> None:
    world = World()
    for number in range(11):
        for _ in range(1 if number == 4 else 2):
            world.add_event(world.send(), EventKind.FAILED, f"code_{number:02}")
    world.aggregate()
    start = milliseconds(START)
    analytics = world.analytics(start - DAY, start + DAY, Bucket.DAY)
    codes = [number for number in range(11) if number != 4]
    assert analytics.errors == [(f"code_{number:02}", 2) for number in codes]


def test_a_filter_holds_in_the_hour_in_which_a_range_begins() -> None:
    """Its entries are read one by one, those of the hours after it by their rollups."""
    world = World()
    for number in range(40):
        sent = world.send()
        world.add_event(sent, EventKind.DELIVERED if number % 2 else EventKind.BOUNCED)
        world.pass_time(600)
    world.aggregate()
    world.pass_time(7200)
    (_, _, third, *_) = world.messages.values()
    wanted = PageRequest(status=Status.DELIVERED, since=milliseconds(third.created_at))
    page = world.page(wanted)
    assert (page, page.total) == (world.expected_page(wanted), 19)


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


@pytest.mark.parametrize(("sent", "delivered", "rate"), [(0, 0, 0), (3, 2, 0.6667), (4, 4, 1)])
def test_a_rate_is_a_fraction_to_four_places(sent: int, delivered: int, rate: float) -> None:
    counts = MessageCounts(9, Counter({Status.SENT: sent, Status.DELIVERED: delivered}))
    assert counts.rate(Status.DELIVERED) == rate


def test_what_was_called_off_is_no_error() -> None:
    world, start = World(), milliseconds(START)
    for code in ("canceled", "not_released", "key_revoked", "expired"):
        world.add_event(world.send(), EventKind.FAILED, code)
    world.aggregate()
    figures = world.analytics(start - 24 * HOUR, start + 24 * HOUR, Bucket.DAY)
    assert figures.errors == [("expired", 1)]

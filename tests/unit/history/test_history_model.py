"""Listing and analytics against a model that recounts from scratch."""

# ruff: noqa: S311  chance that comes again from its seed, and no secret

import random
from dataclasses import replace
from datetime import timedelta
from itertools import product
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pillarbox.application.history import coverage as cover
from pillarbox.application.history import pagination as selection
from pillarbox.application.history.queries import Bucket, PageRequest, SortBy
from pillarbox.domain.message import EventKind, Status
from pillarbox.domain.statistics import milliseconds
from tests.unit.history.world import CODES, START, World, entries_of

KINDS = [
    EventKind.SENT,
    EventKind.DELIVERED,
    EventKind.DELIVERED,
    EventKind.BOUNCED,
    EventKind.BOUNCED_TRANSIENT,
    EventKind.COMPLAINED,
    EventKind.FAILED,
    EventKind.UNCERTAIN,
    EventKind.DELAYED,
]
HOUR = 3_600_000


def live(world: World, chance: random.Random, steps: int, pauses: tuple[float, ...]) -> None:
    """Some time in the life of an account; afterwards the aggregation is seconds behind."""
    for _ in range(steps):
        match chance.randrange(8):
            case 0 | 1 | 2:
                for _ in range(chance.randrange(1, 6)):
                    late = chance.choice((0, 0, 0, 0.2, 7, 35))
                    world.send(world.now - timedelta(seconds=late))
            case 3 | 4 if world.messages:
                which = chance.choice([*world.messages.values()][-12:])
                world.happen(which, chance.choice(KINDS), chance.choice(CODES))
            case 5 if world.messages:
                which = chance.choice([*world.messages.values()])
                world.happen(which, chance.choice(KINDS), chance.choice(CODES))
            case 6:
                taken = world.stream[: chance.randrange(len(world.stream) + 1)]
                world.aggregate(len(taken))
                # Delivered a second time, in part or out of order.
                again = chance.sample(taken, chance.randrange(len(taken) + 1))
                assert world.aggregation.apply(again).again is None
            case _:
                world.pass_time(chance.choice(pauses) * chance.random())


def moments(world: World, chance: random.Random) -> tuple[int | None, int | None]:
    """A window: open, at messages to the millisecond, at hours, in between."""
    created = [milliseconds(m.created_at) for m in world.messages.values()] or [0]
    picks = [
        *(chance.choice(created) + chance.choice((-1, 0, 1)) for _ in range(2)),
        chance.choice(created) // HOUR * HOUR,
        chance.randrange(min(created) - HOUR, max(created) + HOUR),
    ]
    since, until = sorted(chance.sample(picks, 2))
    return chance.choice((None, since)), chance.choice((None, until + 1))


def requests(world: World, chance: random.Random) -> list[PageRequest]:
    """Every combination of filters and orders, each at some place."""
    found = []
    for status, sort_by, windowed in product([None, *Status], SortBy, (False, True)):
        since, until = moments(world, chance) if windowed else (None, None)
        most = len(world.messages)
        found.append(
            PageRequest(
                since=since,
                until=until,
                status=status,
                sort_by=sort_by,
                skip=chance.choice((0, chance.randrange(most + 2), max(most - 5, 0))),
                limit=chance.choice((1, 7, 50, 100)),
            )
        )
    return found


def check(world: World, chance: random.Random) -> None:
    for request in requests(world, chance):
        assert world.page(request) == world.expected_page(request), request
    for bucket, (since, until) in product(Bucket, [moments(world, chance) for _ in range(3)]):
        start = milliseconds(START) if since is None else since
        window = (start, start + 30 * 24 * HOUR if until is None or until <= start else until)
        assert world.analytics(*window, bucket) == world.expected_analytics(*window, bucket)


@given(
    st.integers(0, 2**32),
    st.sampled_from([(5, 90), (600, 5000), (30_000, 400_000), (10**7,)]),
    st.sampled_from([(2, 4), (40, 400)]),
)
@settings(max_examples=16, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_list_and_analytics_tell_what_a_recount_tells(
    seed: int, pauses: tuple[float, ...], few: tuple[int, int]
) -> None:
    """Filters, orders and places agree with a recount; the stream comes twice, late, in parts."""
    chance, world = random.Random(seed), World()
    # Small accounts then are searched as large ones are: bucket by bucket.
    with (
        mock.patch.object(selection, "_FEW", few[0]),
        mock.patch.object(cover, "_MOST_RECORDS", few[1]),
    ):
        for _ in range(2):
            live(world, chance, 50, pauses)
            world.aggregate()
            check(world, chance)


@given(st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_new_mail_is_seen_at_once_however_far_the_stream_is_behind(seed: int) -> None:
    """Accepted mail is in lists and totals at once: after a batch, before it, without any."""
    chance, world = random.Random(seed), World()
    for _ in range(60):
        match chance.randrange(4):
            case 0 | 1:
                world.send(world.now - timedelta(seconds=chance.choice((0, 0, 3, 35))))
            case 2:
                world.aggregate(chance.randrange(len(world.stream) + 1))
            case _:
                world.pass_time(chance.random() * chance.choice((3, 100, 5000, 10**6)))
        for sort_by in SortBy:
            request = PageRequest(sort_by=sort_by, skip=chance.randrange(3), limit=20)
            assert world.page(request) == world.expected_page(request)


@pytest.mark.parametrize("sort_by", SortBy)
def test_pages_follow_one_another_without_repeating_or_dropping(sort_by: SortBy) -> None:
    """Page after page gives each message once, in the order, equal times by id."""
    chance, world = random.Random(7), World()
    for _ in range(40):
        for _ in range(chance.randrange(30)):
            world.send()
        for which in chance.sample([*world.messages.values()], len(world.messages) // 3):
            world.happen(which, chance.choice(KINDS))
        world.pass_time(chance.choice((0, 0.001, 1800, 90_000)))
    world.aggregate()
    request = PageRequest(sort_by=sort_by, limit=37)
    listed = []
    for skip in range(0, len(world.messages), 37):
        page = world.page(replace(request, skip=skip))
        assert page.total == len(world.messages)
        listed += page.items
    assert listed == world.expected_page(replace(request, limit=10**6)).items
    assert len({m.message_id for m in listed}) == len(world.messages)
    assert set(entries_of(world)) == {
        replace(entry, revision=0)
        for entry in world.ledger.entries_created(world.account_id, 0, 2**48)
    }

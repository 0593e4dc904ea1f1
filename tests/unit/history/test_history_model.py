"""Lists and analytics equal those of a model that recounts from scratch."""

# ruff: noqa: S311  numbers from a seed, no secrets

import random
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pillarbox.application.history.pagination import PageRequest, SortBy
from pillarbox.application.history.queries import Bucket
from pillarbox.application.history.tuning import Tuning
from pillarbox.domain.accounts.account import first_sharding
from pillarbox.domain.messages.message import EventKind, Status
from pillarbox.domain.messages.statistics import SubsetKind
from pillarbox.domain.timing import milliseconds
from tests.examples import examples
from tests.unit.history.world import ERROR_CODES, START, SUBSETS, World, error_of

pytestmark = pytest.mark.slow

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
_, _, DELIVERED, BOUNCED, COMPLAINED, _ = Status


def simulate(world: World, rng: random.Random, steps: int, pauses: tuple[float, ...]) -> None:
    """Send messages, add events and apply batches at random; the ledger may lag afterwards."""
    for _ in range(steps):
        match rng.randrange(8):
            case 0 | 1 | 2:
                for _ in range(rng.randrange(1, 6)):
                    delay = rng.choice((0, 0, 0, 0.2, 7, 35))
                    world.send(world.now - timedelta(seconds=delay))
            case 3 | 4 if world.messages:
                target = rng.choice([*world.messages.values()][-12:])
                world.add_event(target, rng.choice(KINDS), rng.choice(ERROR_CODES))
            case 5 if world.messages:
                target = rng.choice([*world.messages.values()])
                world.add_event(target, rng.choice(KINDS), rng.choice(ERROR_CODES))
            case 6:
                batch = world.stream[: rng.randrange(len(world.stream) + 1)]
                world.aggregate(len(batch))
                # Apply part of the batch a second time, out of order.
                repeated = rng.sample(batch, rng.randrange(len(batch) + 1))
                assert world.aggregation.apply(repeated).retry_from is None
            case _:
                world.pass_time(rng.choice(pauses) * rng.random())


def random_window(world: World, rng: random.Random) -> tuple[int | None, int | None]:
    """Choose a window: open, exactly at messages, at hours, or between them."""
    created = [milliseconds(m.created_at) for m in world.messages.values()] or [0]
    candidates = [
        *(rng.choice(created) + rng.choice((-1, 0, 1)) for _ in range(2)),
        rng.choice(created) // HOUR * HOUR,
        rng.randrange(min(created) - HOUR, max(created) + HOUR),
    ]
    since, until = sorted(rng.sample(candidates, 2))
    return rng.choice((None, since)), rng.choice((None, until + 1))


def page_requests(world: World, rng: random.Random) -> list[PageRequest]:
    """Return a request for every combination of filters and orders, each at a random page."""
    requests = []
    for status, sort_by, windowed in product([None, *Status], SortBy, (False, True)):
        since, until = random_window(world, rng) if windowed else (None, None)
        total = len(world.messages)
        requests.append(
            PageRequest(
                since=since,
                until=until,
                status=status,
                sort_by=sort_by,
                skip=rng.choice((0, rng.randrange(total + 2), max(total - 5, 0))),
                limit=rng.choice((1, 7, 50, 100)),
            )
        )
    keys = {subset.id for subset in SUBSETS if subset.kind is SubsetKind.KEY}
    templates = {subset.id for subset in SUBSETS if subset.kind is SubsetKind.TEMPLATE}
    filters = [
        *((key, None) for key in sorted(keys | {"key_of_nobody"})),
        *((None, template) for template in sorted(templates)),
        ("key_1", "otp"),
        ("key_2", "otp"),
    ]
    for (key_id, template), request in product(filters, rng.sample(requests, 6)):
        skip = rng.choice((0, request.skip // 4))
        requests.append(replace(request, skip=skip, key_id=key_id, template=template))
        error = rng.choice([*filter(None, map(error_of, world.messages.values())), "nothing"])
        by_error = replace(requests[-1], status=None, sort_by=SortBy.CREATED_AT, error=error)
        requests += [by_error, replace(by_error, key_id=None, template=None)]
    return requests


def check(world: World, rng: random.Random) -> None:
    for request in page_requests(world, rng):
        assert world.page(request) == world.expected_page(request), request
    for bucket, (since, until) in product(Bucket, [random_window(world, rng) for _ in range(3)]):
        start = milliseconds(START) if since is None else since
        window = (start, start + 30 * 24 * HOUR if until is None or until <= start else until)
        for subset in (None, *SUBSETS):
            figures = world.analytics(*window, bucket, subset)
            assert figures == world.expected_analytics(*window, bucket, subset), subset
            rates = tuple(map(figures.total.rate, (DELIVERED, BOUNCED, COMPLAINED)))
            assert rates == world.expected_rates(*window, subset), subset
        assert world.shapes_are_right(*window)
        listed = PageRequest(since=window[0], until=window[1])
        pages = {status: world.page(replace(listed, status=status)) for status in Status}
        totals = Counter({status: page.total for status, page in pages.items()})
        assert world.analytics(*window, bucket).total.by_status == totals


@given(
    st.integers(0, 2**32),
    st.sampled_from([(5, 90), (600, 5000), (30_000, 400_000), (10**7,)]),
    # With figures this low, small accounts are searched as large ones are: bucket by bucket.
    st.sampled_from(
        [
            Tuning(max_entries=2, max_recent_records=4),
            Tuning(max_entries=40, max_recent_records=400),
        ]
    ),
    st.sampled_from([1, 4]),
    st.sampled_from([None, 8]),
)
@settings(max_examples=examples(2), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_lists_and_analytics_equal_a_recount(
    seed: int, pauses: tuple[float, ...], tuning: Tuning, shards: int, raised_to: int | None
) -> None:
    """Every filter, order and page equals a recount, with batches repeated, late and in parts.

    So it is with several shards, and while their number is raised.
    """
    rng, world = random.Random(seed), World(tuning=tuning, shards=shards)
    for _ in range(2):
        simulate(world, rng, 50, pauses)
        if raised_to is not None:
            world.shard(raised_to, first_sharding(world.now))
        simulate(world, rng, 25, pauses)
        world.aggregate()
        check(world, rng)


@pytest.mark.parametrize("shards", [1, 4])
@given(st.integers(0, 2**32))
@settings(max_examples=examples(2), deadline=None)
def test_a_new_message_is_listed_at_once_however_far_the_stream_lags(
    shards: int, seed: int
) -> None:
    rng, world = random.Random(seed), World(shards=shards)
    for _ in range(60):
        match rng.randrange(4):
            case 0 | 1:
                world.send(world.now - timedelta(seconds=rng.choice((0, 0, 3, 35))))
            case 2:
                world.aggregate(rng.randrange(len(world.stream) + 1))
            case _:
                world.pass_time(rng.random() * rng.choice((3, 100, 5000, 10**6)))
        for sort_by in SortBy:
            request = PageRequest(sort_by=sort_by, skip=rng.randrange(3), limit=20)
            assert world.page(request) == world.expected_page(request)

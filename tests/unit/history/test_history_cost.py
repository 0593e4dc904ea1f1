"""The read units of pages and analytics do not grow with the number of messages."""

from collections import defaultdict
from functools import cache, partial

import pytest

from benchmarks.history import ACCOUNT, DAYS, NOW, SUBSETS, Cost, cost, page_requests, spread
from benchmarks.history import account_with as make_account_with
from benchmarks.search import read_costs
from pillarbox.application.history.pagination import SortBy
from pillarbox.application.history.queries import Bucket
from pillarbox.domain.messages.statistics import Subset
from pillarbox.domain.timing import milliseconds

pytestmark = pytest.mark.slow

#: `benchmarks.history` and `benchmarks.search` have many more.
FEW, SOME, MANY = 600, 3_000, 7_200
#: A page reads from each of them.
SHARDS = 8

#: Made once for each size: the tests only read, and `cost` counts each request by itself.
account_with = cache(make_account_with)


def test_pages_of_an_order_cost_within_four_times_of_each_other() -> None:
    costs: dict[str, list[Cost]] = {}
    for size in (FEW, MANY):
        queries, engine = account_with(size, SHARDS)
        for _, request in page_requests(size):
            if request.status is None and request.since is None and not request.subsets:
                page_cost = cost(engine, partial(queries.page, ACCOUNT, request, SHARDS))
                costs.setdefault(request.sort_by, []).append(page_cost)
    assert set(costs) == set(SortBy)
    for of_order in costs.values():
        assert spread(of_order) <= 4
        assert max(each.units for each in of_order) <= 100


def test_pages_of_a_key_or_template_cost_within_four_times_of_each_other() -> None:
    costs: defaultdict[tuple[Subset, SortBy], list[Cost]] = defaultdict(list)
    for size in (FEW, MANY):
        queries, engine = account_with(size, SHARDS)
        for name, request in page_requests(size):
            if request.subsets:
                call = partial(queries.page, ACCOUNT, request, SHARDS)
                page_cost = cost(engine, call)
                assert page_cost.units <= 200, name
                if len(call().items) == request.limit:
                    costs[request.subsets[0], request.sort_by].append(page_cost)
    assert len(costs) >= 9
    for of_subset in costs.values():
        assert spread(of_subset) <= 4


def test_a_page_takes_at_most_twenty_rounds() -> None:
    queries, engine = account_with(MANY, SHARDS)
    most_calls = 0
    for name, request in page_requests(MANY):
        page_cost = cost(engine, partial(queries.page, ACCOUNT, request, SHARDS))
        # The model counts the reads of all shards one after another.
        assert page_cost.rounds <= 20 + SHARDS - 1, name
        most_calls = max(most_calls, page_cost.calls)
    assert most_calls > 40


@pytest.mark.parametrize("bucket", Bucket)
@pytest.mark.parametrize("subset", [None, *SUBSETS])
def test_analytics_of_a_month_cost_at_most_a_hundred_units(
    subset: Subset | None, bucket: Bucket
) -> None:
    """The limit holds for 31 days by hour and by day, for all messages, a key and a template."""
    queries, engine = account_with(MANY, SHARDS)
    until = milliseconds(NOW)
    window = (until - DAYS * 86_400_000, until)
    analytics = partial(queries.analytics, ACCOUNT, *window, bucket, SHARDS, subset=subset)
    assert cost(engine, analytics).units <= 100


def test_a_search_costs_within_four_times_of_each_other() -> None:
    for name, of_search in read_costs((FEW, SOME), SHARDS).items():
        assert spread(of_search) <= 4, name
        assert max(each.units for each in of_search) <= 100

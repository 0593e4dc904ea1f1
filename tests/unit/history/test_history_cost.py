"""What a page and the figures cost in read units, however many messages there are."""

from functools import cache, partial

import pytest

from benchmarks.history import ACCOUNT, DAYS, NOW, cost, pages, spread
from benchmarks.history import seeded as seeded_anew
from pillarbox.application.history.queries import Bucket, SortBy
from pillarbox.domain.statistics import milliseconds

FEW, MANY = 600, 12_000

#: Made once for each size: the tests only read, and `cost` counts each request by itself.
seeded = cache(seeded_anew)


def test_a_page_costs_much_the_same_wherever_it_is() -> None:
    """Each order, at the beginning and deep, of few messages and many: within four times."""
    figures: dict[str, list[tuple[int, int]]] = {}
    for size in (FEW, MANY):
        overview, engine = seeded(size)
        for _, request in pages(size):
            if request.status is None and request.since is None:
                found = cost(engine, partial(overview.page, ACCOUNT, request))
                figures.setdefault(request.sort_by, []).append(found)
    assert set(figures) == set(SortBy)
    for several in figures.values():
        assert spread(several) <= 4
        assert max(units for units, _ in several) <= 100


@pytest.mark.parametrize("bucket", Bucket)
def test_figures_of_a_month_cost_at_most_a_hundred_units(bucket: Bucket) -> None:
    """31 days, by hour and by day."""
    overview, engine = seeded(MANY)
    until = milliseconds(NOW)
    window = (until - DAYS * 86_400_000, until)
    units, _ = cost(engine, partial(overview.analytics, ACCOUNT, *window, bucket))
    assert units <= 100

"""Several workers share the slow tests, which come first."""

import random
from itertools import pairwise

import pytest

from tests.order import dealt


@pytest.mark.parametrize("workers", [1, 2, 3, 4])
def test_each_worker_begins_with_slow_files_and_ends_with_quick_ones(workers: int) -> None:
    """Each test has one place, files stay together, and every part has the folders in order."""
    sizes = random.Random(workers)  # noqa: S311  no secret
    files = [(folder, number) for folder in ("browser", "contract", "unit") for number in range(40)]
    owners = [file for file in files for _ in range(sizes.randrange(1, 30))]
    order = dealt(owners, workers)
    assert sorted(order) == list(range(len(owners)))
    runs = [owners[index] for index in order]
    assert len({*runs}) == 1 + sum(one != other for one, other in pairwise(runs))
    share = len(owners) // workers
    for worker in range(workers):
        part = [folder for folder, _ in runs[worker * share :][:share]]
        start = part.index("browser")
        assert {*part[:start]} <= {"unit"}  # the end of the part before
        assert start <= 30
        assert part[start:] == sorted(part[start:])
        assert part[-1] == "unit"


def test_one_worker_keeps_the_order() -> None:
    """Without other workers nothing is dealt out."""
    assert dealt("aabbc", 1) == [0, 1, 2, 3, 4]

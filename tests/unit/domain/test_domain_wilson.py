"""What a share of few proves."""

from statistics import NormalDist

import pytest

from pillarbox.domain import wilson
from pillarbox.domain.wilson import exceeds, lower_bound


def test_bounds_are_those_of_the_formula() -> None:
    """The bound of k of n is the lower root of Wilson's equation, for 90 % in between."""
    z = NormalDist().inv_cdf(0.95)
    assert pytest.approx(z) == wilson._Z
    for total in (1, 2, 20, 30, 300, 5_000):
        for hits in {0, 1, total // 10, total // 2, total}:
            bound, share = lower_bound(hits, total), hits / total
            # At the bound the share is z standard deviations away.
            assert (share - bound) ** 2 == pytest.approx(z * z * bound * (1 - bound) / total)
            assert 0 <= bound <= share


def test_few_prove_little() -> None:
    """3 of 30 and 2 of 20 do not prove more than 5 %; 3 of 20 do, and 19 of 19 are too few."""
    proofs = {(3, 30): False, (2, 20): False, (3, 20): True, (19, 19): False, (20, 20): True}
    assert {case: exceeds(*case, 0.05) for case in proofs} == proofs
    assert lower_bound(0, 0) == 0
    assert lower_bound(7, 5) == lower_bound(5, 5)  # two counters may differ

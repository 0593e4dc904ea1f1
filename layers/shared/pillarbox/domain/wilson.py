"""How sure a share is, when few of many were looked at: Wilson's score interval (1927)."""

from math import sqrt
from typing import Final

#: A share that is judged from fewer says too little.
LEAST_TOTAL: Final = 20
#: How many standard deviations 90 % of a normal distribution are within.
_Z: Final = 1.6448536269514722


def lower_bound(hits: int, total: int) -> float:
    """Return the lower end of the 90 % interval of the share that `hits` of `total` show.

    It is lower than `hits / total`, and the more so the fewer there are: 3 of 30 show 4 %, and
    30 of 300 show 7.5 %. Nothing shows 0.

    Args:
        hits: at most `total`; more are read as all of them, since two counters may differ.
        total: what was looked at.
    """
    if total < 1 or hits < 1:
        return 0.0
    share, square = min(hits / total, 1.0), _Z * _Z
    centre = share + square / (2 * total)
    margin = _Z * sqrt(share * (1 - share) / total + square / (4 * total * total))
    return (centre - margin) / (1 + square / total)


def exceeds(hits: int, total: int, most: float) -> bool:
    """Return whether so many show that the share is more than `most`."""
    return total >= LEAST_TOTAL and lower_bound(hits, total) > most

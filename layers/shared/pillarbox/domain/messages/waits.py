"""How long messages waited until they were sent, in spans: each wait takes one byte."""

from collections.abc import Mapping
from math import ceil, log2
from typing import Final

#: Waits are counted by spans, of which the first is this long and each next one a fifth longer. So
#: a wait takes one byte, and a percentile is right to a fifth.
_SHORTEST_SPAN: Final = 100
_SPANS_A_DOUBLING: Final = 4
_LAST_SPAN: Final = 255


def span_number(wait: int) -> int:
    """Return the number, from 1, of the shortest span that a wait fits into."""
    longer = log2(max(wait, _SHORTEST_SPAN) / _SHORTEST_SPAN)
    return min(1 + ceil(_SPANS_A_DOUBLING * longer), _LAST_SPAN)


def percentile(waits: Mapping[int, int], part: float) -> int | None:
    """Return within how long a part of some messages was sent; None if none was.

    `waits` has the number of messages by the number of their span. The result is the length of a
    span, so that it never promises too much.
    """
    wanted = part * sum(waits.values())
    for number in sorted(waits):
        wanted -= waits[number]
        if wanted <= 0:
            return round(_SHORTEST_SPAN * 2 ** ((number - 1) / _SPANS_A_DOUBLING))
    return None

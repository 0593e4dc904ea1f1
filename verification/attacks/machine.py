"""The speed of this machine, which a limit of CPU time must know."""

import time
from functools import cache
from typing import Final

_ROUNDS: Final = 500_000
#: Seconds of CPU for the rounds on the machine on which the limits were chosen.
_USUAL: Final = 0.025


@cache
def slowness() -> float:
    """Return how many times slower this machine is than the usual one, at least 1."""
    return max(1.0, min(_seconds() for _ in range(5)) / _USUAL)


def _seconds() -> float:
    started = time.process_time()
    sum(number * number for number in range(_ROUNDS))
    return time.process_time() - started

"""Remember which questions a name server did not answer."""

from collections.abc import Callable, Hashable
from threading import Lock
from time import monotonic
from typing import Final

#: How long a question without an answer is not asked again, in seconds. So a slow name server
#: holds up one request of a process, not each.
UNKNOWN_KEPT: Final = 60.0
_SIZE: Final = 10_000


class Unanswered:
    """The questions without an answer; several threads can use it.

    Args:
        clock: returns seconds that only increase.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        #: Until when each one is not asked again; the oldest comes first.
        self._until: dict[Hashable, float] = {}
        self._lock = Lock()

    def __contains__(self, question: Hashable) -> bool:
        """Return whether a question had no answer within the last minute."""
        return self._until.get(question, 0.0) > self._clock()

    def add(self, question: Hashable) -> None:
        """Remember a question. A thread whose caller gave up calls it too."""
        with self._lock:
            self._until.pop(question, None)
            self._until[question] = self._clock() + UNKNOWN_KEPT
            if len(self._until) > _SIZE:
                del self._until[next(iter(self._until))]

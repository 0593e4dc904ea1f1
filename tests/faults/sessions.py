"""Several sessions of one process, of which one runs at a time: load that can be repeated.

They change places, in turn, before each call and where one waits for another. So what they ask
at the same moment the process asks together, each time in the same groups.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from unittest import mock

_CURRENT: Final = threading.local()


class Sessions[R]:
    """Works of one process, each in a thread of its own."""

    def __init__(self, works: Sequence[Callable[[], R]]) -> None:
        self._works = works
        self._turns = [threading.Semaphore(0) for _ in works]
        self._over = threading.Semaphore(0)
        self._alive = list(range(len(works)))
        self._results: list[R | Exception | None] = [None for _ in works]
        self._death: BaseException | None = None

    def run(self) -> list[R | Exception | None]:
        """Run them to their ends; gives what each gave or raised.

        Raises:
            BaseException: what one died of, since all die with it.
        """
        for number in self._alive:
            threading.Thread(target=self._live, args=(number,), daemon=True).start()
        self._turns[0].release()
        self._over.acquire()
        if self._death is not None:
            raise self._death
        return self._results

    def give_way(self, number: int) -> None:
        """Let the others have their turns first."""
        self._pass_on(number)
        self._await_turn(number)

    def _live(self, number: int) -> None:
        _CURRENT.give_way = lambda: self.give_way(number)
        try:
            self._await_turn(number)
            self._results[number] = self._works[number]()
        except Exception as error:  # noqa: BLE001  whatever a session ends with
            self._results[number] = error
        except BaseException as death:  # noqa: BLE001  the process ends
            self._death = death
        following = self._after(number)
        self._alive.remove(number)
        (self._turns[following] if self._alive else self._over).release()

    def _await_turn(self, number: int) -> None:
        self._turns[number].acquire()
        if self._death is not None:
            raise self._death

    def _pass_on(self, number: int) -> None:
        self._turns[self._after(number)].release()

    def _after(self, number: int) -> int:
        return min(self._alive, key=lambda other: (other <= number, other))


def give_way() -> None:
    """Let the other sessions of the thread's process go first, if it has any."""
    getattr(_CURRENT, "give_way", lambda: None)()


@contextmanager
def taking_turns() -> Iterator[None]:
    """Let a session that waits for another give way to it."""
    wait = threading.Event.wait

    def wait_in_turn(event: threading.Event, *timeout: Any) -> bool:
        if not hasattr(_CURRENT, "give_way"):
            return wait(event, *timeout)
        while not event.is_set():
            give_way()
        return True

    with mock.patch.object(threading.Event, "wait", wait_in_turn):
        yield

"""Messages that are ready at one moment are accepted together.

Who comes first goes at once, alone, and so does a second one. Who comes while two calls
are under way waits for the first of them to end, and then all who wait go together:
nobody waits for company that may not come. Each hears of its own outcome, once the call
that it was part of has ended.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

#: Messages in a group: two of SQS's batches, and far from the 100 writes of a transaction.
MOST: Final = 20
#: Calls of a name. One would make a third fewer for a third more time, since whoever comes
#: just after its start waits for all of it; three make more calls for little less time.
AT_ONCE: Final = 2


@dataclass(slots=True)
class _Line[T, R]:
    """Who waits, and how many calls are under way."""

    waiting: list[tuple[T, asyncio.Future[R]]] = field(default_factory=list)
    calls: int = 0


class SubmissionBatcher[T, R]:
    """Calls that are made for several arguments at once.

    Args:
        call: takes a group's name and its arguments; gives for each its outcome, or
            the error to raise. What it raises itself, all get.
    """

    def __init__(
        self, call: Callable[[str, Sequence[T]], Awaitable[Sequence[R | Exception]]]
    ) -> None:
        self._call = call
        self._lines: dict[str, _Line[T, R]] = {}
        self._serving: set[asyncio.Task[None]] = set()

    async def submit(self, name: str, argument: T) -> R:
        """Make the call for an argument, with those of the same name that wait.

        Raises:
            Exception: what the call came to for this argument.
        """
        outcome: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        line = self._lines.setdefault(name, _Line())
        line.waiting.append((argument, outcome))
        if line.calls < AT_ONCE:
            line.calls += 1
            task = asyncio.create_task(self._serve(name, line))
            # The loop itself keeps no task alive.
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)
        return await outcome

    async def _serve(self, name: str, line: _Line[T, R]) -> None:
        """Make one call after another, as long as somebody waits."""
        while line.waiting:
            members, line.waiting = line.waiting[:MOST], line.waiting[MOST:]
            outcomes = await self._outcomes(name, [argument for argument, _ in members])
            for (_, future), outcome in zip(members, outcomes, strict=True):
                if future.cancelled():
                    continue
                if isinstance(outcome, Exception):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)
        line.calls -= 1
        if not line.calls:
            del self._lines[name]

    async def _outcomes(self, name: str, arguments: Sequence[T]) -> Sequence[R | Exception]:
        try:
            return await self._call(name, arguments)
        except Exception as error:  # noqa: BLE001  each raises it for itself
            return [error] * len(arguments)

"""Things of which each name may do a few at a time, while the others of this name wait."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class _Queue:
    """The places of one name, and how many have one or wait for one."""

    places: asyncio.Semaphore
    users: int = 0


class Turns:
    """Give each name a number of places; who finds none waits, in the order of arrival."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def take(self, name: str) -> AsyncGenerator[None]:
        """Hold one of the places of a name within a block."""
        queue = self._queues.get(name)
        if queue is None:
            queue = self._queues[name] = _Queue(asyncio.Semaphore(self._places))
        queue.users += 1
        try:
            async with queue.places:
                yield
        finally:
            queue.users -= 1
            if not queue.users:
                del self._queues[name]

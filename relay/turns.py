"""Things of which each name may do a few at a time, while the others of this name wait."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class _Places:
    """The places of one name, and how many have one or wait for one."""

    free: asyncio.Semaphore
    users: int = 0


class Turns:
    """Give each name a number of places; who finds none waits, in the order of arrival."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._in_use: dict[str, _Places] = {}

    @asynccontextmanager
    async def take(self, name: str) -> AsyncGenerator[None]:
        """Hold one of the places of a name within a block."""
        places = self._in_use.get(name)
        if places is None:
            places = self._in_use[name] = _Places(asyncio.Semaphore(self._places))
        places.users += 1
        try:
            async with places.free:
                yield
        finally:
            places.users -= 1
            if not places.users:
                del self._in_use[name]

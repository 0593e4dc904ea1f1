"""Let each name do a few things at a time, while others of the same name wait."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class _Places:
    """The places of one name, and how many have one or wait for one."""

    free: asyncio.Semaphore
    users: int = 0


class PlacesByName:
    """Give each name a number of places; callers without one wait in the order of arrival."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._in_use: dict[str, _Places] = {}

    @asynccontextmanager
    async def acquire(self, name: str) -> AsyncGenerator[None]:
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

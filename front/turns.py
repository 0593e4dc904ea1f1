"""Shares the workers among clients: the one that waited longest gets the next worker."""

import asyncio
from typing import Final

#: Owners to remember. One that is forgotten counts as new, and comes first.
_REMEMBERED: Final = 1024

#: An address and a key.
type Owners = tuple[str, str]


class Turns[Worker]:
    """Free workers, and the requests that wait for one.

    The addresses take turns, and at each address the keys. So neither one key with many requests
    nor one address with many keys delays the others by more than one request.
    """

    def __init__(self) -> None:
        self._free: list[Worker] = []
        self._waiting: list[tuple[Owners, asyncio.Future[Worker]]] = []
        self._latest: dict[str, int] = {}
        self._turn = 0

    def add(self, worker: Worker) -> None:
        """Add a free worker, or return one."""
        self._free.append(worker)
        self._assign()

    async def get(self, owners: Owners) -> Worker:
        """Wait for a worker. It belongs to the caller until `add` returns it."""
        worker: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._waiting.append((owners, worker))
        self._assign()
        try:
            return await worker
        except asyncio.CancelledError:
            if not worker.cancelled():  # it was assigned in the same moment
                self.add(worker.result())
            raise

    def _assign(self) -> None:
        self._waiting = [entry for entry in self._waiting if not entry[1].cancelled()]
        while self._free and self._waiting:
            entry = min(self._waiting, key=lambda waiting: self._latest_turns(waiting[0]))
            self._waiting.remove(entry)
            owners, worker = entry
            worker.set_result(self._free.pop())
            self._turn += 1
            self._latest |= dict.fromkeys(owners, self._turn)
        if len(self._latest) > _REMEMBERED:
            waiting = {owner for owners, _ in self._waiting for owner in owners}
            self._latest = {o: turn for o, turn in self._latest.items() if o in waiting}

    def _latest_turns(self, owners: Owners) -> tuple[int, ...]:
        return tuple(self._latest.get(owner, 0) for owner in owners)

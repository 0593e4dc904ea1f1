"""Publishes event records in the background."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable

from pillarbox.domain.errors import Json

type Emit = Callable[[dict[str, Json]], Awaitable[None]]


class EventEmitter:
    """Emits event records in the background, in order per mail.

    Args:
        emit: publishes one record.
        pauses: seconds before each retry. After the last retry the record is dropped and
            reported on stderr.
    """

    def __init__(self, emit: Emit, pauses: tuple[float, ...] = (0.1, 0.5, 2.0)) -> None:
        self._emit = emit
        self._pauses = pauses
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, event_records: Iterable[dict[str, Json]]) -> None:
        """Start to emit records in their order, and return at once."""
        task = asyncio.create_task(self._emit_all([*event_records]))
        self._tasks.add(task)  # the event loop keeps only weak references to tasks
        task.add_done_callback(self._tasks.discard)

    async def finish(self, seconds: float = 5.0) -> None:
        """Wait until the running tasks end; cancel those that take longer."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _emit_all(self, event_records: list[dict[str, Json]]) -> None:
        for record in event_records:
            await self._emit_one(record)

    async def _emit_one(self, record: dict[str, Json]) -> None:
        for pause in (*self._pauses, None):
            try:
                await self._emit(record)
            except Exception as error:  # noqa: BLE001  after any error the other records must follow
                if pause is None:
                    mail = record.get("mail")
                    mail_id = mail["messageId"] if isinstance(mail, dict) else record["resources"]
                    kind = record.get("eventType", record.get("detail-type"))
                    print(  # noqa: T201  stderr is the log of a foreground program
                        f"SES event {kind} of {mail_id} is lost: {error!r}", file=sys.stderr
                    )
                else:
                    await asyncio.sleep(pause)
            else:
                return

"""What the server needs of the service behind it, and how it reaches the use-case."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Protocol

from pillarbox.application.relaying import Relaying
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import Principal

_LOG: Final = logging.getLogger("relay")


@dataclass(frozen=True, slots=True)
class Envelope:
    """Where a message comes from and goes to (RFC 5321 section 2.3.1); addresses parsed."""

    sender: str
    recipients: tuple[str, ...]


class Service(Protocol):
    """Keys, and the acceptance of messages."""

    async def authenticate(self, key_text: str) -> Principal:
        """Tell whose key it is, reading it anew.

        Raises:
            ServiceError: it is no live key that may send; `service_unavailable`.
        """
        ...

    async def submit(self, key_text: str, envelope: Envelope, octets: bytearray) -> str:
        """Accept a message for good; gives its id once that is committed.

        Raises:
            ServiceError: it is refused, or could not be committed.
        """
        ...


#: Calls of AWS at a time. Each waits for the network most of its time.
THREADS: Final = 32


class ThreadedService:
    """Fulfils `Service` with the use-case, whose calls block, in a pool of threads."""

    def __init__(self, relaying: Callable[[], Relaying]) -> None:
        """Take what makes the use-case: connecting is for the first call."""
        self._relaying = relaying
        self._threads = ThreadPoolExecutor(THREADS, "submission")

    async def authenticate(self, key_text: str) -> Principal:
        """Read the key in a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._threads, lambda: self._relaying().authenticate(key_text)
        )

    async def submit(self, key_text: str, envelope: Envelope, octets: bytearray) -> str:
        """Take all steps of one acceptance in a thread."""
        loop = asyncio.get_running_loop()
        began, size = loop.time(), len(octets)
        facts: dict[str, object] = {"size": size, "recipients": len(envelope.recipients)}
        try:
            message_id = await loop.run_in_executor(
                self._threads,
                lambda: self._relaying().submit(key_text, envelope.recipients, octets),
            )
        except ServiceError as error:
            _LOG.info("refused", extra=facts | {"code": error.code})
            raise
        facts |= {"message_id": message_id, "milliseconds": round((loop.time() - began) * 1000)}
        _LOG.info("accepted", extra=facts)
        return message_id

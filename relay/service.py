"""What the server needs of the service behind it, and how it reaches the use-case."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Protocol

from pillarbox.application.sending.smtp import SmtpSubmission
from pillarbox.application.sending.smtp_message import SmtpMessage
from pillarbox.domain.errors import ServiceError, Unavailable
from pillarbox.domain.key import Principal
from relay.groups import SubmissionBatcher

_LOG: Final = logging.getLogger("relay")


@dataclass(frozen=True, slots=True)
class Envelope:
    """Where a message comes from and goes to (RFC 5321 section 2.3.1); addresses parsed."""

    sender: str
    recipients: tuple[str, ...]


class SubmissionService(Protocol):
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
    """Fulfils `SubmissionService` with the use-case, whose calls block, in a pool of threads."""

    def __init__(self, relaying: Callable[[], SmtpSubmission]) -> None:
        """Take what makes the use-case: connecting is for the first call."""
        self._relaying = relaying
        self._threads = ThreadPoolExecutor(THREADS, "submission")
        #: By key: an account's mail does not wait for that of others.
        self._groups = SubmissionBatcher(self._accept)

    async def authenticate(self, key_text: str) -> Principal:
        """Read the key in a thread; log only that it could not be read."""
        try:
            return await self._run(lambda: self._relaying().authenticate(key_text))
        except Unavailable as error:
            _log_refusal(error)
            raise

    async def submit(self, key_text: str, envelope: Envelope, octets: bytearray) -> str:
        """Read a message in a thread, and accept it there, with others that are ready."""
        began, size = time.monotonic(), len(octets)
        facts: dict[str, object] = {"size": size, "recipients": len(envelope.recipients)}
        try:
            prepared = await self._run(
                lambda: self._relaying().prepare(envelope.recipients, octets)
            )
            if prepared.groupable:
                message_id = await self._groups.submit(key_text, prepared)
            else:
                message_id = await self._run(lambda: self._relaying().submit(key_text, prepared))
        except ServiceError as error:
            _log_refusal(error, **facts)
            raise
        milliseconds = round((time.monotonic() - began) * 1000)
        _LOG.info(
            "accepted", extra=facts | {"message_id": message_id, "milliseconds": milliseconds}
        )
        return message_id

    async def _accept(
        self, key_text: str, prepared: Sequence[SmtpMessage]
    ) -> Sequence[str | Exception]:
        if len(prepared) == 1:  # a record alone costs half of one in a transaction
            return [await self._run(lambda: self._relaying().submit(key_text, prepared[0]))]
        return await self._run(lambda: self._relaying().submit_all(key_text, prepared))

    async def _run[T](self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)


def _log_refusal(error: ServiceError, **facts: object) -> None:
    _LOG.info("refused", extra=facts | {"code": error.code} | error.log_fields)

"""The service that the SMTP server needs, and its implementation with the use case."""

import asyncio
import gc
import logging
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

from pillarbox.application.sending.smtp import SmtpMessage, SmtpSubmission
from pillarbox.domain.accounts.key import account_of_key
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError, Unavailable
from relay.batcher import SubmissionBatcher
from relay.places import PlacesByName

_LOG: Final = logging.getLogger("relay")


class SubmissionService(Protocol):
    """Authenticates API keys and accepts messages."""

    async def authenticate(self, key_text: str, origin: ClientOrigin) -> Principal:
        """Read a key from the store and return its principal.

        Raises:
            ServiceError: it is not a live key that may send, or `service_unavailable`.
        """

    async def check_recipient(self, key_text: str, address: str, origin: ClientOrigin) -> None:
        """Check one recipient before its message is there.

        Raises:
            ServiceError: the key may not send to the address, or it could not be checked.
        """

    async def submit(
        self, key_text: str, recipients: tuple[str, ...], octets: bytearray, origin: ClientOrigin
    ) -> str:
        """Accept a message and return its id after the commit.

        Raises:
            ServiceError: the message is refused or could not be committed.
        """


#: Concurrent use-case calls. Each spends most of its time waiting for AWS.
THREADS: Final = 32
#: Of these, calls for one account: an account whose calls take long does not stop the others.
THREADS_OF_ACCOUNT: Final = THREADS // 4
#: Octets. A request of botocore is in a reference cycle, which keeps its body. Python's own
#: collection counts objects and not octets, so it would come after hundreds of megabytes.
_LARGE: Final = 1024 * 1024


class ThreadedService:
    """Implements `SubmissionService`: runs the use case, whose calls block, in a thread pool."""

    def __init__(self, get_submission: Callable[[], SmtpSubmission]) -> None:
        """Store the function that returns the use case; the first call of it opens connections."""
        self._get_submission = get_submission
        self._threads = ThreadPoolExecutor(THREADS, "submission")
        self._places = PlacesByName(THREADS_OF_ACCOUNT)
        # Batches are per key, so an account's messages do not wait for those of others.
        self._batcher = SubmissionBatcher(self._accept)

    async def authenticate(self, key_text: str, origin: ClientOrigin) -> Principal:
        """Read the key in a thread. Log only that the store was unavailable, not a wrong key."""
        try:
            return await self._run(
                lambda: self._get_submission().authenticate(key_text, origin=origin)
            )
        except Unavailable as error:
            _log_refusal(error)
            raise

    async def check_recipient(self, key_text: str, address: str, origin: ClientOrigin) -> None:
        """Check it in a thread, in the account's turn."""
        await self._run_in_turn(
            key_text,
            lambda: self._get_submission().check_recipient(key_text, address, origin=origin),
        )

    async def submit(
        self, key_text: str, recipients: tuple[str, ...], octets: bytearray, origin: ClientOrigin
    ) -> str:
        """Accept a message, and free what the SDK keeps of a large one."""
        is_large = len(octets) >= _LARGE
        try:
            return await self._submit(key_text, recipients, octets, origin)
        except ServiceError as error:
            if is_large:
                _clear_frames(error)
            raise
        finally:
            if is_large:
                asyncio.get_running_loop().call_soon(gc.collect)

    async def _submit(
        self, key_text: str, recipients: tuple[str, ...], octets: bytearray, origin: ClientOrigin
    ) -> str:
        """Parse a message and accept it, together with others that are ready, in threads."""
        began, size = time.monotonic(), len(octets)
        fields: dict[str, object] = {"size": size, "recipients": len(recipients)}
        try:
            prepared = await self._run_in_turn(
                key_text,
                lambda: self._get_submission().prepare(key_text, recipients, octets),
            )
            if prepared.groupable:
                message_id = await self._batcher.submit(key_text, (prepared, origin))
            else:
                message_id = await self._run_in_turn(
                    key_text, lambda: self._submit_one(key_text, origin, prepared)
                )
        except ServiceError as error:
            _log_refusal(error, **fields)
            raise
        milliseconds = round((time.monotonic() - began) * 1000)
        _LOG.info(
            "accepted", extra=fields | {"message_id": message_id, "milliseconds": milliseconds}
        )
        return message_id

    async def _accept(
        self, key_text: str, ready: Sequence[tuple[SmtpMessage, ClientOrigin]]
    ) -> Sequence[str | Exception]:
        first, origin = ready[0]
        if len(ready) == 1:  # also one that must have a call of its own
            return [
                await self._run_in_turn(key_text, lambda: self._submit_one(key_text, origin, first))
            ]
        messages = [message for message, _ in ready]
        return await self._run_in_turn(
            key_text,
            lambda: self._get_submission().submit_all(key_text, messages, origin=origin),
        )

    def _submit_one(self, key_text: str, origin: ClientOrigin, message: SmtpMessage) -> str:
        return self._get_submission().submit(key_text, message, origin=origin)

    async def _run_in_turn[T](self, key_text: str, call: Callable[[], T]) -> T:
        async with self._places.acquire(account_of_key(key_text) or key_text):
            return await self._run(call)

    async def _run[T](self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)


def _clear_frames(error: BaseException) -> None:
    """Free what the functions that raised it worked on: a thread may hold the error for longer."""
    traceback.clear_frames(error.__traceback__)
    if error.__context__:
        _clear_frames(error.__context__)


def _log_refusal(error: ServiceError, **fields: object) -> None:
    _LOG.info("refused", extra=fields | {"code": error.code} | error.log_fields)

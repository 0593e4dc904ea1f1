"""What a large message leaves in reference cycles is freed at once."""

import asyncio
import contextlib
import gc
import weakref
from typing import Any

import pytest

from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError
from relay.service import ThreadedService

ORIGIN = ClientOrigin("192.0.2.1")


class Request:
    """Keeps itself alive, as botocore's requests do."""

    def __init__(self) -> None:
        self.context = {"request": self}


class Submission:
    """Accepts or refuses each message with a request of its own."""

    groupable = False

    def __init__(self, *, accepts: bool) -> None:
        self.requests: list[weakref.ref[Request]] = []
        self.error: ServiceError | None = None
        self._accepts = accepts

    def prepare(self, *_: object) -> Any:
        return self

    def submit(self, *_: object, **__: object) -> str:
        request = Request()
        self.requests.append(weakref.ref(request))
        if not self._accepts:
            self.error = ServiceError("validation_failed", "No.")
            raise self.error
        return "id"


async def _submit(service: ThreadedService, size: int) -> None:
    with contextlib.suppress(ServiceError):
        await service.submit("key", (), bytearray(size), ORIGIN)
    await asyncio.sleep(0)


@pytest.mark.parametrize("accepts", [True, False])
def test_a_large_message_is_freed(accepts: bool) -> None:  # noqa: FBT001  a case
    """After a message of 1 MiB its request is gone, accepted or not; after a smaller one not.

    The thread that raised an error may hold it for a moment, as `submission.error` does here: what
    it held is freed after the next one.
    """
    submission: Any = Submission(accepts=accepts)
    service = ThreadedService(lambda: submission)
    gc.disable()
    try:
        asyncio.run(_submit(service, 1024 * 1024 - 1))
        assert submission.requests[0]() is not None
        for _ in range(10):
            asyncio.run(_submit(service, 1024 * 1024))
            if not any(request() for request in submission.requests[:-1]):
                break
        assert not any(request() for request in submission.requests[:-1])
    finally:
        gc.enable()

"""The bodies that are arriving: their memory, their pace, and which gives way when memory is short.

A body takes memory as its octets arrive, so an announced size costs nothing. Neither a key nor an
address can have more than a quarter of the memory. Bodies up to `SMALL` are not counted.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from front.turns import Owners
from pillarbox.domain.client_origin import network_of
from pillarbox.domain.errors import ServiceError, Unavailable

#: In bytes. Two attachments of 5 MB are 14 MB of base64 (contract 2.3), and html and text take up
#: to 2 MB. The edge in template.yaml uses the same figure.
BODY_LIMIT: Final = 16 * 1024 * 1024
#: In bytes. The memory of smaller bodies is limited by the number of requests alone.
SMALL: Final = 256 * 1024
#: Requests whose bodies are arriving or being handled.
MAX_REQUESTS: Final = 256
#: One key or one address can have this fraction of the memory and of the requests.
SHARE: Final = 1 / 4
#: In bytes a second. A slower body is refused once it is `_PATIENCE` seconds late.
MIN_RATE: Final = 32 * 1024
_PATIENCE: Final = 10.0
#: The seconds that a body may take to arrive. The edge gives up after 60.
_BODY_TIMEOUT: Final = 50.0
#: In seconds. The pace of a body is its average over about this time.
_PACE_TIME: Final = 2.0
#: In seconds. A body this young does not give way to others.
_YOUNG: Final = 1.0

type Receive = Callable[[], Awaitable[Mapping[str, Any]]]


@dataclass(eq=False, slots=True)
class Upload:
    """One body: what has arrived of it, and how fast the latest octets came."""

    owners: Owners
    began: float
    size: int = 0
    arriving: bool = True
    #: Called if the upload must give way.
    drop: Callable[[], None] = lambda: None
    _recent: float = 0.0
    _updated: float = 0.0

    def arrive(self, octets: int, now: float) -> None:
        self._recent = self._faded(now) + octets
        self._updated = now
        self.size += octets

    def pace(self, now: float) -> float:
        """Return the octets a second, where old octets count less than new ones."""
        age = max(now - self.began, 0.05)
        return self._faded(now) / (_PACE_TIME * -math.expm1(-age / _PACE_TIME))

    @property
    def reserved(self) -> int:
        """The memory that counts."""
        return self.size if self.size > SMALL else 0

    def _faded(self, now: float) -> float:
        return self._recent * math.exp((self._updated - now) / _PACE_TIME)


class Uploads:
    """All bodies that the front holds."""

    def __init__(self, memory: int) -> None:
        """Limit the bytes that all bodies over `SMALL` may occupy."""
        self._memory = memory
        self._uploads: set[Upload] = set()

    @contextmanager
    def begin(self, key: str, address: str) -> Iterator[Upload]:
        """Hold a body of an API key and a client's address until the block ends."""
        upload = Upload((f"address {network_of(address)}", f"key {key}"), _now())
        for owner in upload.owners:
            if sum(owner in other.owners for other in self._uploads) >= MAX_REQUESTS * SHARE:
                raise _share_is_used()
        if len(self._uploads) >= MAX_REQUESTS:
            self._drop_slower_than(MIN_RATE, "requests")
        self._uploads.add(upload)
        try:
            yield upload
        finally:
            self._uploads.discard(upload)

    async def read(self, upload: Upload, receive: Receive) -> bytes:
        """Return the whole body.

        A body that is too large is read to its end but not kept. Otherwise a client that is still
        sending would see a broken connection instead of the response.
        """
        body = bytearray()
        size, more = 0, True
        latest = upload.began + _BODY_TIMEOUT
        try:
            async with asyncio.timeout_at(min(upload.began + _PATIENCE, latest)) as timeout:
                upload.drop = lambda: self._drop(upload, timeout)
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect" or upload not in self._uploads:
                        raise _not_received()
                    more = message.get("more_body", False)
                    octets = len(message["body"])
                    size += octets
                    if size <= BODY_LIMIT:
                        self._take(upload, octets)
                        body += message["body"]
                    else:
                        body.clear()
                        upload.size = 0
                    late = (timeout.when() or 0.0) + octets / MIN_RATE
                    timeout.reschedule(min(late, _now() + _PATIENCE, latest))
        except TimeoutError:
            raise _not_received() from None
        upload.arriving = False
        if size > BODY_LIMIT:
            raise too_large()
        return bytes(body)

    def _take(self, upload: Upload, octets: int) -> None:
        """Reserve memory for octets that arrived."""
        now = _now()
        upload.arrive(octets, now)
        if not upload.reserved:
            return
        for owner in upload.owners:
            used = sum(other.reserved for other in self._uploads if owner in other.owners)
            if used > self._memory * SHARE:
                raise _share_is_used()
        while sum(other.reserved for other in self._uploads) > self._memory:
            # Half: uploads of about the same pace do not displace each other.
            self._drop_slower_than(upload.pace(now) / 2, "memory", least=1)

    def _drop_slower_than(self, pace: float, resource: str, least: int = 0) -> None:
        """Drop the slowest upload that has reserved at least so much."""
        now = _now()
        candidates = [
            upload
            for upload in self._uploads
            if upload.arriving and upload.reserved >= least and now - upload.began >= _YOUNG
        ]
        slowest = min(candidates, key=lambda upload: upload.pace(now), default=None)
        if slowest is None or slowest.pace(now) >= pace:
            raise busy(resource)
        slowest.drop()

    def _drop(self, upload: Upload, timeout: asyncio.Timeout) -> None:
        self._uploads.discard(upload)
        timeout.reschedule(0)


def busy(resource: str) -> Unavailable:
    """Return the error for a request for which a resource has no capacity left."""
    return Unavailable(
        resource,
        "Too many large requests are in progress. Try again later.",
        headers={"Retry-After": "5"},
    )


def too_large() -> ServiceError:
    """Return the error for a body over the limit."""
    return ServiceError(
        "request_too_large", "The request is too large.", details={"limit_bytes": BODY_LIMIT}
    )


def _share_is_used() -> ServiceError:
    return ServiceError(
        "rate_limit_exceeded",
        "Too many large requests of this key or address are in progress. Try again later.",
    )


def _not_received() -> ServiceError:
    return ServiceError(
        "service_unavailable",
        "The request did not arrive in time. Nothing was sent.",
        headers={"Connection": "close"},
    )


def _now() -> float:
    return asyncio.get_running_loop().time()

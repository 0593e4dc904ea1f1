"""Logins: how fast an address can try keys, without keeping out others that share it.

A failed login does not count against its address, because a neighbour with a good key may share it.
Instead, keys that have not yet worked in this process take turns, and one that does not work keeps
its place for a while. So forged keys cost a bounded number of reads, and a new good key waits a few
seconds at most. A key that has worked before does not wait at all. It is still read, since it
may have been revoked.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

from pillarbox.domain.accounts.key import account_of_key, digest_of_key
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError, Unavailable
from relay import replies
from relay.admission import Admission
from relay.limits import ServerLimits
from relay.places import PlacesByName

#: How many keys that worked are remembered, as digests; the one unused for longest is forgotten.
_MAX_KNOWN: Final = 10_000


class LoginLimiter:
    """Authenticate keys, and limit how fast the clients of one address can try them."""

    def __init__(
        self,
        limits: ServerLimits,
        authenticate: Callable[[str, ClientOrigin], Awaitable[Principal]],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._delay = limits.failed_login_delay
        self._authenticate = authenticate
        self._sleep = sleep
        self._turns = PlacesByName(limits.logins_of_address)
        self._known: OrderedDict[str, None] = OrderedDict()

    async def authenticate(self, client: Admission, key_text: str) -> Principal:
        digest = digest_of_key(key_text)
        # A malformed key costs no read.
        if digest in self._known or account_of_key(key_text) is None:
            return await self._read(client, key_text, digest)
        async with self._turns.acquire(client.host):
            if client.ended:
                raise Unavailable("client")
            try:
                return await self._read(client, key_text, digest)
            except ServiceError as error:
                if error.code != "service_unavailable":
                    await self._sleep(self._delay)
                raise

    async def _read(self, client: Admission, key_text: str, digest: str) -> Principal:
        try:
            principal = await self._authenticate(key_text, client.origin)
        except ServiceError as error:
            if error.code in replies.KEY_ERRORS:
                self._known.pop(digest, None)
            raise
        self._known[digest] = None
        self._known.move_to_end(digest)
        if len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)
        return principal

"""Decides which connections a server keeps: limits for an address, an account and the whole server.

Before its login a connection counts for its address. After that it counts for its account, since
many people can share an address. A flood of connections that never log in does not keep out those
that do: the oldest connection without a login is closed for a new one.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from pillarbox.domain.client_origin import ClientOrigin, network_of
from relay import replies
from relay.limits import ServerLimits
from relay.replies import Reply


@dataclass(slots=True, eq=False)
class Admission:
    """A connection that the server keeps; `host` is what counts as its address."""

    host: str
    since: float
    #: End the connection with a reply.
    disconnect: Callable[[Reply], None] = field(repr=False)
    #: None until the client has logged in.
    account_id: str | None = None
    ended: bool = False
    #: Where its requests come from.
    origin: ClientOrigin = field(default_factory=lambda: ClientOrigin(""))


class ConnectionLimiter:
    """Limit the connections of each address and account, and of all together."""

    def __init__(self, limits: ServerLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        #: The number of open connections.
        self.count = 0
        #: Those that have not logged in, the oldest first.
        self._anonymous: dict[Admission, None] = {}
        self._anonymous_of: Counter[str] = Counter()
        self._of_address: Counter[str] = Counter()
        self._of_account: Counter[str] = Counter()

    def admit(self, address: str, disconnect: Callable[[Reply], None]) -> Admission | Reply:
        """Count a new connection, or return the reply that refuses it.

        If there are too many, the oldest one that has not logged in is disconnected instead, unless
        it is so young that it may be about to.
        """
        limits, host, now = self._limits, network_of(address), self._clock()
        too_many_of_address = (
            self._anonymous_of[host] >= limits.connections_of_address
            or self._of_address[host] >= limits.all_connections_of_address
        )
        if too_many_of_address and not self._make_room(now, replies.TOO_MANY_CONNECTIONS, host):
            return replies.TOO_MANY_CONNECTIONS
        if self.count >= limits.connections and not self._make_room(now, replies.SERVER_FULL):
            return replies.SERVER_FULL
        admission = Admission(host, now, disconnect, origin=ClientOrigin(address))
        self._anonymous[admission] = None
        self._anonymous_of[host] += 1
        self._of_address[host] += 1
        self.count += 1
        return admission

    def log_in(self, admission: Admission, account_id: str) -> bool:
        """Count a connection for its account; return False if the account has too many."""
        if admission.ended or self._of_account[account_id] >= self._limits.connections_of_account:
            return False
        self._no_longer_anonymous(admission)
        admission.account_id = account_id
        self._of_account[account_id] += 1
        return True

    def release(self, admission: Admission) -> None:
        """Stop counting a connection that has ended, if it is still counted."""
        if admission.ended:
            return
        admission.ended = True
        self.count -= 1
        _decrement(self._of_address, admission.host)
        if admission.account_id is None:
            self._no_longer_anonymous(admission)
        else:
            _decrement(self._of_account, admission.account_id)

    def _no_longer_anonymous(self, admission: Admission) -> None:
        del self._anonymous[admission]
        _decrement(self._anonymous_of, admission.host)

    def _make_room(self, now: float, reply: Reply, host: str | None = None) -> bool:
        """Disconnect the oldest connection that has not logged in; return whether there is one."""
        oldest = next((each for each in self._anonymous if host in {None, each.host}), None)
        if oldest is None or now - oldest.since < self._limits.login_grace:
            return False
        self.release(oldest)
        oldest.disconnect(reply)
        return True


def _decrement(counts: Counter[str], name: str) -> None:
    counts[name] -= 1
    if not counts[name]:
        del counts[name]

"""What one client may take of the server: time, connections, tries."""

from collections import Counter, OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final

from pillarbox.settings import Settings

MIB: Final = 1024 * 1024
_DEFAULTS: Final = Settings({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """The limits of a server; times in seconds, sizes in octets."""

    #: A message as it is written: two attachments of 5 MB in base64, with their text.
    message_size: int = 16 * MIB
    #: All messages in transit, each counted twice (see `framing.Content`).
    memory: int = _DEFAULTS.smtp_memory_mib * MIB
    connections: int = _DEFAULTS.smtp_connections
    connections_of_address: int = _DEFAULTS.smtp_connections_of_address
    handshake: float = 30
    #: From the greeting to a successful AUTH.
    authentication: float = 60
    #: From one command to the next (RFC 5321 section 4.5.3.2.7).
    idle: float = 300
    #: From DATA to the end of the message, and from AUTH on all together.
    content: float = 600
    session: float = 3_600
    #: Tries of AUTH in a session; of an address in ten minutes, in all its sessions.
    failed_logins: int = 3
    failed_logins_of_address: int = 30
    #: Commands that are refused, and commands that lead to no message.
    errors: int = 20
    idle_commands: int = 100
    #: Sessions that are in the middle of a message have so long at a shutdown.
    drain: float = _DEFAULTS.smtp_drain_seconds


class ConnectionLimiter:
    """Counts the connections and failed logins of each address.

    Of IPv6 a network of 64 bits counts as one address: that is what one host is given.
    """

    _PERIOD: Final = 600.0
    #: Addresses remembered for failed logins; the oldest go first.
    _REMEMBERED: Final = 10_000

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._open: Counter[str] = Counter()
        #: How many connections are open.
        self.count = 0
        self._failures: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def admit(self, address: str, now: float) -> bool:
        """Count a connection in, or give False: too many of them, or of failed logins."""
        place = _place(address)
        since, failures = self._failures.get(place, (now, 0))
        barred = failures >= self._limits.failed_logins_of_address and now - since < self._PERIOD
        if barred or self._open[place] >= self._limits.connections_of_address:
            return False
        self._open[place] += 1
        self.count += 1
        return True

    def leave(self, address: str) -> None:
        """Count a connection out."""
        place = _place(address)
        self._open[place] -= 1
        self.count -= 1
        if not self._open[place]:
            del self._open[place]

    def note_failure(self, address: str, now: float) -> None:
        """Remember a failed login."""
        place = _place(address)
        since, failures = self._failures.pop(place, (now, 0))
        if now - since >= self._PERIOD:
            since, failures = now, 0
        self._failures[place] = since, failures + 1
        if len(self._failures) > self._REMEMBERED:
            self._failures.popitem(last=False)


@lru_cache
def _place(address: str) -> str:
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped:
            return str(ip.ipv4_mapped)
        return str(IPv6Address(int(ip) >> 64 << 64))
    return address

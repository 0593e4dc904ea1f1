"""Limits on time, connections, login attempts and memory, and the counters that enforce them."""

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
    """The limits of one server process; times in seconds, sizes in octets."""

    #: A message as sent: two attachments of 5 MB in base64, with their text.
    message_size: int = 16 * MIB
    #: All messages in transit, each counted twice (see `framing.ContentBuffer`).
    memory: int = _DEFAULTS.smtp_memory_mib * MIB
    connections: int = _DEFAULTS.smtp_connections
    connections_of_address: int = _DEFAULTS.smtp_connections_of_address
    handshake: float = 30
    #: From the greeting to a successful AUTH.
    authentication: float = 60
    #: From one command to the next (RFC 5321 section 4.5.3.2.7).
    idle: float = 300
    #: From DATA to the end of the message.
    content: float = 600
    #: A whole session, once the client is logged in.
    session: float = 3_600
    #: Failed AUTH attempts in one session.
    failed_logins: int = 3
    #: Failed AUTH attempts in all sessions of an address, in ten minutes.
    failed_logins_of_address: int = 30
    #: Refused commands since the last accepted message.
    errors: int = 20
    #: Successful commands that led to no message, since the last accepted one.
    idle_commands: int = 100
    #: How long a shutdown waits for messages in progress.
    drain: float = _DEFAULTS.smtp_drain_seconds


class ConnectionLimiter:
    """Limit the connections and failed logins of each address.

    An IPv6 network of 64 bits counts as one address, since one host gets a whole network.
    """

    _PERIOD: Final = 600.0
    #: How many addresses with failed logins are remembered; the oldest are forgotten first.
    _MAX_ADDRESSES: Final = 10_000

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._open: Counter[str] = Counter()
        #: The number of open connections of all addresses.
        self.count = 0
        self._failures: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def admit(self, address: str, now: float) -> bool:
        """Count a new connection; return False if there are too many, or too many failed logins."""
        host = _host(address)
        since, failures = self._failures.get(host, (now, 0))
        barred = failures >= self._limits.failed_logins_of_address and now - since < self._PERIOD
        if barred or self._open[host] >= self._limits.connections_of_address:
            return False
        self._open[host] += 1
        self.count += 1
        return True

    def release(self, address: str) -> None:
        """Stop counting a connection that has ended."""
        host = _host(address)
        self._open[host] -= 1
        self.count -= 1
        if not self._open[host]:
            del self._open[host]

    def record_failed_login(self, address: str, now: float) -> None:
        """Count a failed login."""
        host = _host(address)
        since, failures = self._failures.pop(host, (now, 0))
        if now - since >= self._PERIOD:
            since, failures = now, 0
        self._failures[host] = since, failures + 1
        if len(self._failures) > self._MAX_ADDRESSES:
            self._failures.popitem(last=False)


class MemoryBudget:
    """The octets that all messages in transit may occupy.

    A message over the ceiling is refused; otherwise the system would kill the process.
    """

    def __init__(self, ceiling: int) -> None:
        self._ceiling = ceiling
        self._used = 0

    def has_room(self, size: int) -> bool:
        """Return whether `size` more octets fit now."""
        return self._used + size <= self._ceiling

    def reserve(self, size: int) -> bool:
        """Reserve octets; return False and reserve nothing if they do not fit."""
        if not self.has_room(size):
            return False
        self._used += size
        return True

    def release(self, size: int) -> None:
        """Return reserved octets."""
        self._used -= size


@lru_cache
def _host(address: str) -> str:
    """Return what counts as one address: IPv4, also if mapped, or an IPv6 network of 64 bits."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped:
            return str(ip.ipv4_mapped)
        return str(IPv6Address(int(ip) >> 64 << 64))
    return address

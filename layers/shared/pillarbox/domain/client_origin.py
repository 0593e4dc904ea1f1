"""Where a request came from. Every send loads this module, so it imports no library."""

import hmac
from collections.abc import Callable, Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final


class ClientOrigin:
    """Where a request came from, as its connection and its headers say.

    Anybody can send the headers to the gateway. So they count only with the edge's secret.
    """

    __slots__ = ("_address", "_edge_secret", "_seen_by_edge")

    def __init__(self, address: str, seen_by_edge: str = "", edge_secret: str = "") -> None:
        """Store the address of the connection, X-Pillarbox-Client and X-Pillarbox-Edge."""
        self._address = address
        self._seen_by_edge = seen_by_edge
        self._edge_secret = edge_secret

    def client(self, is_of_edge: Callable[[str], bool]) -> str:
        """Return the address of the client. `is_of_edge` returns whether a text is the secret."""
        if self._seen_by_edge and is_of_edge(self._edge_secret):
            return self._seen_by_edge
        return self._address


#: Bits of the networks that a provider usually gives to one customer.
_BLOCKS: Final = {4: 24, 6: 48}
#: The block of what is no address: all such clients share it.
_NOWHERE: Final = "nowhere"


@lru_cache
def network_of(address: str) -> str:
    """Return what one client has: an IPv4 address, or an IPv6 network of 64 bits.

    An IPv4 address that is mapped to IPv6 counts as itself. Text that is no address returns "".
    """
    parsed = _parse(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((int(parsed), 64), strict=False))
    return str(parsed or "")


def block_of(address: str) -> str:
    """Return the block of a public address: 24 bits of IPv4 or 48 bits of IPv6.

    This machine's own addresses have none: no request from elsewhere has one. Texts that are no
    addresses share a block, so its limits are the strictest.
    """
    parsed = _parse(address)
    if parsed is None:
        return _NOWHERE
    if parsed.is_loopback:
        return ""
    return str(ip_network((parsed, _BLOCKS[parsed.version]), strict=False))


def is_of_edge(given: str, known: str) -> bool:
    """Return whether a request has the edge's secret.

    Args:
        given: what the request has in X-Pillarbox-Edge.
        known: the secret, or two with a blank between while it changes.
    """
    sent = given.encode(errors="replace")
    return any(hmac.compare_digest(sent, one.encode()) for one in known.split())


def is_within(address: str, blocks: Iterable[str]) -> bool:
    """Return whether an address is in one of some blocks (CIDR). Text that is none is in no one."""
    parsed = _parse(address)
    return parsed is not None and any(parsed in ip_network(block) for block in blocks)


def _parse(address: str) -> IPv4Address | IPv6Address | None:
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return (parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None) or parsed

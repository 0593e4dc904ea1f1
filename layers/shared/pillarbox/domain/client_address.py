"""The address of a client, as limits count it."""

import hmac
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

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

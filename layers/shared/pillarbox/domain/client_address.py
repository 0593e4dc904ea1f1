"""The address of a client, as limits count it."""

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network


@lru_cache
def network_of(address: str) -> str:
    """Return what one client has: an IPv4 address, or an IPv6 network of 64 bits.

    An IPv4 address that is mapped to IPv6 counts as itself. Text that is no address returns "".
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return ""
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ip_network((int(parsed), 64), strict=False))

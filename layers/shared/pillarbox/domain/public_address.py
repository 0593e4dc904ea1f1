"""Whether an IP address belongs to the public internet.

`ipaddress.is_global` is not enough: it is true for multicast, for deprecated networks such as
site-local and 6to4 relays, and for IPv6 addresses that stand for a private IPv4 address.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

#: Networks for protocols that `is_global` lets pass (RFC 6890, 7450, 7526, 7534, 7535).
_PROTOCOLS: Final = tuple(
    IPv4Network(text)
    for text in (
        "192.0.0.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.175.48.0/24",
    )
)
#: The only IPv6 addresses that are assigned as global unicast (RFC 4291 section 2.4).
_UNICAST: Final = IPv6Network("2000::/3")
#: IETF protocols with Teredo, 6to4, AS112, and both networks for documentation.
_NOT_PUBLIC: Final = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)
#: An IPv4 address behind an IPv6-only network (RFC 6052 section 2.1).
_NAT64: Final = IPv6Network("64:ff9b::/96")


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is public unicast.

    An IPv6 address that stands for IPv4 addresses is public if all of these are.
    """
    if isinstance(address, IPv4Address):
        return (
            address.is_global
            and not address.is_multicast
            and not address.is_reserved
            and not any(address in network for network in _PROTOCOLS)
        )
    if inner := [*_inner(address)]:
        return all(map(is_public, inner))
    return (
        address.scope_id is None
        and address in _UNICAST
        and address.is_global
        and not any(address in network for network in _NOT_PUBLIC)
    )


def _inner(address: IPv6Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses that an IPv6 address stands for."""
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    elif address.sixtofour:
        yield address.sixtofour
    elif address.teredo:  # the server's and the client's
        yield from address.teredo
    elif address in _NAT64:
        yield IPv4Address(int(address) & 0xFFFF_FFFF)

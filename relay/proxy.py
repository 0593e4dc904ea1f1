"""The PROXY protocol, version 2: a load balancer reports the address of its client."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from struct import Struct
from typing import Final

type Networks = tuple[IPv4Network | IPv6Network, ...]

_SIGNATURE: Final = b"\r\n\r\n\0\r\nQUIT\n"
#: Signature, version and command, family and transport, length of the rest.
_HEAD: Final = Struct("!12sBBH")
_LOCAL: Final = 0x20
_PROXY: Final = 0x21
#: The octets of one address, by family and transport: TCP over IPv4 and IPv6.
_ADDRESS_SIZES: Final = {0x11: 4, 0x21: 16}
#: The addresses and the options that load balancers add take a few hundred octets.
_MAX_LENGTH: Final = 2_048


class ProxyHeaderError(Exception):
    """The connection does not begin with a valid header, so its client is unknown."""


@dataclass(frozen=True, slots=True)
class ProxyHeader:
    """The client's address, None for the load balancer's own checks, and the octets that follow."""

    address: str | None
    rest: bytes


def is_proxy(address: str, proxies: Networks) -> bool:
    """Return whether a peer is a load balancer, which must send a header."""
    ip = ip_address(address)
    return any(ip in network for network in proxies)


def read_header(octets: bytes | bytearray) -> ProxyHeader | None:
    """Read the header at the start of a connection; return None if it is incomplete."""
    if not _SIGNATURE.startswith(octets[: len(_SIGNATURE)]):
        raise ProxyHeaderError
    if len(octets) < _HEAD.size:
        return None
    _, command, family, length = _HEAD.unpack_from(octets)
    size = _ADDRESS_SIZES.get(family, 0)
    # Two addresses and two ports of two octets. Everything after them is optional.
    if command not in {_LOCAL, _PROXY} or length > _MAX_LENGTH:
        raise ProxyHeaderError
    if command == _PROXY and (not size or length < 2 * size + 4):
        raise ProxyHeaderError
    end = _HEAD.size + length
    if len(octets) < end:
        return None
    address = None
    if command == _PROXY:
        address = str(ip_address(bytes(octets[_HEAD.size : _HEAD.size + size])))
    return ProxyHeader(address, bytes(octets[end:]))

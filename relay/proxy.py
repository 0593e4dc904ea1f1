"""The PROXY protocol, version 2: how a load balancer tells who is connected to it."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from struct import Struct
from typing import Final

type Networks = tuple[IPv4Network | IPv6Network, ...]

_SIGNATURE: Final = b"\r\n\r\n\0\r\nQUIT\n"
#: Signature, version and command, family and transport, octets that follow.
_HEAD: Final = Struct("!12sBBH")
_LOCAL: Final = 0x20
_PROXY: Final = 0x21
#: Octets of one address, by family and transport: TCP over IPv4 and IPv6.
_ADDRESS: Final = {0x11: 4, 0x21: 16}
#: Addresses and the options that load balancers add take a few hundred octets.
_LONGEST: Final = 2_048


class ProxyHeaderError(Exception):
    """What comes first is no header of the protocol, so it cannot be told who is there."""


@dataclass(frozen=True, slots=True)
class ProxyHeader:
    """The client's address, None for the load balancer's own checks, and what follows."""

    address: str | None
    rest: bytes


def is_proxy(address: str, proxies: Networks) -> bool:
    """Whether a peer may speak for others."""
    ip = ip_address(address)
    return any(ip in network for network in proxies)


def read_header(octets: bytes | bytearray) -> ProxyHeader | None:
    """Read the header off the front; None when it is not complete.

    Raises:
        NotProxied: it is none, or not of TCP.
    """
    if not _SIGNATURE.startswith(octets[: len(_SIGNATURE)]):
        raise ProxyHeaderError
    if len(octets) < _HEAD.size:
        return None
    _, command, family, length = _HEAD.unpack_from(octets)
    size = _ADDRESS.get(family, 0)
    # Two addresses and two ports of two octets; whatever follows them is optional.
    if command not in {_LOCAL, _PROXY} or length > _LONGEST:
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

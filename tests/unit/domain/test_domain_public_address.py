"""Which IP addresses are public."""

from ipaddress import ip_address

import pytest

from pillarbox.domain.public_address import is_public

PUBLIC = (
    *("1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.0", "192.0.1.0"),
    *("223.255.255.255", "2606:4700:4700::1111", "2a00:1450:4001:80b::200e"),
    "::ffff:8.8.8.8",  # IPv4-mapped
    "64:ff9b::8.8.8.8",  # NAT64
    "2002:808:808::1",  # 6to4
    "2001:0:808:808::f7f7:f7f7",  # Teredo: the server and the client are 8.8.8.8
)
NOT_PUBLIC = (
    "0.0.0.0",  # noqa: S104  no address to bind
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",  # shared by carriers
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",  # the metadata of a machine in AWS
    "169.254.170.2",  # the credentials of a container
    *("172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.9", "192.0.2.1", "192.31.196.1"),
    *("192.52.193.1", "192.88.99.1", "192.168.0.1", "192.175.48.1", "198.18.0.1", "198.51.100.1"),
    *("203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1"),
    "::127.0.0.1",  # IPv4-compatible
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:0:127.0.0.1",  # IPv4-translated (SIIT)
    "64:ff9b::169.254.169.254",
    "64:ff9b::127.0.0.1",
    "64:ff9b:1::8.8.8.8",  # NAT64 of one's own network
    "100::1",
    "2001:0:7f00:1::f7f7:f7f7",  # Teredo with a server on loopback
    "2001:0:808:808::80ff:fffe",  # Teredo with a client on loopback
    *("2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1"),
    "2002:7f00:1::1",  # 6to4 of 127.0.0.1
    *("2002:a9fe:a9fe::1", "2620:4f:8000::1", "3fff::1", "4000::1", "5f00::1", "fc00::1"),
    "fd00:ec2::254",  # the metadata over IPv6
    *("fe80::1", "fe80::1%eth0", "2606:4700:4700::1111%1", "fec0::1", "ff02::1", "ff0e::1"),
)


@pytest.mark.parametrize("text", PUBLIC)
def test_public_unicast_is_public(text: str) -> None:
    """Global unicast is public, and so is IPv6 that stands for public IPv4."""
    assert is_public(ip_address(text))


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_everything_else_is_not(text: str) -> None:
    """Networks for special purposes are not public, nor is IPv6 that stands for such IPv4."""
    assert not is_public(ip_address(text))

"""The PROXY protocol, version 2: which peers may use it and what the relay does with it."""

import contextlib
import struct
from ipaddress import ip_address, ip_network

import pytest

from relay.proxy import ProxyHeader, ProxyHeaderError, read_header
from tests.loops import for_each
from tests.relay.running_relay import KEY, plain, serve

LOOPBACK = (ip_network("127.0.0.0/8"),)
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def proxy_header(address: str, options: bytes = b"\x04\x00\x03abc") -> bytes:
    packed = ip_address(address).packed
    family = {4: b"\x11", 16: b"\x21"}[len(packed)]
    payload = packed + packed + struct.pack("!HH", 40_000, 587) + options
    return SIGNATURE + b"\x21" + family + struct.pack("!H", len(payload)) + payload


def test_limits_apply_to_the_reported_address() -> None:
    with (
        serve(proxies=LOOPBACK, connections_of_address=1) as relay,
        contextlib.ExitStack() as open_connections,
    ):
        for number in range(3):
            client = open_connections.enter_context(relay.connect())
            client.send(proxy_header(f"192.0.2.{number}"))
            assert client.reply().startswith(b"220 ")
        with relay.connect() as client:
            client.send(proxy_header("192.0.2.1"))
            assert client.reply().startswith(b"421 4.7.0 ")


def test_session_through_a_proxy() -> None:
    with serve(proxies=LOOPBACK) as relay, relay.connect() as client:
        for octet in proxy_header("192.0.2.1"):
            client.send(bytes((octet,)))
        assert client.reply().startswith(b"220 ")
        client.start_tls()
        client.command("EHLO client.example")
        assert client.command(f"AUTH PLAIN {plain(KEY)}").startswith(b"235 ")
        assert client.deliver().startswith(b"250 ")


@for_each(
    "octets",
    [
        b"EHLO client.example\r\n",
        b"PROXY TCP4 192.0.2.1 127.0.0.1 40000 587\r\n",
        SIGNATURE + b"\x31\x11\x00\x0c" + bytes(12),
        SIGNATURE + b"\x21\x31\x00\x0c" + bytes(12),
        SIGNATURE + b"\x21\x12\x00\x0c" + bytes(12),
        SIGNATURE + b"\x21\x00\x00\x00",
        SIGNATURE + b"\x22\x11\x00\x0c" + bytes(12),
        SIGNATURE + b"\x21\x11\x00\x02" + bytes(2),
        SIGNATURE + b"\x21\x21\x00\x23" + bytes(35),
        SIGNATURE + b"\x21\x11\xff\xff",
    ],
)
def test_invalid_header(octets: bytes) -> None:
    """A connection from a load balancer without a valid header is closed."""
    with serve(proxies=LOOPBACK) as relay, relay.connect() as client:
        client.send(octets)
        assert client.reply_or_end() == b""


@pytest.mark.parametrize(
    ("family", "source", "destination"),
    [(b"\x11", "192.0.2.1", "198.51.100.2"), (b"\x21", "2001:db8::1", "2001:db8:1::2")],
)
def test_header_of_the_smallest_length(family: bytes, source: str, destination: str) -> None:
    payload = ip_address(source).packed + ip_address(destination).packed + b"\1\2\3\4"
    header = SIGNATURE + b"\x21" + family + struct.pack("!H", len(payload)) + payload
    for end in range(len(header)):
        assert read_header(header[:end]) is None
    assert read_header(header) == ProxyHeader(source, b"")
    assert read_header(header + b"NOOP") == ProxyHeader(source, b"NOOP")


@pytest.mark.parametrize("length", [b"\x00\x0b", b"\x08\x01"])
def test_length_of_the_header(length: bytes) -> None:
    """A length without room for the addresses, or above 2,048 octets, is refused at once."""
    with pytest.raises(ProxyHeaderError):
        read_header(SIGNATURE + b"\x21\x11" + length)


def test_commands_of_the_header() -> None:
    addresses = {}
    for command in range(256):
        with contextlib.suppress(ProxyHeaderError):
            header = read_header(SIGNATURE + bytes((command, 0x11, 0, 12, 192, 0, 2, 1)) + bytes(8))
            addresses[command] = header and header.address
    assert addresses == {0x20: None, 0x21: "192.0.2.1"}


def test_local_header_without_addresses() -> None:
    assert read_header(SIGNATURE + b"\x20\x00\x00\x00") == ProxyHeader(None, b"")
    with pytest.raises(ProxyHeaderError):
        read_header(SIGNATURE + b"\x21\x00\x00\x0c" + bytes(12))


def test_options_of_a_load_balancer() -> None:
    with serve(proxies=LOOPBACK) as relay:
        with relay.connect() as client:
            client.send(proxy_header("192.0.2.1", bytes(2_048 - 12)))
            assert client.reply().startswith(b"220 ")
        with relay.connect() as client:
            client.send(proxy_header("192.0.2.1", bytes(2_048 - 11)))
            assert client.reply_or_end() == b""


def test_proxy_header_from_others() -> None:
    with serve() as relay, relay.connect_plaintext() as client:
        client.send(proxy_header("192.0.2.1"))
        replies = list(iter(client.reply, b""))
        assert [reply[:9] for reply in replies] == [b"500 5.5.1", b"500 5.5.1", b"500 5.5.2"]

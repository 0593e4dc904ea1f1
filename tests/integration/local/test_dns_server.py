"""The DNS stand-in answers a real resolver over real sockets."""

import asyncio
from collections.abc import Awaitable, Callable

import dns.asyncquery
import dns.asyncresolver
import dns.exception
import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.resolver
import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.dns import DnsServer, answer
from tests.loops import for_each


def ask[T](question: Callable[[dns.asyncresolver.Resolver], Awaitable[T]]) -> T:
    """Start a server and send it the queries of one function."""

    async def run() -> T:
        server = DnsServer()
        host, port = await server.start()
        try:
            resolver = dns.asyncresolver.Resolver(configure=False)
            resolver.nameservers = [host]
            resolver.port = port
            resolver.lifetime = 5.0
            return await question(resolver)
        finally:
            await server.stop()

    return asyncio.run(run())


LONGEST = ".".join(["a" * 63] * 3 + ["b" * 60])


@pytest.mark.parametrize("tcp", [False, True])
@for_each(
    ("name", "kind", "record"),
    [
        *((name, "MX", f"10 mx.{name}.") for name in ("example.com", "xn--mnchen-3ya.example")),
        ("a.b.example.org", "MX", "10 mx.a.b.example.org."),
        ("notslow.example", "MX", "10 mx.notslow.example."),  # it ends as a slow one does
        (LONGEST, "MX", f"10 {LONGEST}."),
        # RFC 7505: they accept no mail.
        *((name, "MX", "0 .") for name in ("nullmx.example", "sub.nullmx.example")),
        *((name, "A", "127.0.0.1") for name in ("mx.example.com", "nomx.example")),
        *((name, "AAAA", "::1") for name in ("example.com", "a.nullmx.example")),
    ],
)
def test_names_have_records(name: str, kind: str, record: str, *, tcp: bool) -> None:
    found = ask(lambda resolver: resolver.resolve(name, kind, tcp=tcp))
    assert [one.to_text() for one in found] == [record]


@pytest.mark.parametrize("name", ["invalid", "nobody.invalid", "a.b.INVALID"])
def test_invalid_names_do_not_exist(name: str) -> None:
    with pytest.raises(dns.resolver.NXDOMAIN) as caught:
        ask(lambda resolver: resolver.resolve(name, "MX"))
    (response,) = caught.value.kwargs["responses"].values()
    assert response.authority[0].rdtype.name == "SOA"


@pytest.mark.parametrize("name", ["nomx.example", "sub.nomx.example"])
def test_names_without_a_mail_server(name: str) -> None:
    with pytest.raises(dns.resolver.NoAnswer) as caught:
        ask(lambda resolver: resolver.resolve(name, "MX"))
    response = caught.value.kwargs["response"]
    assert response.rcode() == dns.rcode.NOERROR
    assert response.authority[0].rdtype.name == "SOA"


@pytest.mark.parametrize("name", ["broken.example", "sub.broken.example"])
def test_broken_names(name: str) -> None:
    with pytest.raises(dns.resolver.NoNameservers, match="SERVFAIL"):
        ask(lambda resolver: resolver.resolve(name, "MX"))


@pytest.mark.parametrize("name", ["slow.example", "sub.slow.example"])
def test_slow_names(name: str) -> None:
    with pytest.raises(dns.resolver.LifetimeTimeout):
        ask(lambda resolver: resolver.resolve(name, "MX", lifetime=0.3))


def test_one_tcp_connection_carries_several_queries() -> None:
    async def twice(resolver: dns.asyncresolver.Resolver) -> list[int]:
        host, port = str(resolver.nameservers[0]), resolver.port
        reader, writer = await asyncio.open_connection(host, port)
        lengths = []
        for name in ("a.example", "b.example"):
            query = dns.message.make_query(name, "MX").to_wire()
            writer.write(len(query).to_bytes(2) + query)
            length = int.from_bytes(await reader.readexactly(2))
            lengths.append(len(dns.message.from_wire(await reader.readexactly(length)).answer))
        writer.close()
        await writer.wait_closed()
        return lengths

    assert ask(twice) == [1, 1]


def test_edns_is_answered_with_edns() -> None:
    """A response has EDNS only if the query has it (RFC 6891 section 7)."""
    with_edns = answer(dns.message.make_query("example.com", "MX", use_edns=0).to_wire())
    without = answer(dns.message.make_query("example.com", "MX", use_edns=False).to_wire())
    assert with_edns is not None
    assert without is not None
    assert dns.message.from_wire(with_edns).edns == 0
    assert dns.message.from_wire(without).edns == -1


def test_other_operations_are_not_implemented() -> None:
    query = dns.message.make_query("example.com", "MX")
    query.set_opcode(dns.opcode.NOTIFY)
    reply = answer(query.to_wire())
    assert reply is not None
    assert dns.message.from_wire(reply).rcode() == dns.rcode.NOTIMP


def test_answers_are_never_answered() -> None:
    """What carries the answer's flag is dropped, or two servers could go on for ever."""
    query = dns.message.make_query("example.com", "MX")
    query.flags |= dns.flags.QR
    assert answer(query.to_wire()) is None


@given(st.binary(max_size=600))
def test_any_bytes_raise_no_error(packet: bytes) -> None:
    answer(packet)


@given(st.binary(min_size=1, max_size=60), st.integers(0, 65535))
def test_damaged_queries_raise_no_error(tail: bytes, counts: int) -> None:
    answer(b"\x12\x34\x01\x00" + counts.to_bytes(2) + b"\x00" * 6 + tail)


def test_a_port_in_use_is_an_error() -> None:
    async def run() -> None:
        first, second = DnsServer(), DnsServer()
        _, port = await first.start()
        try:
            with pytest.raises(OSError, match="in use"):
                await second.start(port=port)
        finally:
            await first.stop()
            await second.stop()

    asyncio.run(run())

"""A stand-in for the DNS: every name accepts mail, except a few that fail on purpose.

| name and its subdomains | answer |
|---|---|
| `invalid`        | NXDOMAIN (RFC 6761 section 6.4) |
| `nomx.example`   | addresses, but no MX |
| `nullmx.example` | the null MX (RFC 7505) |
| `broken.example` | SERVFAIL |
| `slow.example`   | no answer |
| any other        | `10 mx.<name>`, 127.0.0.1 and ::1 |

A zone may know better: `local/ses/published.py` has the records of sending domains.

dnspython parses and writes the messages. It has no server, so this module opens the sockets.

Start programs that use this module with `python -m`: a script in this folder would import this
file as `dns` instead of dnspython.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final, cast

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

_INVALID: Final = dns.name.from_text("invalid.")
_NO_MX: Final = dns.name.from_text("nomx.example.")
_NULL_MX: Final = dns.name.from_text("nullmx.example.")
_BROKEN: Final = dns.name.from_text("broken.example.")
_SLOW: Final = dns.name.from_text("slow.example.")
_TTL: Final = 60  # seconds
_PAYLOAD: Final = 1232  # bytes; fits every network path (DNS flag day 2020)
_TCP_IDLE: Final = 10.0  # seconds
_ADDRESSES: Final = {dns.rdatatype.A: "127.0.0.1", dns.rdatatype.AAAA: "::1"}


#: The values of a name and a type, none if there are none, or None if the zone does not know them.
type Zone = Callable[[str, str], Sequence[str] | None]


def _no_zone(_name: str, _kind: str) -> None:
    return None


class DnsServer:
    """Answers over UDP and TCP on one port, in the event loop that starts it."""

    def __init__(self, zone: Zone = _no_zone) -> None:
        """Store what knows better than the table above."""
        self._zone = zone
        self._udp: asyncio.DatagramTransport | None = None
        self._tcp: asyncio.Server | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> tuple[str, int]:
        """Listen; port 0 means any port that is free for both protocols.

        Returns:
            The address and the port.
        """
        loop = asyncio.get_running_loop()
        for attempts_left in range(9, -1, -1):
            udp, _ = await loop.create_datagram_endpoint(
                lambda: _Udp(self._zone), local_addr=(host, port)
            )
            bound: int = udp.get_extra_info("sockname")[1]
            try:
                self._tcp = await asyncio.start_server(partial(_serve_tcp, self._zone), host, bound)
            except OSError:  # another program uses this TCP port
                udp.close()
                if port or not attempts_left:
                    raise
            else:
                self._udp = udp
                return host, bound
        raise AssertionError("the last attempt returns or raises")

    async def stop(self) -> None:
        """Close both sockets and every open connection."""
        if self._udp:
            self._udp.close()
        if self._tcp:
            self._tcp.close()
            self._tcp.close_clients()
            await self._tcp.wait_closed()
        self._udp = self._tcp = None


@asynccontextmanager
async def answering_udp(host: str, port: int, zone: Zone = _no_zone) -> AsyncIterator[None]:
    """Answer over UDP only, until the block ends; another server may use the port over TCP."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: _Udp(zone), local_addr=(host, port))
    try:
        yield
    finally:
        transport.close()


class _Udp(asyncio.DatagramProtocol):
    _transport: asyncio.DatagramTransport

    def __init__(self, zone: Zone) -> None:
        self._zone = zone

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if (response := answer(data, self._zone)) is not None:
            self._transport.sendto(response, addr)


async def _serve_tcp(
    zone: Zone, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer each message; two bytes before it hold its length (RFC 1035 section 4.2.2)."""
    with suppress(asyncio.IncompleteReadError, ConnectionError, TimeoutError):
        while True:
            async with asyncio.timeout(_TCP_IDLE):
                query = await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
            if (response := answer(query, zone)) is not None:
                writer.write(len(response).to_bytes(2) + response)
                await writer.drain()
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def answer(packet: bytes, zone: Zone = _no_zone) -> bytes | None:
    """Return the response to a packet, or None if it gets none.

    Only a query gets a response: two servers that answered responses would never stop.
    """
    try:
        query = dns.message.from_wire(packet)
        # A packet that is itself a response raises FormError here.
        response = dns.message.make_response(query, our_payload=_PAYLOAD)
    except dns.exception.DNSException:
        return None
    response.flags |= dns.flags.AA
    if query.opcode() != dns.opcode.QUERY:
        response.set_rcode(dns.rcode.NOTIMP)
    elif len(query.question) != 1:
        response.set_rcode(dns.rcode.FORMERR)
    elif query.question[0].rdclass != dns.rdataclass.IN:
        response.set_rcode(dns.rcode.REFUSED)
    elif query.question[0].name.is_subdomain(_SLOW):
        return None
    else:
        _fill(response, query.question[0].name, query.question[0].rdtype, zone)
    return response.to_wire()


def _fill(
    response: dns.message.Message, name: dns.name.Name, rdtype: dns.rdatatype.RdataType, zone: Zone
) -> None:
    records = zone(name.to_text(omit_final_dot=True).lower(), dns.rdatatype.to_text(rdtype))
    if records is not None:
        if records:
            response.answer.append(dns.rrset.from_text(name, _TTL, "IN", rdtype, *records))
        else:
            response.authority.append(_soa(name))
        return
    if name.is_subdomain(_BROKEN):
        response.set_rcode(dns.rcode.SERVFAIL)
        return
    if name.is_subdomain(_INVALID):
        response.set_rcode(dns.rcode.NXDOMAIN)
        record = None
    elif rdtype == dns.rdatatype.MX:
        record = _mx(name)
    else:
        record = _ADDRESSES.get(rdtype)
    if record is None:
        response.authority.append(_soa(name))
    else:
        response.answer.append(dns.rrset.from_text(name, _TTL, "IN", rdtype, record))


def _mx(name: dns.name.Name) -> str | None:
    if name.is_subdomain(_NO_MX):
        return None
    if name.is_subdomain(_NULL_MX):
        return "0 ."
    try:
        return f"10 {dns.name.Name((b'mx', *name.labels))}"
    except dns.name.NameTooLong:
        return f"10 {name}"


def _soa(name: dns.name.Name) -> dns.rrset.RRset:
    """Return the SOA, which limits the caching of a negative response (RFC 2308 section 3)."""
    zone = dns.name.Name(name.labels[-2:]) if len(name.labels) > 1 else dns.name.root
    text = f"ns.localhost. hostmaster.localhost. 1 3600 600 86400 {_TTL}"
    return dns.rrset.from_text(zone, _TTL, "IN", "SOA", text)

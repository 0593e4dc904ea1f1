"""A connection of the relay without a socket: its clock and transport are those of the test."""

import asyncio
import ipaddress

from relay.connection import Connection
from relay.limits import ServerLimits
from relay.session import ServerContext
from relay.tls import make_context
from tests.relay.running_relay import (
    KEY,
    SENDER,
    TO,
    ManualClock,
    RecordingService,
    certificate,
    plain,
)
from tests.relay.tls_client import TlsClient

#: A moment that is not zero.
START = 1_000.0
LIMITS = ServerLimits(handshake=30, authentication=60, idle=300, content=600, session=3_600)


class Transport(asyncio.Transport):
    """Keeps what is written, and whether the connection was closed."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 40_000)})
        self.written = b""
        self.aborted = self.half_closed = self.closed = self.reading = False
        #: What `write_eof` raises.
        self.fault: OSError | None = None

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def write_eof(self) -> None:
        if self.fault:
            raise self.fault
        self.half_closed = True

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted or self.closed

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


class Peer:
    """A client of one connection."""

    def __init__(self, *, proxied: bool = False, limits: ServerLimits = LIMITS) -> None:
        self.clock, self.transport = ManualClock(START), Transport()
        self.service, self.connections = RecordingService(), set[Connection]()
        self.context = ServerContext(
            name="relay.example", limits=limits, service=self.service, clock=self.clock
        )
        tls_context = make_context(certificate())
        proxies = (ipaddress.ip_network("127.0.0.0/8"),) if proxied else ()
        self.connection = Connection(self.context, proxies, lambda: tls_context, self.connections)
        self.connection.connection_made(self.transport)
        self._tls: TlsClient | None = None

    def send(self, octets: bytes) -> bytes:
        """Send octets, inside TLS if it has begun, and return what the server has answered."""
        self.connection.data_received(self._tls.record(octets) if self._tls else octets)
        return self.answer()

    def answer(self) -> bytes:
        """Return what the server has written since the last call."""
        written, self.transport.written = self.transport.written, b""
        return self._tls.read(written) if self._tls and written else written

    def start_tls(self) -> None:
        """Begin TLS, and make the handshake."""
        self.send(b"STARTTLS\r\n")
        tls = TlsClient()
        self.connection.data_received(tls.handshake())
        self.connection.data_received(tls.handshake(self.answer()))
        self._tls = tls

    async def log_in(self) -> None:
        """Log in inside TLS."""
        self.start_tls()
        self.send(b"EHLO client.example\r\n")
        self.send(f"AUTH PLAIN {plain(KEY)}\r\n".encode())
        await asyncio.sleep(0)

    async def begin_message(self) -> None:
        """Log in, and begin a message."""
        await self.log_in()
        for command in (f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>", "DATA"):
            self.send(f"{command}\r\n".encode())
            await asyncio.sleep(0)

    def wait(self, seconds: float) -> None:
        """Let time pass, and check the deadline."""
        self.clock.now += seconds
        self.connection.check_deadline(self.clock.now)

    @property
    def tls_ended(self) -> bool:
        """Whether the server has announced the end of TLS."""
        return self._tls is not None and self._tls.ended

    @property
    def open(self) -> bool:
        """Whether the server has neither closed nor begun to close."""
        return not (self.transport.aborted or self.transport.half_closed)

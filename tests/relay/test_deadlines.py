"""Each deadline of a connection, to the second, with a clock and a transport of the test."""

import asyncio
import ipaddress
from collections.abc import Callable
from dataclasses import replace

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

START = 1_000.0
LIMITS = ServerLimits(handshake=30, authentication=60, idle=300, content=600, session=3_600)
TIMED_OUT = b"421 4.4.2 "


class Transport(asyncio.Transport):
    """Keeps what is written, and whether the connection was closed."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 40_000)})
        self.written = b""
        self.aborted = self.half_closed = self.reading = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def write_eof(self) -> None:
        self.half_closed = True

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


class Peer:
    """A client of one connection."""

    def __init__(
        self, clock: ManualClock, *, proxied: bool = False, limits: ServerLimits = LIMITS
    ) -> None:
        self.clock, self.transport = clock, Transport()
        context = ServerContext(
            name="relay.example", limits=limits, service=RecordingService(), clock=clock
        )
        tls_context = make_context(certificate())
        proxies = (ipaddress.ip_network("127.0.0.0/8"),) if proxied else ()
        self.connection = Connection(context, proxies, lambda: tls_context, set())
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

    def wait(self, seconds: float) -> None:
        """Let time pass, and check the deadline."""
        self.clock.now += seconds
        self.connection.check_deadline(self.clock.now)

    @property
    def open(self) -> bool:
        """Whether the server has neither closed nor begun to close."""
        return not (self.transport.aborted or self.transport.half_closed)


def in_loop(scenario: Callable[[ManualClock], object]) -> None:
    """Run a scenario whose clock starts at a moment that is not zero."""

    async def run() -> None:
        result = scenario(ManualClock(START))
        if asyncio.iscoroutine(result):
            await result

    asyncio.run(run())


def test_proxy_header_that_does_not_come() -> None:
    """A load balancer that sends no PROXY header is cut off after the time of a handshake."""

    def scenario(clock: ManualClock) -> None:
        peer = Peer(clock, proxied=True)
        peer.wait(LIMITS.handshake)
        assert peer.open
        peer.wait(1)
        assert peer.transport.aborted

    in_loop(scenario)


def test_silent_client() -> None:
    """A client that does not log in gets 421 after 60 seconds, also if it sends commands."""

    def scenario(clock: ManualClock) -> None:
        peer = Peer(clock)
        peer.wait(LIMITS.authentication - 1)
        peer.send(b"EHLO client.example\r\n")
        peer.wait(1)
        assert peer.open
        peer.wait(1)
        assert peer.answer().startswith(TIMED_OUT)
        assert peer.transport.half_closed

    in_loop(scenario)


def test_handshake_that_does_not_begin() -> None:
    """A client that says STARTTLS and sends nothing is cut off after 30 seconds."""

    def scenario(clock: ManualClock) -> None:
        peer = Peer(clock)
        peer.send(b"STARTTLS\r\n")
        peer.wait(LIMITS.handshake)
        assert peer.open
        peer.wait(1)
        assert peer.transport.aborted

    in_loop(scenario)


def test_after_the_handshake() -> None:
    """Once TLS is established, the time for a command counts instead of that of the handshake."""

    def scenario(clock: ManualClock) -> None:
        peer = Peer(clock, limits=replace(LIMITS, idle=40))
        peer.start_tls()
        peer.wait(40)
        assert peer.open
        peer.wait(1)
        assert peer.transport.half_closed

    in_loop(scenario)


def test_idle_client() -> None:
    """A client that has logged in gets 421 after 300 seconds without a command."""

    async def scenario(clock: ManualClock) -> None:
        peer = Peer(clock)
        await peer.log_in()
        peer.wait(LIMITS.idle)
        assert peer.open
        assert peer.send(b"NOOP\r\n").startswith(b"250 ")
        peer.wait(LIMITS.idle)
        assert peer.open
        peer.wait(1)
        assert peer.transport.half_closed

    in_loop(scenario)


def test_long_session() -> None:
    """A session ends an hour after its start, even if the client sends commands."""

    async def scenario(clock: ManualClock) -> None:
        peer = Peer(clock)
        await peer.log_in()
        for _ in range(12):
            peer.wait(LIMITS.idle)
            assert peer.open
            peer.send(b"NOOP\r\n")
        peer.wait(1)
        assert peer.transport.half_closed

    in_loop(scenario)


def test_message_in_progress() -> None:
    """A message that arrives fast enough may take 600 seconds, also past the idle limit."""

    async def scenario(clock: ManualClock) -> None:
        peer = Peer(clock)
        await peer.log_in()
        for command in (f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>", "DATA"):
            peer.send(f"{command}\r\n".encode())
            await asyncio.sleep(0)
        for _ in range(10):
            peer.send((b"x" * 98 + b"\r\n") * 400)
            peer.wait(60)
            assert peer.open
        peer.wait(1)
        assert peer.transport.half_closed

    in_loop(scenario)


def test_last_reply_is_read() -> None:
    """After the last reply the client has 5 seconds to disconnect."""

    def scenario(clock: ManualClock) -> None:
        peer = Peer(clock)
        peer.connection.drain()
        assert peer.answer().endswith(b"421 4.3.2 Shutting down; connect again\r\n")
        peer.wait(5)
        assert not peer.transport.aborted
        peer.wait(1)
        assert peer.transport.aborted

    in_loop(scenario)

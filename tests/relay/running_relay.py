"""A relay on 127.0.0.1, in the event loop used in production, and an SMTP client for tests."""

import asyncio
import contextlib
import datetime as dt
import functools
import ipaddress
import smtplib
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError
from relay.limits import ServerLimits
from relay.memory import MemoryBudget
from relay.server import Server
from relay.session import ServerContext
from relay.tls import Certificate, make_context
from tests.fakes import builders

#: A constant, since the names of parametrized tests contain it.
KEY = "bx_live_acct000000010123456789abcdefghjkmnpqrstvwxyz56c98250"
SENDER = builders.SENDER
TO = "ann@example.com"
QUEUED_ID = "01936f5e-0000-7000-8000-000000000000"
MESSAGE = f"From: {SENDER}\r\nSubject: Hello\r\n\r\nHello\r\n".encode()
#: Seconds to wait for an event; only a failing test waits so long.
PATIENCE = 60


@functools.cache
def certificate() -> Certificate:
    """Return a self-signed certificate for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    return Certificate(
        signed.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def trusting_context() -> ssl.SSLContext:
    """Return a client's TLS context that trusts only the certificate above."""
    return ssl.create_default_context(cadata=certificate().chain.decode())


@dataclass
class ManualClock:
    """A clock that only a test moves."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class RecordingService:
    """A `SubmissionService` that knows one key and records the accepted messages."""

    accepted: list[tuple[tuple[str, ...], bytes]] = field(default_factory=list)
    principal: Principal = field(
        default_factory=lambda: Principal(builders.api_key(KEY), builders.account())
    )
    #: If set, `authenticate` raises it.
    key_fault: Exception | None = None
    #: If set, `submit` raises it.
    fault: Exception | None = None
    #: Address -> what `check_recipient` raises.
    refused: dict[str, ServiceError] = field(default_factory=dict)
    #: `submit` waits for it. It is set unless a test clears it.
    gate: threading.Event = field(default_factory=threading.Event)
    entered: threading.Event = field(default_factory=threading.Event)
    authentications: int = 0
    #: Where each call came from.
    origins: list[ClientOrigin] = field(default_factory=list)
    #: More keys that it knows.
    others: dict[str, Principal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.gate.set()

    async def authenticate(self, key_text: str, origin: ClientOrigin) -> Principal:
        self.authentications += 1
        self.origins.append(origin)
        if self.key_fault:
            raise self.key_fault
        if key_text in self.others:
            return self.others[key_text]
        if key_text != KEY:
            raise ServiceError("invalid_api_key", "not valid")
        return self.principal

    async def check_recipient(self, key_text: str, address: str, origin: ClientOrigin) -> None:
        self.origins.append(origin)
        assert key_text == KEY or key_text in self.others
        if address in self.refused:
            raise self.refused[address]

    async def submit(
        self, key_text: str, recipients: tuple[str, ...], octets: bytearray, origin: ClientOrigin
    ) -> str:
        self.origins.append(origin)
        assert key_text == KEY or key_text in self.others
        self.entered.set()
        if not self.gate.is_set():
            await asyncio.to_thread(self.gate.wait)
        if self.fault:
            raise self.fault
        self.accepted.append((recipients, bytes(octets)))
        return QUEUED_ID


@dataclass
class RunningRelay:
    """A running server."""

    port: int
    service: RecordingService
    context: ServerContext
    server: Server
    loop: asyncio.AbstractEventLoop

    @property
    def budget(self) -> MemoryBudget:
        return self.context.budget

    def connect(self, address: str = "127.0.0.1") -> "Client":
        """Connect from an address, and read nothing."""
        target = ("127.0.0.1", self.port)
        sock = socket.create_connection(target, PATIENCE, source_address=(address, 0))
        # Small pieces arrive as they are, and without the delay of Nagle's algorithm.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Client(sock)

    def connect_plaintext(self, address: str = "127.0.0.1") -> "Client":
        """Connect and read the greeting."""
        client = self.connect(address)
        assert client.reply().startswith(b"220 ")
        return client

    def connect_tls(self, address: str = "127.0.0.1") -> "Client":
        """Connect, start TLS and send EHLO."""
        client = self.connect_plaintext(address)
        client.start_tls()
        assert client.command("EHLO client.example").startswith(b"250")
        return client

    def connect_authenticated(self, address: str = "127.0.0.1", key: str = KEY) -> "Client":
        """Connect and log in, so that the client can send messages."""
        client = self.connect_tls(address)
        assert client.command(f"AUTH PLAIN {plain(key)}") == AUTHENTICATED
        return client

    def log_in(self, key: str, user: str = "apikey") -> smtplib.SMTP:
        """Return the standard library's client, logged in."""
        client = smtplib.SMTP("127.0.0.1", self.port, timeout=PATIENCE)
        client.starttls(context=trusting_context())
        client.login(user, key)
        return client

    def check_deadlines(self) -> None:
        """Let the server check its deadlines now."""

        async def check() -> None:
            self.server.check_deadlines()

        self.call(check())

    def call(self, work: Any) -> Any:
        """Run a coroutine in the server's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)


AUTHENTICATED = b"235 2.7.0 Authentication succeeded\r\n"


class Client:
    """Sends octets to the server and reads its replies."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock: socket.socket = sock
        self._received = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def send(self, octets: bytes) -> None:
        self.sock.sendall(octets)

    def reply(self) -> bytes:
        """Return the next reply with all its lines, or nothing if the server has disconnected."""
        lines = b""
        while True:
            line = self._line()
            lines += line
            if not line or line[3:4] != b"-":
                return lines

    def command(self, line: str) -> bytes:
        """Send a command and return its reply."""
        self.send(line.encode() + b"\r\n")
        return self.reply()

    def start_tls(self) -> None:
        assert self.command("STARTTLS").startswith(b"220 2.0.0 ")
        self.wrap()

    def wrap(self, context: ssl.SSLContext | None = None) -> None:
        self.sock = (context or trusting_context()).wrap_socket(
            self.sock, server_hostname="127.0.0.1"
        )

    def envelope(self, to: str = TO) -> None:
        """Send MAIL, RCPT and DATA, and check the replies up to the 354."""
        assert self.command(f"MAIL FROM:<{SENDER}>").startswith(b"250 2.1.0 ")
        assert self.command(f"RCPT TO:<{to}>").startswith(b"250 2.1.5 ")
        assert self.command("DATA").startswith(b"354 ")

    def deliver(self, message: bytes = MESSAGE) -> bytes:
        """Send a complete message with its envelope and return the reply to it."""
        self.envelope()
        self.send(message)
        self.send(b".\r\n")
        return self.reply()

    def reply_or_end(self) -> bytes:
        """Return the next reply, or nothing if the connection has ended or was reset."""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            return self.reply()
        return b""

    def closed(self) -> bool:
        """Return whether the server has closed the connection and sent nothing more."""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            return self._line() == b""
        return True

    def _line(self) -> bytes:
        while b"\r\n" not in self._received:
            octets = self.sock.recv(65_536)
            if not octets:
                line, self._received = self._received, b""
                return line
            self._received += octets
        line, _, self._received = self._received.partition(b"\r\n")
        return line + b"\r\n"


def plain(password: str, user: str = "apikey") -> str:
    """Return an initial response for AUTH PLAIN."""
    return b64encode(f"\0{user}\0{password}".encode()).decode()


@contextlib.contextmanager
def serve(
    *,
    proxies: Any = (),
    service: Any = None,
    certificates: Any = None,
    buffers: int = 0,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    **limits: Any,
) -> Iterator[RunningRelay]:
    """Run a server within a block; `limits` replace single default limits.

    `buffers` sets the size of the socket buffers in octets; by default they hold megabytes.
    """
    started: list[RunningRelay] = []
    ready, stop = threading.Event(), asyncio.Event()

    async def run() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        if buffers:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffers)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffers)
        server_limits = replace(ServerLimits(drain=1, failed_login_delay=0), **limits)
        submission_service = service or RecordingService()
        context = ServerContext(
            name="relay.example",
            limits=server_limits,
            service=submission_service,
            clock=clock,
            sleep=sleep,
        )
        default_tls_context = make_context(certificate())
        tls_context = certificates.tls_context if certificates else lambda: default_tls_context
        server = Server(context, tls_context, proxies)
        await server.start(listener)
        loop = asyncio.get_running_loop()
        started.append(
            RunningRelay(listener.getsockname()[1], submission_service, context, server, loop)
        )
        ready.set()
        await stop.wait()
        if isinstance(submission_service, RecordingService):
            submission_service.gate.set()
        await server.drain()

    thread = threading.Thread(target=uvloop.run, args=(run(),))
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield started[0]
    finally:
        started[0].loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert started[0].budget.used == 0

"""A relay that runs on 127.0.0.1 in the loop that is deployed, and a client for the tests."""

import asyncio
import contextlib
import datetime as dt
import functools
import ipaddress
import smtplib
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import Principal
from relay.limits import ServerLimits
from relay.memory import MemoryBudget
from relay.server import Server
from relay.service import Envelope
from relay.session import ServerContext
from relay.tls import Certificate, make_context
from tests.fakes import builders

#: Always the same, since it is in the names of tests.
KEY = "bx_live_acct000000010123456789abcdefghjkmnpqrstvwxyz56c98250"
SENDER = builders.SENDER
TO = "ann@example.com"
QUEUED_ID = "01936f5e-0000-7000-8000-000000000000"
MESSAGE = f"From: {SENDER}\r\nSubject: Hello\r\n\r\nHello\r\n".encode()
#: Seconds for what must come; nothing waits so long unless it fails.
PATIENCE = 10


@functools.cache
def certificate() -> Certificate:
    """A certificate for 127.0.0.1, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    made = (
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
        made.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def trusting() -> ssl.SSLContext:
    """A client's context that trusts the certificate above and no other."""
    return ssl.create_default_context(cadata=certificate().chain.decode())


@dataclass
class RecordingService:
    """Fulfils `relay.service.Service`: knows one key, keeps what it accepted."""

    accepted: list[tuple[Envelope, bytes]] = field(default_factory=list)
    principal: Principal = field(
        default_factory=lambda: Principal(builders.api_key(KEY), builders.account())
    )
    #: Raised by the next calls of `authenticate` and of `submit`.
    key_fault: Exception | None = None
    fault: Exception | None = None
    #: `submit` waits for this; set unless a test holds it.
    gate: threading.Event = field(default_factory=threading.Event)
    entered: threading.Event = field(default_factory=threading.Event)
    authentications: int = 0

    def __post_init__(self) -> None:
        self.gate.set()

    async def authenticate(self, key_text: str) -> Principal:
        self.authentications += 1
        if self.key_fault:
            raise self.key_fault
        if key_text != KEY:
            raise ServiceError("invalid_api_key", "not valid")
        return self.principal

    async def submit(self, key_text: str, envelope: Envelope, octets: bytearray) -> str:
        assert key_text == KEY
        self.entered.set()
        if not self.gate.is_set():
            await asyncio.to_thread(self.gate.wait)
        if self.fault:
            raise self.fault
        self.accepted.append((envelope, bytes(octets)))
        return QUEUED_ID


@dataclass
class RunningRelay:
    """A running server."""

    port: int
    service: RecordingService
    memory: MemoryBudget
    server: Server
    loop: asyncio.AbstractEventLoop

    def connect(self) -> "Client":
        """A connection on which nothing was said yet."""
        return Client(socket.create_connection(("127.0.0.1", self.port), PATIENCE))

    def greeted(self) -> "Client":
        """A connection after the greeting."""
        client = self.connect()
        assert client.reply().startswith(b"220 ")
        return client

    def secured(self) -> "Client":
        """A connection in TLS, after EHLO."""
        client = self.greeted()
        client.start_tls()
        assert client.say("EHLO client.example").startswith(b"250")
        return client

    def ready(self) -> "Client":
        """A connection that may send."""
        client = self.secured()
        assert client.say(f"AUTH PLAIN {plain(KEY)}") == AUTHENTICATED
        return client

    def smtplib(self) -> smtplib.SMTP:
        """The standard library's client, logged in."""
        client = smtplib.SMTP("127.0.0.1", self.port, timeout=PATIENCE)
        client.starttls(context=trusting())
        client.login("apikey", KEY)
        return client

    def call(self, work: Any) -> Any:
        """Run a coroutine in the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)


AUTHENTICATED = b"235 2.7.0 Authentication succeeded\r\n"


class Client:
    """Octets to the server, replies from it."""

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
        """The next reply, all lines of it; empty when the server has gone."""
        taken = b""
        while True:
            line = self._line()
            taken += line
            if not line or line[3:4] != b"-":
                return taken

    def say(self, line: str) -> bytes:
        """A command and its reply."""
        self.send(line.encode() + b"\r\n")
        return self.reply()

    def start_tls(self) -> None:
        assert self.say("STARTTLS").startswith(b"220 2.0.0 ")
        self.wrap()

    def wrap(self, context: ssl.SSLContext | None = None) -> None:
        self.sock = (context or trusting()).wrap_socket(self.sock, server_hostname="127.0.0.1")

    def envelope(self, to: str = TO) -> None:
        """MAIL, RCPT and DATA, up to the 354."""
        assert self.say(f"MAIL FROM:<{SENDER}>").startswith(b"250 2.1.0 ")
        assert self.say(f"RCPT TO:<{to}>").startswith(b"250 2.1.5 ")
        assert self.say("DATA").startswith(b"354 ")

    def deliver(self, message: bytes = MESSAGE) -> bytes:
        """A whole message, ended as it must be; the reply to it."""
        self.envelope()
        self.send(message)
        self.send(b".\r\n")
        return self.reply()

    def reply_or_end(self) -> bytes:
        """The next reply; empty when the connection has ended, in whatever way."""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            return self.reply()
        return b""

    def closed(self) -> bool:
        """Whether the server has said all it had to say and closed."""
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
    """An initial response of AUTH PLAIN."""
    return b64encode(f"\0{user}\0{password}".encode()).decode()


@contextlib.contextmanager
def serve(
    *,
    proxies: Any = (),
    service: Any = None,
    certificates: Any = None,
    buffers: int = 0,
    **limits: Any,
) -> Iterator[RunningRelay]:
    """Run a server for the time of a block; its limits are the usual ones but those given.

    With `buffers` the system holds so many octets each way for a connection, not megabytes.
    """
    started: list[RunningRelay] = []
    ready, stop = threading.Event(), asyncio.Event()

    async def run() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        if buffers:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffers)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffers)
        bounds = replace(ServerLimits(drain=1), **limits)
        memory = MemoryBudget(bounds.memory)
        recording = service or RecordingService()
        house = ServerContext(name="relay.example", limits=bounds, service=recording, memory=memory)
        usual = make_context(certificate())
        context = certificates.context if certificates else lambda: usual
        server = Server(house, context, proxies)
        await server.start(listener)
        loop = asyncio.get_running_loop()
        started.append(RunningRelay(listener.getsockname()[1], recording, memory, server, loop))
        ready.set()
        await stop.wait()
        if isinstance(recording, RecordingService):
            recording.gate.set()
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
        assert started[0].memory.has_room(replace(ServerLimits(), **limits).memory)

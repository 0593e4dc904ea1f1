"""The client: STARTTLS, AUTH PLAIN and then messages in turn, as mail libraries send them."""

import socket
import ssl
import threading
from base64 import b64encode
from dataclasses import dataclass

SENDER = "hello@shop.example"


@dataclass(frozen=True, slots=True)
class Load:
    """Some clients at the same time; in each round a client connects and sends its messages."""

    clients: int
    messages: int
    rounds: int
    size: int

    @property
    def total(self) -> int:
        """Return the number of all messages."""
        return self.clients * self.messages * self.rounds


def message(size: int) -> bytes:
    """Return a text mail of about `size` octets, in lines of 76."""
    head = f"From: {SENDER}\r\nTo: ann@example.com\r\nSubject: Figures\r\n\r\n".encode()
    return head + (b"x" * 74 + b"\r\n") * ((size - len(head)) // 76)


def run(port: int, load: Load, key: str = "secret") -> None:
    """Send all messages; raise the first error of a client."""
    faults: list[Exception] = []

    def work() -> None:
        try:
            for _ in range(load.rounds):
                _session(port, key, load.messages, message(load.size))
        except Exception as error:  # noqa: BLE001  raised again in the main thread
            faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(load.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def _session(port: int, key: str, messages: int, content: bytes) -> None:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    sock = socket.create_connection(("127.0.0.1", port), 60)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _expect(sock, b"220")
    _say(sock, b"EHLO client.example", b"250")
    _say(sock, b"STARTTLS", b"220")
    sock = context.wrap_socket(sock)
    _say(sock, b"EHLO client.example", b"250")
    _say(sock, b"AUTH PLAIN " + b64encode(f"\0apikey\0{key}".encode()), b"235")
    for _ in range(messages):
        _say(sock, b"MAIL FROM:<" + SENDER.encode() + b">", b"250")
        _say(sock, b"RCPT TO:<ann@example.com>", b"250")
        _say(sock, b"DATA", b"354")
        _say(sock, content + b".", b"250")
    _say(sock, b"QUIT", b"221")
    sock.close()


def _say(sock: socket.socket, line: bytes, code: bytes) -> None:
    sock.sendall(line + b"\r\n")
    _expect(sock, code)


def _expect(sock: socket.socket, code: bytes) -> None:
    reply = b""
    while not reply.endswith(b"\r\n") or reply[:-2].rpartition(b"\n")[2][3:4] == b"-":
        octets = sock.recv(65_536)
        if not octets:
            raise ConnectionError("the server closed the connection")
        reply += octets
    if not reply.startswith(code):
        raise RuntimeError(f"{reply!r} instead of {code!r}")

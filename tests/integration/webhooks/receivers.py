"""Receivers of webhooks on the loopback address, and certificates that they may have."""

import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

#: What a receiver does with a connection after it read this request.
type Respond = Callable[[socket.socket, bytes], object]

HOST: Final = "hooks.shop.example"
NO_CONTENT: Final = b"HTTP/1.1 204 No Content\r\n\r\n"


class Receiver:
    """Reads one request from each connection, keeps it, and responds as a test says."""

    def __init__(self, respond: Respond, tls: ssl.SSLContext | None) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self._respond = respond
        self._tls = tls
        self._server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._server.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._server.accept()
            if not self._threads:
                connection.close()
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        # A client that has had enough closes the connection.
        with suppress(OSError):
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                request = read_request(connection)
                assert b"\r\ncontent-length: " in request.lower()
                self.requests.append(request)
                self._respond(connection, request)

    def close(self) -> None:
        threads, self._threads = self._threads, []
        socket.create_connection(("127.0.0.1", self.port)).close()
        for thread in threads:
            thread.join()
        self._server.close()


def read_request(connection: socket.socket) -> bytes:
    """Read a request with its body.

    Raises:
        ConnectionResetError: the client closed the connection before the end of the header.
    """
    with connection.makefile("rb") as stream:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            if not (line := stream.readline()):
                raise ConnectionResetError
            head += line
        size = re.search(rb"\r\ncontent-length: ([0-9]+)\r\n", head, re.IGNORECASE)
        return head + stream.read(int(size[1]) if size else 0)


@contextmanager
def receiving(
    response: bytes | Respond = NO_CONTENT, tls: ssl.SSLContext | None = None
) -> Iterator[Receiver]:
    """Run a receiver that sends these octets, or does what the function does."""
    respond = response if callable(response) else lambda connection, _: connection.sendall(response)
    receiver = Receiver(respond, tls)
    try:
        yield receiver
    finally:
        receiver.close()


class Authority:
    """A certificate authority of the tests; `path` is its certificate."""

    def __init__(self, folder: Path, name: str = "authority.example") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        extensions: tuple[tuple[x509.ExtensionType, bool], ...] = (
            (x509.BasicConstraints(ca=True, path_length=None), True),
            (_usage(key_cert_sign=True), True),
            (x509.SubjectAlternativeName([x509.DNSName(name)]), False),
        )
        self.certificate = self._signed(self._name, self._key, extensions)
        self.path = folder / "authority.pem"
        self.path.write_bytes(self.certificate.public_bytes(Encoding.PEM))

    def issue(self, *names: str, ends: timedelta = timedelta(days=1)) -> ssl.SSLContext:
        """Return a server's TLS with a certificate for these names."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        signed = self._signed(subject, key, ((alternatives, False),), ends)
        return self._server(signed, key)

    def self_signed(self, name: str) -> ssl.SSLContext:
        """Return a server's TLS with a self-signed certificate."""
        folder = self._folder / "self"
        folder.mkdir()
        own = Authority(folder, name)
        return own._server(own.certificate, own._key)

    def _signed(
        self,
        subject: x509.Name,
        key: Any,
        extensions: tuple[tuple[x509.ExtensionType, bool], ...],
        ends: timedelta = timedelta(days=1),
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        own, issuer = key.public_key(), self._key.public_key()
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(own)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=30))
            .not_valid_after(now + ends)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(own), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer), critical=False
            )
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(self._key, hashes.SHA256())

    def _server(self, certificate: x509.Certificate, key: Any) -> ssl.SSLContext:
        path = self._folder / f"{certificate.serial_number}.pem"
        path.write_bytes(
            certificate.public_bytes(Encoding.PEM)
            + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


def _usage(**uses: bool) -> x509.KeyUsage:
    names = (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    )
    return x509.KeyUsage(**dict.fromkeys(names, False) | uses)

"""TLS that starts in the middle of a connection (RFC 3207): the certificate and the records.

The records go through memory, not through `loop.start_tls`. So nothing can reach the
session between the end of the handshake and the moment the session learns of it, and a
group of replies becomes one record and one write.
"""

import contextlib
import os
import ssl
import sys
from dataclasses import dataclass
from tempfile import NamedTemporaryFile
from typing import Final

#: The octets that one record holds at most (RFC 8446 section 5.1).
_MAX_RECORD: Final = 16_384


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate chain and its private key, both PEM; neither is printed."""

    chain: bytes
    key: bytes

    def __repr__(self) -> str:
        """Return only the class name."""
        return "Certificate(…)"


def make_context(certificate: Certificate) -> ssl.SSLContext:
    """Return a context for TLS 1.2 and 1.3 with forward secrecy. In Linux no key is on disk."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    # SMTP clients resume a session at most once. The default second ticket serves browsers.
    context.num_tickets = 1
    pem = certificate.chain + b"\n" + certificate.key
    if sys.platform == "linux":
        with os.fdopen(os.memfd_create("certificate"), "wb") as file:
            file.write(pem)
            file.flush()
            context.load_cert_chain(f"/proc/self/fd/{file.fileno()}")
    else:
        with NamedTemporaryFile() as file:
            file.write(pem)
            file.flush()
            context.load_cert_chain(file.name)
    return context


class TlsRecords:
    """Translate between the TLS records of one client and the SMTP octets inside them."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self.established = self._ticket_held = False
        #: Whether the client has announced that it sends no more.
        self.ended = False

    def decrypt(self, octets: bytes) -> bytes:
        """Continue the handshake with received octets, or return the SMTP octets in them."""
        self._incoming.write(octets)
        if not self.established:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                return b""
            self.established = True
            self._ticket_held = self._tls.version() == "TLSv1.3"
        pieces = []
        while self._incoming.pending or self._tls.pending():
            try:
                piece = self._tls.read(_MAX_RECORD)
            except ssl.SSLWantReadError:
                break
            if not piece:
                self.ended = True
                break
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def encrypt(self, octets: bytes) -> None:
        """Turn SMTP octets into records, which `outgoing` returns."""
        self._ticket_held = False
        self._tls.write(octets)

    def end(self) -> None:
        """Announce that no more will be sent (RFC 8446 section 6.1)."""
        if self.established:
            # OpenSSL raises because the client has not sent its close_notify; it is not awaited.
            with contextlib.suppress(ssl.SSLError):
                self._tls.unwrap()

    def outgoing(self) -> bytes:
        """Return the octets to send now: records, or a part of the handshake."""
        if self._ticket_held:
            return b""  # sent with the first reply, which saves a write for each handshake
        return self._outgoing.read()

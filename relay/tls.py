"""TLS in the middle of a connection (RFC 3207): the certificate, and one client's records.

The records go through memory and not through `loop.start_tls`: nothing can reach
the session between the handshake's end and its notice, and a group of replies
becomes one record and one write.
"""

import contextlib
import os
import ssl
from dataclasses import dataclass
from typing import Final

#: The most that one record holds (RFC 8446 section 5.1).
_RECORD: Final = 16_384


@dataclass(frozen=True, slots=True)
class Certificate:
    """A chain and its private key, both PEM; not printed."""

    chain: bytes
    key: bytes

    def __repr__(self) -> str:
        """Name the class alone."""
        return "Certificate(…)"


def make_context(certificate: Certificate) -> ssl.SSLContext:
    """TLS 1.2 and 1.3, with forward secrecy; the key touches no disk.

    Raises:
        ssl.SSLError: it is no certificate with its key.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    # Clients resume a session once, if at all: the second ticket is for browsers.
    context.num_tickets = 1
    descriptor = os.memfd_create("certificate")
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(certificate.chain + b"\n" + certificate.key)
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
    return context


class TlsRecords:
    """One client's TLS: octets of the wire in and out, octets of SMTP out and in."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self.established = self._hold_ticket = False
        #: The client said that it sends no more.
        self.ended = False

    def decrypt(self, octets: bytes) -> bytes:
        """Take in what the wire brought, and go on with the handshake or give the content.

        Raises:
            ssl.SSLError: this is not TLS as we speak it.
        """
        self._incoming.write(octets)
        if not self.established:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                return b""
            self.established = True
            self._hold_ticket = self._tls.version() == "TLSv1.3"
        pieces = []
        while self._incoming.pending or self._tls.pending():
            try:
                piece = self._tls.read(_RECORD)
            except ssl.SSLWantReadError:
                break
            if not piece:
                self.ended = True
                break
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def encrypt(self, octets: bytes) -> None:
        """Make records of octets; `outgoing` gives them."""
        self._hold_ticket = False
        self._tls.write(octets)

    def end(self) -> None:
        """Say that no more will be sent (RFC 8446 section 6.1)."""
        if self.established:
            # The client's own goodbye, which is lacking yet, is not waited for.
            with contextlib.suppress(ssl.SSLError):
                self._tls.unwrap()

    def outgoing(self) -> bytes:
        """What is to be put on the wire now: records, or a part of the handshake."""
        if self._hold_ticket:
            return b""  # it goes with the first reply: a write less for each handshake
        return self._outgoing.read()

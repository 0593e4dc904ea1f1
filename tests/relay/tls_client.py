"""A TLS client without a socket."""

import contextlib
import ssl


class TlsClient:
    """Makes the octets that a client would send, and reads those of the server."""

    def __init__(self, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.maximum_version = newest
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._incoming, self._outgoing)
        #: Whether the server has announced the end of TLS (RFC 8446 section 6.1).
        self.ended = False

    def handshake(self, octets: bytes = b"") -> bytes:
        """Continue the handshake, and return what to send."""
        self._incoming.write(octets)
        with contextlib.suppress(ssl.SSLWantReadError):
            self.tls.do_handshake()
        return self._outgoing.read()

    def record(self, octets: bytes) -> bytes:
        """Return one record that holds some octets."""
        self.tls.write(octets)
        return self._outgoing.read()

    def read(self, octets: bytes) -> bytes:
        """Return the octets in some records of the server, and note whether TLS has ended."""
        self._incoming.write(octets)
        received = b""
        with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            while piece := self.tls.read():
                received += piece
            self.ended = True
        return received

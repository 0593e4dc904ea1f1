"""Servers for the doctor's checks: an API at the public address, and a relay up to STARTTLS."""

import json
import socket
import ssl
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer

from local.relay import self_signed
from tests.servers import Handler

#: Lambda's answers about a function by the last part of the path.
LAMBDA: dict[str, tuple[int, bytes]] = {
    "invocations": (202, b""),
    "live": (200, b'{"FunctionVersion": "1"}'),
    "versions": (200, b'{"Versions": [{"Version": "$LATEST"}, {"Version": "1"}]}'),
}


#: Lambda's id of what reads the queue of received mail.
MAPPING = "0a1b2c3d-0000-4000-8000-000000000000"


class Api(Handler):
    """Accepts every email as delivered, and requires a key as the API does."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.read()
        self._answer()

    def _answer(self) -> None:
        if self.path == "/healthz":
            self.write(200, b"{}")
            return
        assert not self.headers["User-Agent"].startswith("Python-urllib")
        # Lambda's calls that moto does not implement.
        if self.path == "/2016-08-19/account-settings":
            self.write(200, json.dumps({"AccountLimit": {"ConcurrentExecutions": 10}}).encode())
        elif self.path.startswith("/2015-03-31/functions/"):
            self.write(*LAMBDA[self.path.partition("?")[0].rpartition("/")[2]])
        elif self.path == "/api/broken":
            self.write(502, b"<html>")
        elif self.headers["X-API-Key"] is None:
            self.write(401, json.dumps({"error": {"code": "missing_api_key"}}).encode())
        else:
            self.write(200, json.dumps({"messageId": "m1", "status": "delivered"}).encode())


def relay(folder: Path) -> tuple[ThreadingTCPServer, Path]:
    """Return an SMTP server up to STARTTLS, and the path of its self-signed certificate."""
    certificate = self_signed()
    chain, key = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(certificate.chain)
    key.write_bytes(certificate.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)

    class Connection(StreamRequestHandler):
        request: socket.socket
        timeout = 10  # seconds

        def handle(self) -> None:
            self.request.sendall(b"220 relay\r\n")
            for reply in (b"250-relay\r\n250 STARTTLS\r\n", b"220 go\r\n"):
                self.rfile.readline()
                self.request.sendall(reply)
            try:
                with context.wrap_socket(self.request, server_side=True) as secured:
                    secured.sendall(b"221 bye\r\n" if secured.recv(100) else b"")
            except (ssl.SSLError, OSError):
                """A client that does not trust the certificate disconnects."""

    return ThreadingTCPServer(("127.0.0.1", 0), Connection), chain

"""Servers that run during a block of a test."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import Any

#: Seconds.
_PATIENCE = 30


class Handler(BaseHTTPRequestHandler):
    """Reads whole bodies, writes whole responses, and logs nothing."""

    def read(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def write(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Respond; `_` in a header's name stands for `-`."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def running(server: BaseServer, pause: float = 0.01) -> Iterator[Any]:
    """Serve until the block ends, which is noticed after a pause, and yield the address."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(pause,), daemon=True)
        thread.start()
        try:
            yield server.server_address
        finally:
            server.shutdown()
            thread.join(_PATIENCE)


@contextmanager
def serving(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve HTTP until the block ends, and yield the URL."""
    with running(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as (_, port):
        yield f"http://127.0.0.1:{port}"

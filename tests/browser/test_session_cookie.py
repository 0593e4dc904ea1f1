"""Browsers keep the session's cookie on this machine's own addresses, where there is no TLS."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, Final

import pytest

from pillarbox.http.sign_in.wire import COOKIE, cookie_header
from tests.needs import need_program

_PATIENCE: Final = 90  # seconds; only a broken run takes that long
#: A page that lets the server set the cookie, and then sends two more requests.
_PAGE: Final = b"""<!doctype html><meta charset="utf-8"><script type="module">
const post = (path) => fetch(path, {method: "POST", body: "{}"});
await post("/sign-in");
await post("/token");
document.title = document.cookie;
await fetch("/report", {method: "POST", body: document.cookie});
</script>"""
#: How to open one page in a new profile.
_COMMANDS: Final = {
    "chromium": ("--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir={profile}"),
    "firefox": ("--headless", "--no-remote", "--profile", "{profile}"),
}


class _Server(ThreadingHTTPServer):
    """Sets the cookie, and records what the browser sends to /token and /report."""

    seen: Queue[Any]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._answer(_PAGE if self.path == "/" else b"", {"Content-Type": "text/html"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/token":
            names = ("Cookie", "Origin", "Sec-Fetch-Site")
            self.server.seen.put({name: self.headers[name] for name in names})
        if self.path == "/report":
            self.server.seen.put(body)
        self._answer(b"", cookie_header("secret") if self.path == "/sign-in" else {})

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _answer(self, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def _serving() -> Iterator[_Server]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.seen = Queue()
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("program", _COMMANDS)
def test_a_browser_keeps_the_cookie_without_tls(program: str, name: str, tmp_path: Path) -> None:
    """It sends the cookie back with the fields that the service asks for; no script reads it."""
    with _serving() as server:
        origin = f"http://{name}:{server.server_port}"
        options = (option.format(profile=tmp_path) for option in _COMMANDS[program])
        process = subprocess.Popen(
            [need_program(program), *options, origin],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            sent, read_by_script = (server.seen.get(timeout=_PATIENCE) for _ in range(2))
        finally:
            process.terminate()
            process.wait()
    assert sent == {"Cookie": f"{COOKIE}=secret", "Origin": origin, "Sec-Fetch-Site": "same-origin"}
    assert read_by_script == ""

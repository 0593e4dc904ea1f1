"""An API that answers as a test says, and keeps what it was asked."""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass(frozen=True)
class Answer:
    """A response; with the status 0 the connection ends without one."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


def failure(status: int, code: str, **headers: str) -> Answer:
    """Return an error in the API's envelope; `_` in a header's name stands for `-`."""
    error = {"code": code, "message": "text", "type": "api_error"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, named, {"error": error})


@dataclass(frozen=True)
class Call:
    """A request that the API got."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class ScriptedApi:
    """The server's address, the answers that are left, and the calls so far."""

    url: str
    answers: list[Answer]
    calls: list[Call] = field(default_factory=list)


@contextmanager
def scripted_api(*answers: Answer) -> Iterator[ScriptedApi]:
    """Serve the answers in order."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            api.calls.append(Call(self.path, headers, body))
            answer = api.answers.pop(0)
            if not answer.status:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            is_text = isinstance(answer.body, str)
            content = (answer.body if is_text else json.dumps(answer.body)).encode()
            self.send_response(answer.status)
            self.send_header("Content-Type", "text/html" if is_text else "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  as in the base
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api = ScriptedApi(f"http://127.0.0.1:{server.server_port}", [*answers])
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

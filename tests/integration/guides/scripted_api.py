"""An API that answers as a test says, and keeps what it was asked."""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.servers import Handler, serving


@dataclass(frozen=True)
class Answer:
    """A response; with the status 0 the connection ends without one."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


def failure(status: int, code: str, **headers: str) -> Answer:
    """Return an error in the API's envelope; `_` in a header's name stands for `-`."""
    error = {"code": code, "message": "text", "type": "api_error"}
    return Answer(status, headers, {"error": error})


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

    class Scripted(Handler):
        def do_POST(self) -> None:
            body = json.loads(self.read())
            headers = {name.lower(): value for name, value in self.headers.items()}
            api.calls.append(Call(self.path, headers, body))
            answer = api.answers.pop(0)
            if not answer.status:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            is_text = isinstance(answer.body, str)
            content = (answer.body if is_text else json.dumps(answer.body)).encode()
            kind = "text/html" if is_text else "application/json"
            self.write(answer.status, content, Content_Type=kind, **answer.headers)

    with serving(Scripted) as url:
        api = ScriptedApi(url, [*answers])
        yield api

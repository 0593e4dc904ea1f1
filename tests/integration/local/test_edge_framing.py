"""The edge reads HTTP as the deployed one does, with the server that the local stack uses."""

import asyncio
import json
import socket
from typing import Any, Final

import httpx
import pytest

from local import template
from local.edge import Edge, FrontOrigin, StageOrigin
from local.servers import serving
from tests.loops import for_each

_TEMPLATE: Final = template.inlined(template.load())


def exchange(head: str, body: str = "") -> tuple[str, dict[str, Any], bytes, list[Any]]:
    """Send octets to an edge; return status line, headers, body, and what reached the stage."""
    arrived: list[Any] = []

    def stage(request: httpx.Request) -> httpx.Response:
        arrived.append((dict(request.headers), request.content))
        return httpx.Response(200, stream=httpx.ByteStream(b"{}"))

    async def run() -> bytes:
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        # As the real one, this transport refuses header values that end in a blank.
        async with httpx.AsyncClient(transport=httpx.MockTransport(stage)) as behind:
            edge = Edge(
                _TEMPLATE,
                StageOrigin("http://stage", "AKIA"),
                FrontOrigin("http://f", "s").started,
                behind,
            )
            async with serving(edge, listener):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(f"{head.replace('PORT', str(port))}\r\n{body}".encode("latin-1"))
                async with asyncio.timeout(30):
                    received = await reader.read()
                writer.close()
                return received

    top, _, content = asyncio.run(run()).partition(b"\r\n\r\n")
    status, *lines = top.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return status, headers, content, arrived


def start(method: str, *lines: str) -> str:
    fields = ("Host: 127.0.0.1:PORT", "User-Agent: tests/1.0", *lines)
    return f"{method} /api/v1/emails HTTP/1.1\r\n" + "".join(f"{line}\r\n" for line in fields)


@pytest.mark.parametrize("blank", [" ", "\t", "  \t "])
def test_a_blank_after_a_value_is_no_part_of_it(blank: str) -> None:
    """RFC 9110 section 5.5: blanks around a value are removed before it goes on."""
    head = start("GET", f"X-API-Key:{blank}key{blank}", "Connection: close")
    status, _, _, arrived = exchange(head)
    assert status == "HTTP/1.1 200 OK"
    assert arrived[0][0]["x-api-key"] == "key"


def test_trailers_are_no_headers() -> None:
    trailers = "X-API-Key: key\r\nIdempotency-Key: k\r\nHost: rebound.example\r\n"
    status, _, _, arrived = exchange(
        start("POST", "Transfer-Encoding: chunked", "Connection: close"),
        f"2\r\n{{}}\r\n0\r\n{trailers}\r\n",
    )
    assert status == "HTTP/1.1 200 OK"
    headers, content = arrived[0]
    assert content == b"{}"
    assert not {"x-api-key", "idempotency-key"} & headers.keys()


@for_each(
    "octets",
    [
        start("POST", "Transfer-Encoding: chunked") + "\r\nzz\r\n\r\n",
        start("POST", "Transfer-Encoding: chunked") + "\r\n0\r\nContent-Length: 5\r\n",
        start("GET", "Bad Name: 1"),
        start("GET", "X: a\x00b"),
        start("POST", "Content-Length: x"),
        start("POST", "Content-Length: 2", "Transfer-Encoding: chunked"),
        "GET /api/v1/emails HTTP/9.9\r\n",
        "nonsense\r\n",
    ],
)
def test_malformed_framing_gets_the_envelope(octets: str) -> None:
    status, headers, content, arrived = exchange(octets)
    assert status.startswith("HTTP/1.1 422 ")
    assert headers["content-type"] == "application/json"
    assert int(headers["content-length"]) == len(content)
    assert headers["x-request-id"]
    assert headers["connection"] == "close"
    assert json.loads(content)["error"]["code"] == "validation_failed"
    assert arrived == []

"""Connections of the front on real sockets: none is held without a request."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from front import protocol
from front.protocol import Protocol
from tests.stack import PATIENCE

IDLE = 0.2
type Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def refuse(_: Any, __: Any, send: Any) -> None:
    """Answer without reading the body, as the front does without a key."""
    await send(
        {"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"no"})


@asynccontextmanager
async def connection() -> AsyncIterator[Streams]:
    config = uvicorn.Config(refuse, lifespan="off")
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Protocol(config, ServerState(), {}), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        yield reader, writer
        writer.close()


HEAD = b"POST / HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    ("octets", "more"),
    [
        (b"", b""),
        (HEAD, b"x"),
        (HEAD + b"Content-Length: 900\r\n\r\n", b"x"),
        (HEAD + b"Content-Length: 0\r\n\r\n", b"\r\n"),
    ],
    ids=["nothing", "half a head", "a refused body", "a whole request"],
)
def test_a_connection_without_a_request_ends(
    octets: bytes, more: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection on which no request is being answered ends, even if octets trickle in."""
    monkeypatch.setattr(protocol, "IDLE_TIMEOUT", IDLE)

    async def run() -> float:
        async with connection() as (reader, writer):
            writer.write(octets)
            began = time.monotonic()
            end = asyncio.create_task(reader.read())
            while not end.done():
                writer.write(more)
                await asyncio.sleep(IDLE / 10)
            return time.monotonic() - began

    assert IDLE * 0.9 <= asyncio.run(run()) < PATIENCE


def test_the_rest_of_a_refused_body_is_not_kept() -> None:
    """After a refusal the body is read to its end, then the connection serves the next request."""

    async def run() -> list[bytes]:
        async with connection() as (reader, writer):
            answers = []
            for _ in range(2):
                writer.write(HEAD + b"Content-Length: 5000000\r\n\r\n")
                answers.append((await reader.readuntil(b"no"))[:12])
                writer.write(b"x" * 5_000_000)
                await writer.drain()
            return answers

    assert asyncio.run(run()) == [b"HTTP/1.1 401"] * 2


def test_header_fields_without_an_end_are_refused() -> None:
    """Header fields over 64 KiB get the envelope, and the connection ends."""

    async def run() -> bytes:
        async with connection() as (reader, writer):
            writer.write(HEAD + b"X: ")
            await asyncio.sleep(0.01)
            writer.write(b"x" * 64 * 1024)
            return await reader.read()

    answer = asyncio.run(run())
    assert answer.startswith(b"HTTP/1.1 422")
    assert b"validation_failed" in answer

"""The relay over a service that answers at once, so that only the server is measured.

ours.py FOLDER PORT asyncio|uvloop PROCESSES
"""

import asyncio
import os
import socket
import sys
from pathlib import Path
from uuid import uuid4

from pillarbox.domain.accounts.key_policy import Principal
from relay.limits import ServerLimits
from relay.server import Server
from relay.service import Envelope
from relay.session import ServerContext
from relay.tls import Certificate, make_context
from tests.fakes import builders

SENDER = "hello@shop.example"


class InstantService:
    """Implements `relay.service.Service`: accepts any key and any message and stores nothing."""

    def __init__(self) -> None:
        self._principal = Principal(builders.api_key(""), builders.account())

    async def authenticate(self, key_text: str) -> Principal:
        del key_text
        return self._principal

    async def submit(self, key_text: str, envelope: Envelope, octets: bytearray) -> str:
        del key_text, envelope, octets
        return str(uuid4())


async def serve(folder: Path, port: int) -> None:
    """Serve until killed."""
    limits = ServerLimits(connections=4_000, connections_of_address=1_000)
    context = ServerContext(
        name="relay.example",
        limits=limits,
        service=InstantService(),
    )
    certificate = Certificate((folder / "cert.pem").read_bytes(), (folder / "key.pem").read_bytes())
    tls_context = make_context(certificate)
    listener = socket.create_server(("127.0.0.1", port), reuse_port=True)
    await Server(context, lambda: tls_context).start(listener)
    await asyncio.Event().wait()


if __name__ == "__main__":
    folder, port, loop, processes = sys.argv[1:]
    for _ in range(int(processes) - 1):
        if os.fork() == 0:
            break
    if loop == "uvloop":
        import uvloop

        uvloop.run(serve(Path(folder), int(port)))
    else:
        asyncio.run(serve(Path(folder), int(port)))

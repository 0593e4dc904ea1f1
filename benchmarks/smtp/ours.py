"""The relay over a service that answers at once, so that only the server is measured.

ours.py FOLDER PORT asyncio|uvloop PROCESSES
"""

import asyncio
import os
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from pillarbox.domain.account import Account, Plan
from pillarbox.domain.key import PRESET_SCOPES, ApiKey, KeyType, Preset, Principal
from relay.limits import ServerLimits
from relay.server import Server
from relay.service import Envelope
from relay.session import ServerContext
from relay.tls import Certificate, make_context

SENDER = "hello@shop.example"


class InstantService:
    """Implements `relay.service.Service`: accepts any key and any message and stores nothing."""

    def __init__(self) -> None:
        now = datetime.now(UTC)
        account = Account(
            account_id="a" * 12,
            name="Shop",
            plan=Plan.STANDARD,
            created_at=now,
            senders={SENDER: True},
            default_sender=SENDER,
        )
        key = ApiKey(
            key_id="k",
            account_id=account.account_id,
            name="web",
            type=KeyType.LIVE,
            preset=Preset.SEND,
            scopes=PRESET_SCOPES[Preset.SEND],
            digest="",
            created_at=now,
        )
        self._principal = Principal(key, account)

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

"""The relay over a service that answers at once, or over the tables and the queue.

ours.py FOLDER PORT at-once|in-groups|alone asyncio|uvloop PROCESSES
"""

import asyncio
import os
import socket
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import uvloop

from pillarbox.application.ports import DomainVerdict
from pillarbox.application.sending.smtp import SmtpSubmission
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.wiring import services
from relay import batcher
from relay.limits import ServerLimits
from relay.server import Server
from relay.service import SubmissionService, ThreadedService
from relay.session import ServerContext
from relay.tls import Certificate, make_context
from tests.fakes import builders


class InstantService:
    """Implements `SubmissionService`: accepts any key and any message and stores nothing."""

    def __init__(self) -> None:
        self._principal = Principal(builders.api_key(""), builders.account())

    async def authenticate(self, key_text: str, origin: ClientOrigin) -> Principal:
        del key_text, origin
        return self._principal

    async def check_recipient(self, key_text: str, address: str, origin: ClientOrigin) -> None:
        del key_text, address, origin

    async def submit(
        self, key_text: str, recipients: tuple[str, ...], octets: bytearray, origin: ClientOrigin
    ) -> str:
        del key_text, recipients, octets, origin
        return str(uuid4())


class CachedDomains:
    """Implements `ports.MailDomains` like a cache that knows every domain."""

    def look_up(self, domains: Iterable[str]) -> Mapping[str, DomainVerdict]:
        """Report that every domain accepts mail."""
        return dict.fromkeys(domains, DomainVerdict.ACCEPTS)


def service_of(kind: str) -> SubmissionService:
    """Return what accepts the messages."""
    if kind == "at-once":
        return InstantService()
    if kind == "alone":
        batcher.MAX_BATCH_SIZE = 1  # type: ignore[misc]
    submission = SmtpSubmission(replace(services().sending_ports, domains=CachedDomains()))
    return ThreadedService(lambda: submission)


async def serve(folder: Path, port: int, kind: str) -> None:
    """Serve until killed."""
    limits = ServerLimits(connections=4_000, connections_of_address=1_000)
    context = ServerContext(name="relay.example", limits=limits, service=service_of(kind))
    certificate = Certificate((folder / "cert.pem").read_bytes(), (folder / "key.pem").read_bytes())
    tls_context = make_context(certificate)
    listener = socket.create_server(("127.0.0.1", port), reuse_port=True)
    await Server(context, lambda: tls_context).start(listener)
    await asyncio.Event().wait()


if __name__ == "__main__":
    folder, port, kind, loop, processes = sys.argv[1:]
    for _ in range(int(processes) - 1):
        if os.fork() == 0:
            break
    runner = uvloop.run if loop == "uvloop" else asyncio.run
    runner(serve(Path(folder), int(port), kind))

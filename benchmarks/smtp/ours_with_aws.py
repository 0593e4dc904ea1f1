"""The relay over the tables and the queue, with messages in groups or one by one."""

import asyncio
import socket
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import uvloop

from pillarbox.application.ports import DomainVerdict
from pillarbox.application.sending.smtp import SmtpSubmission
from pillarbox.wiring import services
from relay import batcher
from relay.limits import ServerLimits
from relay.server import Server
from relay.service import ThreadedService
from relay.session import ServerContext
from relay.tls import Certificate, make_context


class CachedDomains:
    """Implements `ports.MailDomains` like a cache that knows every domain."""

    def look_up(self, domains: Iterable[str]) -> Mapping[str, DomainVerdict]:
        """Report that every domain accepts mail."""
        return dict.fromkeys(domains, DomainVerdict.ACCEPTS)


async def serve(folder: Path, port: int, *, together: bool) -> None:
    """Serve until killed."""
    if not together:
        batcher.MAX_BATCH_SIZE = 1  # type: ignore[misc]
    ports = replace(services().sending_ports, domains=CachedDomains())
    submission = SmtpSubmission(ports)
    limits = ServerLimits(connections=4_000, connections_of_address=1_000)
    context = ServerContext(
        name="relay.example",
        limits=limits,
        service=ThreadedService(lambda: submission),
    )
    certificate = Certificate((folder / "cert.pem").read_bytes(), (folder / "key.pem").read_bytes())
    tls_context = make_context(certificate)
    await Server(context, lambda: tls_context).start(socket.create_server(("127.0.0.1", port)))
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve(Path(sys.argv[1]), int(sys.argv[2]), together=sys.argv[3] == "together"))

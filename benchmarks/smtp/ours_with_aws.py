"""The relay over the stores and the queue, its messages in groups or each alone."""

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
from relay.limits import MemoryBudget, ServerLimits
from relay.server import Server
from relay.service import ThreadedService
from relay.session import ServerContext
from relay.tls import Certificate, make_context


class Known:
    """Fulfils `ports.MailDomains`: a domain that was asked for before."""

    def look_up(self, domains: Iterable[str]) -> Mapping[str, DomainVerdict]:
        """Every domain takes mail."""
        return dict.fromkeys(domains, DomainVerdict.ACCEPTS)


async def serve(folder: Path, port: int, *, together: bool) -> None:
    """Serve until killed."""
    if not together:
        batcher.MAX_BATCH_SIZE = 1  # type: ignore[misc]
    one = replace(services().sending_ports, domains=Known())
    relaying = SmtpSubmission(one)
    limits = ServerLimits(connections_of_address=1_000)
    server_context = ServerContext(
        name="relay.example",
        limits=limits,
        service=ThreadedService(lambda: relaying),
        budget=MemoryBudget(limits.memory),
    )
    certificate = Certificate((folder / "cert.pem").read_bytes(), (folder / "key.pem").read_bytes())
    context = make_context(certificate)
    await Server(server_context, lambda: context).start(socket.create_server(("127.0.0.1", port)))
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve(Path(sys.argv[1]), int(sys.argv[2]), together=sys.argv[3] == "together"))

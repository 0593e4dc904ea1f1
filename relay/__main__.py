"""`python -m relay`: serve until SIGTERM, then finish the messages in progress."""

import asyncio
import logging
import os
import signal
import socket
import sys
from typing import Final

import uvloop

from pillarbox.config import SettingMissing
from pillarbox.wiring import read_secret, smtp_submission
from relay import certificates, log, settings
from relay.certificates import CertificateStore
from relay.launcher import launch
from relay.limits import MemoryBudget
from relay.server import Server
from relay.service import ThreadedService
from relay.session import ServerContext
from relay.settings import RelaySettings

#: The launcher sets this for each process that it starts, so that none of them launches others.
ONE_OF_MANY: Final = "PILLARBOX_SMTP_ONE_OF_MANY"


def main() -> int:
    """Run the server. Return 0 after a signal, or 2 if a setting is missing."""
    try:
        relay_settings = settings.from_environment()
    except SettingMissing as error:
        print(error, file=sys.stderr)  # noqa: T201  the log is not set up yet
        return 2
    log.set_up(relay_settings.log_level)
    if relay_settings.processes > 1 and ONE_OF_MANY not in os.environ:
        environment = os.environ | {ONE_OF_MANY: "true"}
        asyncio.run(launch(relay_settings.processes, environment))
    else:
        uvloop.run(serve(relay_settings))
    return 0


async def serve(relay_settings: RelaySettings) -> None:
    """Serve until SIGTERM or SIGINT. SIGHUP reloads the certificate at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    certificate_store = CertificateStore(
        certificates.from_secret(lambda: read_secret(relay_settings.secret))
        if relay_settings.secret
        else certificates.from_files(relay_settings.certificate, relay_settings.key)
    )
    paid_plans_only = relay_settings.paid_plans_only
    context = ServerContext(
        name=relay_settings.name,
        limits=relay_settings.limits,
        service=ThreadedService(lambda: smtp_submission(paid_plans_only=paid_plans_only)),
        budget=MemoryBudget(relay_settings.limits.memory),
    )
    server = Server(context, certificate_store.tls_context, relay_settings.proxies)
    address = (relay_settings.host, relay_settings.port)
    await server.start(socket.create_server(address, reuse_port=True))
    logging.getLogger("relay").info("listening", extra={"port": relay_settings.port})
    async with asyncio.TaskGroup() as group:
        refreshing = group.create_task(certificate_store.refresh_periodically())
        loop.add_signal_handler(
            signal.SIGHUP, lambda: group.create_task(certificate_store.refresh())
        )
        await stop.wait()
        await server.drain()
        refreshing.cancel()


if __name__ == "__main__":
    sys.exit(main())

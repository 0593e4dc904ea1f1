"""`python -m relay`: serve until SIGTERM, then finish what is under way."""

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
from relay.memory import MemoryBudget
from relay.server import Server
from relay.service import ThreadedService
from relay.session import ServerContext
from relay.settings import RelaySettings

#: Set for each of several processes, which share the limits but launch no others.
ONE_OF_MANY: Final = "PILLARBOX_SMTP_ONE_OF_MANY"


def main() -> int:
    """Run the server; 0 after a signal, 2 when a setting is missing."""
    try:
        found = settings.from_environment()
    except SettingMissing as missing:
        print(missing, file=sys.stderr)  # noqa: T201  there is no log yet
        return 2
    log.set_up(found.log_level)
    if found.processes > 1 and ONE_OF_MANY not in os.environ:
        environment = os.environ | {ONE_OF_MANY: "true"}
        asyncio.run(launch(found.processes, environment))
    else:
        uvloop.run(serve(found))
    return 0


async def serve(found: RelaySettings) -> None:
    """Serve until SIGTERM or SIGINT; SIGHUP looks for a new certificate at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    current = CertificateStore(
        certificates.from_secret(lambda: read_secret(found.secret))
        if found.secret
        else certificates.from_files(found.certificate, found.key)
    )
    house = ServerContext(
        name=found.name,
        limits=found.limits,
        service=ThreadedService(lambda: smtp_submission(paid_plans_only=found.paid_plans_only)),
        memory=MemoryBudget(found.limits.memory),
    )
    server = Server(house, current.context, found.proxies)
    await server.start(socket.create_server((found.host, found.port), reuse_port=True))
    logging.getLogger("relay").info("listening", extra={"port": found.port})
    async with asyncio.TaskGroup() as group:
        renewing = group.create_task(current.keep_fresh())
        loop.add_signal_handler(signal.SIGHUP, lambda: group.create_task(current.refresh()))
        await stop.wait()
        await server.drain()
        renewing.cancel()


if __name__ == "__main__":
    sys.exit(main())

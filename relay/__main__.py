"""`python -m relay`: serve until SIGTERM, then finish what is under way."""

import asyncio
import logging
import os
import signal
import socket
import sys

import uvloop

from pillarbox.settings import SettingError, Settings
from pillarbox.wiring import read_secret, services
from relay import certificates, log, settings
from relay.certificates import CertificateStore
from relay.launcher import launch
from relay.memory import MemoryBudget
from relay.server import Server
from relay.service import ThreadedService
from relay.session import ServerContext
from relay.settings import RelaySettings


def main() -> int:
    """Run the server; 0 after a signal, 2 if a setting is wrong."""
    try:
        found = settings.read(Settings(os.environ))
    except SettingError as error:
        print(error, file=sys.stderr)  # noqa: T201  there is no log yet
        return 2
    log.set_up(found.log_level)
    if found.processes > 1 and not found.one_of_many:
        environment = os.environ | {Settings.smtp_one_of_many.variable: "true"}
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
        service=ThreadedService(lambda: services().smtp_submission),
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

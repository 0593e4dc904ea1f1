"""The program: serve until SIGTERM, then finish the messages in progress."""

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
from relay.certificates import CertificateStore, CertificateUnusable
from relay.launcher import ONE_OF_MANY, launch
from relay.server import Server
from relay.service import ThreadedService
from relay.session import ServerContext
from relay.settings import RelaySettings


def main() -> int:
    """Run the server. Return 0 after a signal, or 2 if a setting or the certificate is wrong."""
    try:
        relay_settings = settings.read(Settings(os.environ))
        certificate_store = _certificate_store(relay_settings)
    except (SettingError, CertificateUnusable) as error:
        print(error, file=sys.stderr)  # noqa: T201  the log is not set up yet
        return 2
    log.set_up()
    if relay_settings.processes > 1 and ONE_OF_MANY not in sys.argv:
        asyncio.run(launch(relay_settings.processes))
    else:
        uvloop.run(serve(relay_settings, certificate_store))
    return 0


def _certificate_store(relay_settings: RelaySettings) -> CertificateStore:
    if source := relay_settings.certificate:
        return CertificateStore(certificates.from_file(source), source)
    read = certificates.from_secret(lambda: read_secret(relay_settings.secret))
    return CertificateStore(read, f"the secret {relay_settings.secret}")


async def serve(relay_settings: RelaySettings, certificate_store: CertificateStore) -> None:
    """Serve until SIGTERM or SIGINT. SIGHUP reloads the certificate at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    context = ServerContext(
        name=relay_settings.name,
        limits=relay_settings.limits,
        service=ThreadedService(lambda: services().smtp_submission),
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

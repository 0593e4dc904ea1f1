"""The servers of the local stack, all in its event loop."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Collection, Iterator
from typing import Final

import uvicorn

from front.protocol import Protocol
from local.dns import DnsServer, Zone
from local.endpoint_secrets import EndpointSecrets
from local.guard import App, LoopbackHost
from local.inbox.app import inbox_app
from local.inbox.webhooks import WebhookStore
from local.ses.store import MailStore

#: Where the stack listens, except for what other computers may reach.
HOST: Final = "127.0.0.1"


class _StackServer(uvicorn.Server):
    """A server that shares its event loop with others and leaves signals to the stack."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(
    app: App, listener: socket.socket, names: Collection[str] = ()
) -> AsyncIterator[None]:
    """Serve an application; `names` are the host names that it answers to."""
    server = _StackServer(
        uvicorn.Config(
            LoopbackHost(app, listener.getsockname()[1], names),
            http=Protocol,
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not task.done():  # noqa: ASYNC110  uvicorn offers no event to wait for
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        await task


@contextlib.asynccontextmanager
async def answering_names(zone: Zone) -> AsyncIterator[str]:
    """Run the name server; yield its host:port."""
    server = DnsServer(zone)
    host, port = await server.start(HOST)
    try:
        yield f"{host}:{port}"
    finally:
        await server.stop()


@contextlib.asynccontextmanager
async def serving_inbox(
    mailbox: MailStore,
    secrets_of: EndpointSecrets,
    endpoint_hint: str,
    listener: socket.socket,
    names: Collection[str],
) -> AsyncIterator[EndpointSecrets]:
    """Serve the inbox with the receivers of webhooks, which end their slow answers at a stop."""
    webhooks = WebhookStore()
    webhooks.hint, webhooks.endpoint_hint = mailbox.hint, endpoint_hint
    async with serving(inbox_app(mailbox, webhooks, secrets_of), listener, names):
        try:
            yield secrets_of
        finally:
            mailbox.close()
            webhooks.close()

"""A real name server on the loopback, in its own thread."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from local.dns import DnsServer
from tests.stack import PATIENCE

#: What tests publish: the values of a name and a type.
RECORDS: Final[dict[tuple[str, str], list[str]]] = {}


@contextmanager
def running_name_server() -> Iterator[str]:
    """Run the name server of the local stack, with `RECORDS`; yield its host:port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = DnsServer(lambda name, kind: RECORDS.get((name, kind)))
    host, port = asyncio.run_coroutine_threadsafe(server.start(), loop).result(PATIENCE)
    yield f"{host}:{port}"
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(PATIENCE)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(PATIENCE)
    loop.close()

"""The edge, and the functions on emulated AWS behind it, at an address of this machine."""

import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import uvicorn
from starlette.types import ASGIApp

from local import template
from local.edge import Edge, FrontOrigin, StageOrigin
from local.guard import BROWSER_PREFIX
from tests.contract.client import Api
from tests.stack import wait_for


class _Functions(httpx.AsyncBaseTransport):
    """Invokes the functions in this thread, one request at a time."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        headers: dict[str, str | list[str]] = defaultdict(list)
        for raw_name, raw_value in request.headers.raw:
            # The edge gives these another name, because of the engine's guard.
            name = raw_name.decode().lower().removeprefix(BROWSER_PREFIX)
            values = headers["User-Agent" if name == "user-agent" else name]
            assert isinstance(values, list)
            values.append(raw_value.decode("latin-1"))
        query: dict[str, str | list[str]] = {
            name: request.url.params.get_list(name) for name in request.url.params
        }
        path = request.url.raw_path.decode().partition("?")[0].removeprefix("/api")
        body = await request.aread()
        answer = Api(base="").raw(request.method, path, body or None, headers, query=query)
        content = httpx.ByteStream(answer.text.encode())
        return httpx.Response(answer.status, headers=dict(answer.headers), stream=content)


@contextmanager
def serving(wrap: Callable[[ASGIApp], ASGIApp] = lambda api: api) -> Iterator[str]:
    """Serve the API of the running service on a free port until the block ends; yield its URL.

    `wrap` may add what is beside the API, such as the dashboard.
    """
    origin = "http://functions/api"  # the stage, whose name the paths of the front have too
    edge = Edge(
        template.inlined(template.load()),
        StageOrigin(origin, ""),
        FrontOrigin(origin, "").started,
        httpx.AsyncClient(transport=_Functions()),
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(wrap(edge), log_level="critical", ws="none", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            wait_for(lambda: server.started)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()

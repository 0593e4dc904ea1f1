"""Lets the containers of `sam local` reach the stack, if the user asks for it.

The other servers listen on the loopback address, which in a container is the container itself.
So this is one more port at an address of the machine: AWS calls over TCP, DNS over UDP.
"""

import re
import socket
from collections.abc import Mapping
from typing import Final

import httpx
import psutil
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pillarbox.settings import Settings

#: The name by which a container reaches its host.
HOST_NAME: Final = "host.docker.internal"
#: What botocore calls for `sesv2`; no request of another service begins like this.
_SES_PATH: Final = "/v2/email/"
#: Fields of one connection (RFC 9110 section 7.6.1); httpx writes its own.
_OF_CONNECTION: Final = frozenset({"connection", "expect", "host", "transfer-encoding"})
#: An address of the stack, which containers reach at their own port.
_ADDRESS: Final = re.compile(r"\b127\.0\.0\.1:\d+")


def host_address() -> str:
    """Return the address of this machine that Docker calls `host-gateway`.

    Docker Desktop runs in a machine of its own and has no bridge here: it connects containers to
    the loopback address.
    """
    bridge = psutil.net_if_addrs().get("docker0", [])
    addresses = (each.address for each in bridge if each.family == socket.AF_INET)
    return next(addresses, "127.0.0.1")


def environment_of_containers(environment: Mapping[str, str], port: int) -> dict[str, str]:
    """Return the functions' settings with the addresses that are right in a container.

    The addresses of API and relay stay: users see them.

    Args:
        environment: the settings of functions that run beside the stack.
        port: the port for containers.
    """
    own = f"{HOST_NAME}:{port}"
    moved = {name: _ADDRESS.sub(own, text) for name, text in environment.items()}
    shown = (Settings.api_url.variable, Settings.relay.variable)
    kept = {name: environment[name] for name in shown if name in environment}
    return moved | {"NO_PROXY": HOST_NAME} | kept


class ContainerGateway:
    """Passes AWS calls on to the engine and the SES stand-in, behind the guards of the port."""

    def __init__(self, engine_url: str, ses: ASGIApp, client: httpx.AsyncClient) -> None:
        """Use a client that the caller closes."""
        self._engine_url = engine_url
        self._ses = ses
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan" or scope["path"].startswith(_SES_PATH):
            await self._ses(scope, receive, send)
        else:
            response = await self._ask_engine(Request(scope, receive))
            await response(scope, receive, send)

    async def _ask_engine(self, request: Request) -> Response:
        target = request.scope["raw_path"] + b"?" + request.scope["query_string"]
        try:
            received = await self._client.send(
                httpx.Request(
                    request.method,
                    httpx.URL(self._engine_url, raw_path=target.rstrip(b"?")),
                    headers=[item for item in request.headers.items() if _is_passed_on(item[0])],
                    content=await request.body(),
                    extensions={"timeout": self._client.timeout.as_dict()},
                ),
                stream=True,
            )
            content = b"".join([part async for part in received.aiter_raw()])
        except httpx.TransportError:
            return Response(status_code=502)
        response = Response(content, received.status_code)
        response.raw_headers[:] = [
            (name.lower(), value)
            for name, value in received.headers.raw
            if _is_passed_on(name.decode().lower())
        ]
        return response


def _is_passed_on(name: str) -> bool:
    return name not in _OF_CONNECTION

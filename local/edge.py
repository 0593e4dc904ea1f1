"""Stands in for what is in front of the API in AWS: the edge and API Gateway's limits.

It reads the edge's rules and the gateway responses from template.yaml, so that a client gets the
same responses as in AWS. It has no firewall, as a stack without `Firewall`.
"""

import gzip
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import httpx
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from local.guard import BROWSER_PREFIX, KEY_HEADER
from local.route import Origin, Route
from local.template import Template
from pillarbox.domain.errors import ServiceError

#: Seconds. API Gateway gives up after 29; many simultaneous cold starts take longer on a laptop.
INTEGRATION_TIMEOUT: Final = 120.0

# RFC 9110 section 7.6.1, and the fields that each hop sets itself.
_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "content-length",
        "date",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "server",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
#: What signing in asks of a browser.
_FROM_BROWSER: Final = frozenset({"origin", "sec-fetch-site"})


class GatewayResponses:
    """The gateway's own responses, from `GatewayResponses` of the template's API."""

    def __init__(self, template: Template) -> None:
        self._responses: dict[str, Any] = template["Resources"]["Api"]["Properties"][
            "GatewayResponses"
        ]

    def response(self, kind: str) -> Response:
        """Return the response of an API Gateway response type, such as `REQUEST_TOO_LARGE`."""
        definition = self._responses[kind]
        headers = definition["ResponseParameters"]["Headers"]
        return Response(
            definition["ResponseTemplates"]["application/json"],
            definition["StatusCode"],
            # A quoted value is a constant; others are variables of the gateway.
            {name: value.strip("'") for name, value in headers.items() if value.startswith("'")},
            media_type="application/json",
        )

    def replacement(self, replaced: httpx.Response) -> Response:
        """Return the gateway response that replaces a response which the engine itself wrote."""
        if "MissingAuthenticationToken" in replaced.headers.get("x-amzn-errortype", ""):
            return self.response("MISSING_AUTHENTICATION_TOKEN")
        return self.response("DEFAULT_5XX" if replaced.is_server_error else "DEFAULT_4XX")


@dataclass(frozen=True, slots=True)
class StageOrigin:
    """The URL of the stage `api` in the engine, and the id that the engine's guard asks for."""

    url: str
    access_key_id: str


@dataclass(frozen=True, slots=True)
class FrontOrigin:
    """The URL of the front, and the secret that shows it that a request comes from the edge."""

    url: str
    secret: str

    async def started(self) -> "FrontOrigin":
        """Return this origin: that of a front that runs."""
        return self


@dataclass(frozen=True, slots=True)
class SendOrigin:
    """The URL of send_email in the engine, and the secret that the function compares."""

    url: str
    secret: str


class FrontFailed(Exception):
    """The front did not start; its log says why."""


class Edge:
    """The API at one address, as an ASGI application.

    It passes `{base_url}/api/…` to the stage `api` in the engine, and a send that is too large for
    Lambda to the front.
    """

    def __init__(
        self,
        template: Template,
        stage: StageOrigin,
        front: Callable[[], Awaitable[FrontOrigin]] | None,
        client: httpx.AsyncClient,
        send: SendOrigin | None = None,
    ) -> None:
        """Read the rules.

        Args:
            template: what `template.inlined` returns.
            stage: answers every other request.
            front: returns what answers sends that are too large for Lambda, once it runs; None if
                the stack has none.
            client: sends requests to all of them; the caller closes it.
            send: answers single sends, with `EdgeService=url`.
        """
        self._gateway = GatewayResponses(template)
        self._route = Route(template, send_url=send is not None, front=front is not None)
        self._send = send
        self._stage = httpx.URL(stage.url)
        self._access_key_id = stage.access_key_id
        self._front = front
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; every response has X-Request-Id."""
        response = await self._respond(Request(scope, receive))
        response.headers.setdefault("x-request-id", str(uuid4()))
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        try:
            self._route.check_agent(request.headers.get("user-agent"))
        except ServiceError as error:
            return refusal(error)
        path = self._route.canonical(request.scope["raw_path"].decode("latin-1"))
        if self._route.is_home(path):
            return Response(status_code=302, headers={"location": "/app/"})
        if re.search(r"/\.{1,2}(/|$)", path):
            return self._gateway.response("MISSING_AUTHENTICATION_TOKEN")
        try:
            self._route.check_path(request.method, path)
        except ServiceError as error:
            return refusal(error)
        length = request.headers.get("content-length")
        keys = len(request.headers.getlist("idempotency-key"))
        size = int(length) if length else None
        origin, limit = self._route.origin(request.method, path, size, keys)
        body = await _read(request, limit)
        if origin is Origin.NONE or (body is None and origin is Origin.FRONT):
            return refusal(self._route.too_large(request.method, path, size, limit))
        if body is None:
            return self._gateway.response("REQUEST_TOO_LARGE")
        try:
            self._route.check_method(request.method, path)
        except ServiceError as error:
            return refusal(error)
        if request.method == "OPTIONS":  # no route has it, and the engine's guard refuses it
            return self._gateway.response("MISSING_AUTHENTICATION_TOKEN")
        return await self._pass_on(origin, request, path, body)

    async def _pass_on(self, origin: Origin, request: Request, path: str, body: bytes) -> Response:
        """Return the response of stage or front."""
        try:
            if origin is Origin.API:
                sent = self._to_stage(request, path, body)
            elif origin is Origin.SEND and self._send:
                sent = self._to_function(self._send, request, path, body)
            else:
                assert self._front, "without a front no request goes there"  # noqa: S101  the type
                sent = self._to_front(await self._front(), request, path, body)
            received = await self._client.send(sent, stream=True)
            content = b"".join([part async for part in received.aiter_raw()])
        except httpx.TimeoutException:
            return self._gateway.response("INTEGRATION_TIMEOUT")
        except (httpx.TransportError, FrontFailed):
            return self._gateway.response("INTEGRATION_FAILURE")
        if received.is_error and request.method != "HEAD" and not _is_envelope(content):
            return self._gateway.replacement(received)
        response = Response(content, received.status_code)
        response.raw_headers.extend(
            (name.lower(), value)
            for name, value in received.headers.raw
            if name.decode().lower() not in _HOP_BY_HOP
        )
        return response

    def _to_function(
        self, send: SendOrigin, request: Request, path: str, body: bytes
    ) -> httpx.Request:
        """Return the request for the URL of a function: the stage's, with other fields."""
        onward = self._to_stage(request, path, body)
        onward.url = httpx.URL(send.url).copy_with(
            raw_path=f"{httpx.URL(send.url).path}{path}".encode()
        )
        onward.headers["x-pillarbox-type"] = onward.headers.get("content-type", "")
        onward.headers["content-type"] = "application/octet-stream"
        onward.headers["x-pillarbox-edge"] = send.secret
        return onward

    def _to_stage(self, request: Request, path: str, body: bytes) -> httpx.Request:
        headers = [
            (name, value)
            for name, value in request.headers.items()
            if name not in _HOP_BY_HOP
            # The engine would treat a request that is signed for AWS as a call to itself.
            and not name.startswith("x-amz-")
            and not value.startswith("AWS4-")
            and not name.startswith("x-pillarbox-")
        ]
        # The engine's guard refuses what browsers add, and passes it on under another name.
        headers = [
            (f"{BROWSER_PREFIX}{name}" if name in _FROM_BROWSER else name, value)
            for name, value in headers
            if name in _FROM_BROWSER or not name.startswith("sec-fetch-")
        ]
        if "gzip" in request.headers.get("content-encoding", "").lower():
            # The engine decompresses gzip and API Gateway does not. So compress the body again,
            # and give the inner coding its other name (RFC 9110 section 8.4.1.3).
            body = gzip.compress(body, 1)
            headers = [
                (
                    name,
                    re.sub("(?i)(x-)?gzip", "x-gzip", value)
                    if name == "content-encoding"
                    else value,
                )
                for name, value in headers
            ]
            headers.insert(0, ("content-encoding", "gzip"))
        client = request.client.host if request.client else "127.0.0.1"
        headers = [item for item in headers if item[0] != "x-forwarded-for"]
        headers.append(("x-forwarded-for", client))
        headers.append(("x-pillarbox-host", request.headers.get("host", "")))
        headers.append((KEY_HEADER, self._access_key_id))
        target = f"{self._stage.raw_path.decode()}{path.removeprefix('/api')}"
        if query := request.scope["query_string"].decode("latin-1"):
            target += f"?{query}"
        # Built directly, because the client would add its own headers.
        return httpx.Request(
            request.method,
            self._stage.copy_with(raw_path=target.encode("latin-1")),
            headers=[(name.encode(), value.encode("latin-1")) for name, value in headers],
            content=body,
            extensions={"timeout": self._client.timeout.as_dict()},
        )

    def _to_front(
        self, front: FrontOrigin, request: Request, path: str, body: bytes
    ) -> httpx.Request:
        headers = [
            (name, value)
            for name, value in request.headers.items()
            if name not in _HOP_BY_HOP and not name.startswith("x-pillarbox-")
        ]
        headers.append(("x-pillarbox-edge", front.secret))
        headers.append(("x-pillarbox-client", request.client.host if request.client else ""))
        target = httpx.URL(front.url).copy_with(raw_path=path.encode("latin-1"))
        return httpx.Request(
            request.method,
            target,
            headers=[(name.encode(), value.encode("latin-1")) for name, value in headers],
            content=body,
            extensions={"timeout": self._client.timeout.as_dict()},
        )


def refusal(error: ServiceError) -> Response:
    """Return a response that the edge gives itself."""
    return Response(
        json.dumps({"error": error.envelope()}),
        error.status,
        headers={"cache-control": "no-store"} | dict(error.headers),
        media_type="application/json",
    )


async def _read(request: Request, limit: int) -> bytes | None:
    """Read the whole body; return None if it is over the limit.

    A client that is still sending would see a broken connection instead of the response.
    """
    body = bytearray()
    size = 0
    async for part in request.stream():
        size += len(part)
        if size <= limit:
            body += part
        else:
            body.clear()
    return bytes(body) if size <= limit else None


def _is_envelope(content: bytes) -> bool:
    """Return whether a function wrote an error: the contract's, or one in another shape."""
    try:
        return not {"error", "statusCode", "ErrorCode"}.isdisjoint(json.loads(content))
    except (TypeError, ValueError):
        return False

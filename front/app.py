"""The ASGI application: checks each request's origin, route and size, then runs its handler."""

import asyncio
import hmac
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol
from uuid import uuid4

from front.events import FUNCTIONS, event_of, route_of
from front.workers import NoWorkerFree, WorkerDied
from pillarbox.domain.errors import MethodNotAllowed, ServiceError, Unavailable
from pillarbox.http.replies import common_headers, reply_error
from pillarbox.http.routes import ROUTES
from pillarbox.observability import make_logger

#: In bytes. Two attachments of 5 MB are 14 MB of base64 (contract 2.3), and html and text take up
#: to 2 MB. The edge in template.yaml uses the same figure.
BODY_LIMIT: Final = 16 * 1024 * 1024
#: The seconds that a body may take to arrive. The edge gives up after 60.
_BODY_TIMEOUT: Final = 50.0

type Scope = dict[str, Any]
type Receive = Callable[[], Awaitable[Mapping[str, Any]]]
type Send = Callable[[dict[str, Any]], Awaitable[None]]


class Handlers(Protocol):
    """Runs the functions, as `workers.Workers` does."""

    async def run(self, function: str, event: dict[str, Any], body: bytes) -> Mapping[str, Any]:
        """Return a function's response to an event.

        Raises:
            NoWorkerFree, WorkerDied: there is no response.
        """
        ...


class Front:
    """Answers POST on the send routes, only for the edge, and GET /health."""

    def __init__(self, handlers: Handlers, edge_secret: str, memory: int) -> None:
        """Store the configuration.

        Args:
            handlers: runs the functions.
            edge_secret: the value that the edge sends in X-Pillarbox-Edge.
            memory: the bytes that all bodies in progress may occupy.
        """
        self._handlers = handlers
        self._edge_secret = edge_secret.encode()
        self._free = memory
        self._logger = make_logger()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Every response has an X-Request-Id."""
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        if scope["path"] == "/health":
            await _reply(send, 200, {"content-type": ["text/plain"]}, b"ok\n")
            return
        request_id = str(uuid4())
        try:
            response = await self._answer(scope, receive, request_id)
        except ServiceError as error:
            if error.log_fields:
                ids = {"request_id": request_id, "status": error.status}
                self._logger.info("refused", extra=ids | error.log_fields)
            response = _envelope(error)
        body = response["body"]
        content = b64decode(body) if response.get("isBase64Encoded") else body.encode()
        headers = response["multiValueHeaders"] | common_headers(request_id)
        await _reply(send, response["statusCode"], headers, content)

    async def _answer(self, scope: Scope, receive: Receive, request_id: str) -> Mapping[str, Any]:
        secret = b"".join(value for name, value in scope["headers"] if name == b"x-pillarbox-edge")
        if not hmac.compare_digest(secret, self._edge_secret):
            raise ServiceError("client_blocked", "Send requests to the service's public address.")
        function = _function(scope["method"], route_of(scope["path"]))
        content_length = _content_length(scope)
        size = BODY_LIMIT if content_length is None else content_length
        if size > BODY_LIMIT:
            raise _too_large()
        if size > self._free:
            raise _busy("memory")
        self._free -= size
        try:
            body = await _read_body(receive)
            event = event_of(scope, request_id)
            return await self._handlers.run(function, event, body)
        except NoWorkerFree:
            raise _busy("worker") from None
        except WorkerDied as error:
            self._logger.error(  # noqa: TRY400  a traceback says nothing about the dead process
                "worker died", extra={"request_id": request_id, "handler": function}
            )
            raise ServiceError(
                "service_unavailable",
                "The outcome is unknown; the request may or may not have been carried out."
                " Try again with the same Idempotency-Key.",
                headers={"Retry-After": "5"},
            ) from error
        finally:
            self._free += size


def _function(method: str, route: str) -> str:
    """Return the function of a route that accepts large bodies.

    Raises:
        ServiceError: `route_not_found`, `method_not_allowed`.
    """
    if route not in FUNCTIONS:
        raise ServiceError("route_not_found", "There is no such route.")
    if method != "POST":
        raise MethodNotAllowed(", ".join(ROUTES[route]))
    return FUNCTIONS[route]


def _content_length(scope: Scope) -> int | None:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value)
    return None


async def _read_body(receive: Receive) -> bytes:
    """Return the whole body.

    A body that is too large is read to its end but not kept. Otherwise a client that is still
    sending would see a broken connection instead of the response.

    Raises:
        ServiceError: `request_too_large`, or `service_unavailable` if the body does not arrive.
    """
    body = bytearray()
    size, more = 0, True
    try:
        async with asyncio.timeout(_BODY_TIMEOUT):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _not_received()
                more = message.get("more_body", False)
                size += len(message["body"])
                if size <= BODY_LIMIT:
                    body += message["body"]
                else:
                    body.clear()
    except TimeoutError:
        raise _not_received() from None
    if size > BODY_LIMIT:
        raise _too_large()
    return bytes(body)


def _busy(resource: str) -> Unavailable:
    return Unavailable(
        resource,
        "Too many large requests are in progress. Try again later.",
        headers={"Retry-After": "5"},
    )


def _not_received() -> ServiceError:
    return ServiceError(
        "service_unavailable",
        "The request did not arrive in time. Nothing was sent.",
        headers={"Connection": "close"},
    )


def _too_large() -> ServiceError:
    return ServiceError(
        "request_too_large", "The request is too large.", details={"limit_bytes": BODY_LIMIT}
    )


def _envelope(error: ServiceError) -> Mapping[str, Any]:
    response = reply_error(error)
    headers = {name: [str(value)] for name, value in response.headers.items()}
    return {
        "statusCode": response.status_code,
        "multiValueHeaders": headers,
        "body": response.body,
    }


async def _reply(send: Send, status: int, headers: Mapping[str, list[str]], content: bytes) -> None:
    raw = [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, values in headers.items()
        for value in values
    ]
    raw.append((b"content-length", str(len(content)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": content})

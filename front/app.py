"""The ASGI application: checks a request's origin, route, key and size, then runs its handler."""

from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol
from uuid import uuid4

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from front.events import FUNCTIONS, event_of, route_of
from front.turns import Owners
from front.uploads import BODY_LIMIT, Receive, Uploads, busy, too_large
from front.workers import NoWorkerFree, WorkerDied
from pillarbox.domain.client_origin import is_of_edge
from pillarbox.domain.errors import MethodNotAllowed, ServiceError
from pillarbox.http.messages.replies import common_headers, reply_error
from pillarbox.http.requests import parse_api_key
from pillarbox.http.routes import ROUTES
from pillarbox.observability import make_logger

type Scope = dict[str, Any]
type Send = Callable[[dict[str, Any]], Awaitable[None]]


class Handlers(Protocol):
    """Runs the functions, as `workers.Workers` does."""

    async def run(
        self, function: str, event: dict[str, Any], body: bytes, owners: Owners
    ) -> Mapping[str, Any]:
        """Return a function's response to an event, when it is the owners' turn.

        Raises:
            NoWorkerFree, WorkerDied: there is no response.
        """


class Front:
    """Answers POST on the send routes, only for the edge, and GET /health."""

    def __init__(self, handlers: Handlers, edge_secret: str, memory: int) -> None:
        """Store the configuration.

        Args:
            handlers: runs the functions.
            edge_secret: the value that the edge sends in X-Pillarbox-Edge. While it changes there
                are two, with a blank between them.
            memory: the bytes that all large bodies in progress may occupy.
        """
        self._handlers = handlers
        self._edge_secret = edge_secret
        self._uploads = Uploads(memory)
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
        if not is_of_edge(secret.decode("latin-1"), self._edge_secret):
            raise ServiceError("client_blocked", "Send requests to the service's public address.")
        function = _function(scope["method"], route_of(scope["path"]))
        event = event_of(scope, request_id)
        # Before the body: a request without a key of the right form takes no memory.
        key = parse_api_key(APIGatewayProxyEvent(event))
        if _content_length(scope) > BODY_LIMIT:
            raise too_large()
        address = event["requestContext"]["identity"]["sourceIp"]
        try:
            with self._uploads.begin(key.digest, address) as upload:
                body = await self._uploads.read(upload, receive)
                return await self._handlers.run(function, event, body, upload.owners)
        except NoWorkerFree:
            raise busy("worker") from None
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


def _function(method: str, route: str) -> str:
    """Return the function of a route that accepts large bodies."""
    if route not in FUNCTIONS:
        raise ServiceError("route_not_found", "There is no such route.")
    if method != "POST":
        raise MethodNotAllowed(", ".join(ROUTES[route]))
    return FUNCTIONS[route]


def _content_length(scope: Scope) -> int:
    """Return the announced size; 0 if the body is chunked."""
    return next((int(value) for name, value in scope["headers"] if name == b"content-length"), 0)


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

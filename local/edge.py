"""What stands in front of the API in AWS: the edge, the firewall, the gateway's limits.

The edge's rule, the firewall's rules and the gateway's answers are read from template.yaml, so
that a client meets here what it will meet there.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import httpx
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from local.route import Origin, Route
from local.template import Template
from pillarbox.domain.errors import ServiceError

#: In seconds. API Gateway gives up after 29; many cold starts at once take a laptop longer.
INTEGRATION_TIMEOUT: Final = 120.0

# RFC 9110 section 7.6.1, and what each hop sets for itself.
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
type Agent = str | None


class GatewayResponses:
    """The gateway's own answers, as `GatewayResponses` of the template's API has them."""

    def __init__(self, template: Template) -> None:
        self._responses: dict[str, Any] = template["Resources"]["Api"]["Properties"][
            "GatewayResponses"
        ]

    def answer(self, kind: str) -> Response:
        """The answer for a response type of API Gateway, such as `REQUEST_TOO_LARGE`."""
        response = self._responses[kind]
        return Response(
            response["ResponseTemplates"]["application/json"],
            response["StatusCode"],
            media_type="application/json",
        )

    def instead_of(self, answer: httpx.Response) -> Response:
        """The answer for one that the engine gave by itself, in words of its own."""
        if "MissingAuthenticationToken" in answer.headers.get("x-amzn-errortype", ""):
            return self.answer("MISSING_AUTHENTICATION_TOKEN")
        return self.answer("DEFAULT_5XX" if answer.is_server_error else "DEFAULT_4XX")


def blocked(rules: Iterable[dict[str, Any]], agent: Agent) -> bool:
    """Whether a rule of the firewall blocks this User-Agent (None: the header is missing).

    Raises:
        KeyError: a rule uses a statement of AWS WAF that is not known here.
    """
    return any(_judges(rule) and _matches(rule["Statement"], agent) for rule in rules)


def _judges(rule: dict[str, Any]) -> bool:
    """Whether a rule judges a client here.

    Not what merely counts, the rule groups of AWS, a rate, nor the rule that keeps those out
    who pass the edge by: this is the edge.
    """
    return (
        "Block" in rule.get("Action", {})
        and "RateBasedStatement" not in rule["Statement"]
        and rule.get("Name") != "edge-only"
    )


def _matches(statement: dict[str, Any], agent: Agent) -> bool:
    ((kind, inner),) = statement.items()
    if kind == "NotStatement":
        return not _matches(inner["Statement"], agent)
    if kind in {"AndStatement", "OrStatement"}:
        join = all if kind == "AndStatement" else any
        return join(_matches(part, agent) for part in inner["Statements"])
    if inner["FieldToMatch"] != {"SingleHeader": {"Name": "user-agent"}}:
        raise KeyError(kind)
    if agent is None:  # AWS WAF: a statement on a header that is missing does not match
        return False
    for transformation in inner["TextTransformations"]:
        agent = _TRANSFORMATIONS[transformation["Type"]](agent)
    if kind == "SizeConstraintStatement":
        return _COMPARISONS[inner["ComparisonOperator"]](len(agent.encode()), inner["Size"])
    if kind == "ByteMatchStatement":
        return _POSITIONS[inner["PositionalConstraint"]](agent, inner["SearchString"])
    raise KeyError(kind)


_TRANSFORMATIONS: Final[dict[str, Callable[[str], str]]] = {
    "NONE": str,
    "LOWERCASE": str.lower,
}
_COMPARISONS: Final[dict[str, Callable[[int, int], bool]]] = {
    "EQ": int.__eq__,
    "GE": int.__ge__,
    "GT": int.__gt__,
    "LE": int.__le__,
    "LT": int.__lt__,
    "NE": int.__ne__,
}
_POSITIONS: Final[dict[str, Callable[[str, str], bool]]] = {
    "CONTAINS": str.__contains__,
    "ENDS_WITH": str.endswith,
    "EXACTLY": str.__eq__,
    "STARTS_WITH": str.startswith,
}


@dataclass(frozen=True, slots=True)
class FrontOrigin:
    """Where the container for large requests is, and what shows it that the edge asks."""

    url: str
    secret: str


class Edge:
    """One address for the API, as an ASGI application.

    `{base_url}/api/…` goes to the stage `api` in the engine, a send over what Lambda takes to
    the front.
    """

    def __init__(
        self, template: Template, stage_url: str, front: FrontOrigin, client: httpx.AsyncClient
    ) -> None:
        """Read the rules.

        Args:
            template: as `template.load` gives it.
            stage_url: where the engine serves the stage `api`, without a slash at its end.
            front: who answers what is too large for the engine.
            client: asks both; owned by the caller.
        """
        self._rules = template["Resources"]["Firewall"]["Properties"]["Rules"]
        self._gateway = GatewayResponses(template)
        self._route = Route(template)
        self._stage = httpx.URL(stage_url)
        self._front = front
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with X-Request-Id whoever answers."""
        answer = await self._answer(Request(scope, receive))
        answer.headers.setdefault("x-request-id", str(uuid4()))
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if blocked(self._rules, request.headers.get("user-agent")):
            return self._gateway.answer("WAF_FILTERED")
        path = self._route.canonical(request.scope["raw_path"].decode("latin-1"))
        if not path.startswith("/api/") or re.search(r"/\.{1,2}(/|$)", path):
            return self._gateway.answer("MISSING_AUTHENTICATION_TOKEN")
        length = request.headers.get("content-length")
        origin, limit = self._route.origin(request.method, path, int(length) if length else None)
        body = await _read(request, limit)
        if origin is Origin.NONE or (body is None and origin is Origin.FRONT):
            return refusal(_too_large(limit))
        if body is None:
            return self._gateway.answer("REQUEST_TOO_LARGE")
        try:
            self._route.check_method(request.method, path)
        except ServiceError as error:
            return refusal(error)
        onward = self._onward if origin is Origin.API else self._to_front
        try:
            answer = await self._client.send(onward(request, path, body), stream=True)
            content = b"".join([part async for part in answer.aiter_raw()])
        except httpx.TimeoutException:
            return self._gateway.answer("INTEGRATION_TIMEOUT")
        except httpx.TransportError:
            return self._gateway.answer("INTEGRATION_FAILURE")
        if answer.is_error and request.method != "HEAD" and not _is_envelope(content):
            return self._gateway.instead_of(answer)
        reply = Response(content, answer.status_code)
        reply.raw_headers.extend(
            (name.lower(), value)
            for name, value in answer.headers.raw
            if name.decode().lower() not in _HOP_BY_HOP
        )
        return reply

    def _onward(self, request: Request, path: str, body: bytes) -> httpx.Request:
        headers = [
            (name, value)
            for name, value in request.headers.items()
            if name not in _HOP_BY_HOP
            # The engine would take a request that is signed for AWS for one to itself.
            and not name.startswith("x-amz-")
            and not value.startswith("AWS4-")
        ]
        if "gzip" in request.headers.get("content-encoding", "").lower():
            # The engine inflates what says gzip and the gateway does not: wrap it once more,
            # and let the inner coding go by its other name (RFC 9110 section 8.4.1.3).
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
        target = f"{self._stage.raw_path.decode()}{path.removeprefix('/api')}"
        if query := request.scope["query_string"].decode("latin-1"):
            target += f"?{query}"
        # Made by hand: the client would add headers of its own to the caller's.
        return httpx.Request(
            request.method,
            self._stage.copy_with(raw_path=target.encode("latin-1")),
            headers=[(name.encode(), value.encode("latin-1")) for name, value in headers],
            content=body,
            extensions={"timeout": self._client.timeout.as_dict()},
        )

    def _to_front(self, request: Request, path: str, body: bytes) -> httpx.Request:
        headers = [
            (name, value)
            for name, value in request.headers.items()
            if name not in _HOP_BY_HOP and not name.startswith("x-pillarbox-")
        ]
        headers.append(("x-pillarbox-edge", self._front.secret))
        headers.append(("x-pillarbox-client", request.client.host if request.client else ""))
        target = httpx.URL(self._front.url).copy_with(raw_path=path.encode("latin-1"))
        return httpx.Request(
            request.method,
            target,
            headers=[(name.encode(), value.encode("latin-1")) for name, value in headers],
            content=body,
            extensions={"timeout": self._client.timeout.as_dict()},
        )


def refusal(error: ServiceError) -> Response:
    """The answer that the edge gives by itself."""
    return Response(
        json.dumps({"error": error.envelope()}),
        error.status,
        headers=dict(error.headers),
        media_type="application/json",
    )


def _too_large(limit: int) -> ServiceError:
    return ServiceError(
        "request_too_large", "The request is too large.", details={"limit_bytes": limit}
    )


async def _read(request: Request, limit: int) -> bytes | None:
    """The body, or None when it is over the limit; it is read to its end all the same.

    A client that is still sending would see a broken connection in place of the answer.
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
    try:
        return "error" in json.loads(content)
    except (TypeError, ValueError):
        return False

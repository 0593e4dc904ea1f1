"""A client of the API: each call invokes one function in the way API Gateway does.

The responses that the edge and the gateway make by themselves come from template.yaml.
"""

import base64
import importlib.util
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from starlette.responses import Response

from local import template
from local.edge import GatewayResponses, refusal
from local.route import Route
from pillarbox.domain.errors import ServiceError
from tests.contract.documented import check_documented

FUNCTIONS: Final = Path(__file__).parents[2] / "functions"
_request_ids = count(1)

_TEMPLATE: Final = template.inlined(template.load())
_EDGE: Final = Route(_TEMPLATE)
_GATEWAY: Final = GatewayResponses(_TEMPLATE)
#: Base of the routes in another shape -> the header that has the key.
_CREDENTIALS: Final = {
    "/resend": ("Authorization", "Bearer {}"),
    "/postmark": ("X-Postmark-Server-Token", "{}"),
}
_PARAMETER: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """An HTTP response. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def error(self) -> Any:
        return self.json["error"]

    @property
    def code(self) -> str:
        """The error's code; "" for a success, so that a failed comparison shows the codes.

        An error of JSON-RPC has our code in its data.
        """
        if self.status < 300:
            return ""
        return str({**self.error, **self.error.get("data", {})}["code"])

    @property
    def errors(self) -> dict[str, str]:
        """`details.errors[]` as field -> code."""
        return {error["field"]: error["code"] for error in self.error["details"]["errors"]}


@dataclass(frozen=True, slots=True)
class Api:
    """A client of the API with one key; every call is one invocation of a function."""

    key: str | None = None
    base: str = "/v1"
    #: The access token of a session.
    session: str | None = None

    def send(self, body: object, *, idempotency_key: str | None = None) -> ApiResponse:
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        return self.raw("POST", "/emails", json.dumps(body), headers)

    def get(self, message_id: str) -> ApiResponse:
        return self.raw("GET", f"/emails/{message_id}")

    def pages(self, path: str, **query: str) -> Iterator[Any]:
        """Get each page of a list."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.raw("GET", path, query=query | ({"cursor": cursor} if cursor else {})).json
            cursor = page["nextCursor"]
            yield page

    def starters(self) -> ApiResponse:
        return self.raw("GET", "/starter-templates")

    def preview(self, slug: str, body: object = None) -> ApiResponse:
        return self.raw("POST", f"/starter-templates/{slug}/preview", body)

    def raw(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str | list[str]] | None = None,
        *,
        query: Mapping[str, str | list[str]] | None = None,
        client: str = "127.0.0.1",
    ) -> ApiResponse:
        """Send anything, from the address `client`; what is no text and no octets as JSON."""
        if not isinstance(body, str | bytes | None):
            body = json.dumps(body)
        name, value = _CREDENTIALS.get(self.base, ("X-API-Key", "{}"))
        sent = {"User-Agent": "shop/1.0"} | (
            {} if self.key is None else {name: value.format(self.key)}
        )
        sent |= {} if self.session is None else {"Authorization": f"Bearer {self.session}"}
        several = _several(sent | dict(headers or {}))
        asked = _several(query or {})
        full = _EDGE.canonical(f"/api{self.base}{path}")
        request_id = f"request-{next(_request_ids)}"
        routed = _route(full)
        try:
            _EDGE.check_method(method, full)
        except ServiceError as error:
            return _own_response(refusal(error), request_id)
        if routed is None:
            return _own_response(_GATEWAY.response("MISSING_AUTHENTICATION_TOKEN"), request_id)
        resource, parameters, functions = routed
        event = {
            "resource": resource,
            "path": unquote(full.removeprefix("/api")),
            "httpMethod": method,
            "headers": {name: values[-1] for name, values in several.items() if values},
            "multiValueHeaders": several,
            "queryStringParameters": {name: values[-1] for name, values in asked.items()} or None,
            "multiValueQueryStringParameters": asked or None,
            "pathParameters": parameters or None,
            "stageVariables": None,
            "requestContext": {
                "requestId": request_id,
                "stage": "api",
                "identity": {"sourceIp": client},
            },
            "body": base64.b64encode(body).decode() if isinstance(body, bytes) else body,
            "isBase64Encoded": isinstance(body, bytes),
        }
        answer = handler(functions[method])(event, Invocation())
        headers_out = {k.lower(): ", ".join(v) for k, v in answer["multiValueHeaders"].items()}
        check_documented(method, resource, answer["statusCode"], headers_out, answer["body"])
        return ApiResponse(answer["statusCode"], headers_out, answer["body"])


@dataclass(frozen=True, slots=True)
class Invocation:
    """The part of Lambda's context that handlers use."""

    aws_request_id: str = "invocation"
    function_name: str = "function"
    memory_limit_in_mb: int = 1024
    invoked_function_arn: str = "arn:aws:lambda:eu-west-1:123456789012:function:function"
    seconds_left: int = 60

    def get_remaining_time_in_millis(self) -> int:
        return self.seconds_left * 1000


@cache
def handler(function: str) -> Callable[[dict[str, Any], object], dict[str, Any]]:
    """Return the `lambda_handler` of a function, loaded from its folder."""
    path = FUNCTIONS / function / "app.py"
    spec = importlib.util.spec_from_file_location(f"functions_{function}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lambda_handler: Callable[[dict[str, Any], object], dict[str, Any]] = module.lambda_handler
    return lambda_handler


def _several(given: Mapping[str, str | list[str]]) -> dict[str, list[str]]:
    return {name: [value] if isinstance(value, str) else value for name, value in given.items()}


def _own_response(response: Response, request_id: str) -> ApiResponse:
    """An answer of the edge or the gateway, with the request id that AWS puts on it."""
    headers = dict(response.headers) | {"x-request-id": request_id}
    headers.pop("content-length")
    return ApiResponse(response.status_code, headers, bytes(response.body).decode())


@cache
def _routes() -> Mapping[str, tuple[re.Pattern[str], Mapping[str, str]]]:
    """The paths of api.yaml, those without a parameter first: pattern, and method -> folder."""
    routes: dict[str, dict[str, str]] = {}
    for (path, method), function in template.routes(_TEMPLATE).items():
        code = _TEMPLATE["Resources"][function]["Properties"]["CodeUri"]
        # The edge refuses other methods, and writes the second reading of a path as the first.
        if method != "ANY" and not path.startswith("/v1/v1/"):
            routes.setdefault(path, {})[method] = code.removeprefix("functions/")
    return {
        path: (re.compile("/api" + _PARAMETER.sub(r"(?P<\1>[^/]+)", path)), routes[path])
        for path in sorted(routes, key=lambda path: path.count("{"))
    }


def _route(path: str) -> tuple[str, dict[str, str], Mapping[str, str]] | None:
    """What API Gateway makes of a path: resource, decoded parameters, a function per method."""
    for resource, (pattern, functions) in _routes().items():
        if match := pattern.fullmatch(path.rstrip("/")):
            values = {name: unquote(value) for name, value in match.groupdict().items()}
            return resource, values, functions
    return None

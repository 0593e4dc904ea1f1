"""A client of the API: each call invokes one function in the way API Gateway does."""

import base64
import importlib.util
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from local import template
from tests.contract.documented import check_documented

FUNCTIONS: Final = Path(__file__).parents[2] / "functions"
_request_ids = count(1)

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
        """The error's code; "" for a success, so that a failed comparison shows the codes."""
        return str(self.json["error"]["code"]) if self.status >= 300 else ""

    @property
    def faults(self) -> dict[str, str]:
        """`details.errors[]` as field -> code."""
        return {fault["field"]: fault["code"] for fault in self.error["details"]["errors"]}


@dataclass(frozen=True, slots=True)
class Api:
    """A client of the API with one key; every call is one invocation of a function."""

    key: str | None = None
    base: str = "/v1"

    def send(self, body: object, *, idempotency_key: str | None = None) -> ApiResponse:
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        return self.raw("POST", "/emails", json.dumps(body), headers)

    def get(self, message_id: str) -> ApiResponse:
        return self.raw("GET", f"/emails/{message_id}")

    def starters(self) -> ApiResponse:
        return self.raw("GET", "/starter-templates")

    def preview(self, slug: str, body: object = None) -> ApiResponse:
        text = None if body is None else json.dumps(body)
        return self.raw("POST", f"/starter-templates/{slug}/preview", text)

    def raw(
        self,
        method: str,
        path: str,
        body: str | bytes | None = None,
        headers: Mapping[str, str | list[str]] | None = None,
        *,
        query: Mapping[str, str | list[str]] | None = None,
        function: str | None = None,
    ) -> ApiResponse:
        """Send anything; `function` names the one to call where no route tells."""
        sent = {} if self.key is None else {"X-API-Key": self.key}
        several = _several(sent | dict(headers or {}))
        asked = _several(query or {})
        resource, parameters, routed = _route(method, path)
        event = {
            "resource": f"{self.base}{resource}",
            "path": unquote(f"{self.base}{path}"),
            "httpMethod": method,
            "headers": {name: values[-1] for name, values in several.items() if values},
            "multiValueHeaders": several,
            "queryStringParameters": {name: values[-1] for name, values in asked.items()} or None,
            "multiValueQueryStringParameters": asked or None,
            "pathParameters": parameters or None,
            "stageVariables": None,
            "requestContext": {"requestId": f"request-{next(_request_ids)}", "stage": "api"},
            "body": base64.b64encode(body).decode() if isinstance(body, bytes) else body,
            "isBase64Encoded": isinstance(body, bytes),
        }
        answer = handler(function or routed)(event, Invocation())
        headers_out = {k.lower(): ", ".join(v) for k, v in answer["multiValueHeaders"].items()}
        if self.base in {"/v1", "/v1/v1"}:
            check_documented(
                method, f"/v1{resource}", answer["statusCode"], headers_out, answer["body"]
            )
        return ApiResponse(answer["statusCode"], headers_out, answer["body"])


@dataclass(frozen=True, slots=True)
class Invocation:
    """The part of Lambda's context that handlers use."""

    aws_request_id: str = "invocation"
    function_name: str = "function"
    memory_limit_in_mb: int = 1024
    invoked_function_arn: str = "arn:aws:lambda:eu-west-1:123456789012:function:function"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


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


@cache
def _routes() -> Mapping[str, Mapping[str, str]]:
    """The paths of template.yaml below /v1, those without a parameter first: method -> folder."""
    routes: dict[str, dict[str, str]] = {}
    for resource in template.load()["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            folder = resource["Properties"]["CodeUri"].removeprefix("functions/")
            for event in resource["Properties"]["Events"].values():
                if event["Type"] == "Api":
                    path = event["Properties"]["Path"].removeprefix("/v1")
                    routes.setdefault(path, {})[event["Properties"]["Method"].upper()] = folder
    return dict(sorted(routes.items(), key=lambda route: route[0].count("{")))


def _route(method: str, path: str) -> tuple[str, dict[str, str], str]:
    """What API Gateway makes of a path: resource, decoded parameters, and who owns it."""
    for resource, owners in _routes().items():
        if match := re.fullmatch(_PARAMETER.sub(r"(?P<\1>[^/]+)", resource), path.rstrip("/")):
            values = {name: unquote(value) for name, value in match.groupdict().items()}
            return resource, values, owners.get(method, owners.get("ANY", "send_email"))
    return path, {}, "send_email"

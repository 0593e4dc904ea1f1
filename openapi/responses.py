"""The responses of operations: the success, and each error that the operation may answer with."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final, get_args

from openapi.errors import ERRORS, EVERYWHERE, OF_CREDENTIALS, example_of
from openapi.operation import Operation
from openapi.parameters import not_found_of
from openapi.schemas import Schemas
from pillarbox.domain.sign_in.session import OPERATE
from pillarbox.http.callers import SESSION
from pillarbox.http.mcp.tools import rpc_code

#: The headers of every response.
_COMMON_HEADERS: Final = ("X-Request-Id", "Cache-Control")
#: What is wrong with a message of JSON-RPC, by the status.
_RPC_ERRORS: Final = {
    400: "The message is not JSON-RPC 2.0, contradicts the headers, or has another revision of MCP"
    " (-32022, with those that are supported).",
    404: "There is no such method (-32601).",
}


def responses_of(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    """Return the responses of an operation by status, as OpenAPI describes them."""
    success: dict[str, Any] = {
        "description": "The request succeeded.",
        "headers": _references(_success_headers(operation)),
    }
    if operation.response:
        (item,) = get_args(operation.response) or (operation.response,)
        schema = schemas.reference(item)
        if item is not operation.response:
            schema = {"type": "array", "items": schema}
        success["content"] = {
            "application/json": {
                "schema": schema,
                "example": schemas.completed(operation.response_example, schema),
            }
        }
    if operation.links:
        success["links"] = {
            target: {"operationId": target, "parameters": dict(parameters)}
            for target, parameters in operation.links.items()
        }
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in error_codes(operation):
        by_status[ERRORS[code].status].append(code)
    if operation.rpc:
        for status in _RPC_ERRORS:
            by_status.setdefault(status, [])
    errors = {str(status): _error(status, by_status[status]) for status in sorted(by_status)}
    if operation.rpc:
        for error in errors.values():
            _allow_rpc(error["content"]["application/json"], schemas.reference(operation.response))
        notified = {"description": "A notification: there is no response to it."}
        errors["202"] = notified | {"headers": _references(_COMMON_HEADERS)}
        for status, text in _RPC_ERRORS.items():
            content: dict[str, Any] = {
                "schema": schemas.reference(operation.response),
                "examples": {},
            }
            errors[str(status)] |= {
                "description": text,
                "content": {"application/json": content},
            }
    return {operation.success: success} | errors


def _allow_rpc(content: dict[str, Any], reference: Mapping[str, Any]) -> None:
    """Describe an error as JSON-RPC, as the function writes it, or the envelope of the gateway."""
    content["schema"] = {"anyOf": [reference, content["schema"]]}
    for code in content["examples"]:
        example: dict[str, Any] = example_of(code)
        error = example["value"]["error"]
        shown = {"code": rpc_code(ERRORS[code].status), "message": error["message"], "data": error}
        body = {"jsonrpc": "2.0", "id": None, "error": shown}
        content["examples"][code] = example | {"value": body}


def _success_headers(operation: Operation) -> Iterable[str]:
    yield from _COMMON_HEADERS
    if operation.idempotent:
        yield from ("Idempotent-Replay", "RateLimit-Policy", "RateLimit")
    if operation.sets_cookie:
        yield "Set-Cookie"


def error_codes(operation: Operation) -> list[str]:
    """Return the codes that an operation may answer with, each once."""
    codes = [code for name in operation.security for code in OF_CREDENTIALS[name]]
    codes += EVERYWHERE
    if operation.security == (SESSION,):
        codes.append("session_required")
        if operation.scope not in {None, OPERATE}:  # a role in an account, not in the service
            codes.append("account_suspended")
    codes += not_found_of(operation)
    codes += operation.errors
    if "{" in operation.path:
        codes.append("route_not_found")
    if operation.takes_account:
        codes.append("account_not_found")
    if operation.takes_revision:
        codes.append("draft_changed")
    if operation.creates_named:
        codes.append("already_exists")
    if operation.idempotent:
        codes += ("idempotency_key_mismatch", "idempotency_in_flight")
    if operation.scope:
        codes.append("scope_required")
    return list(dict.fromkeys(codes))


def _error(status: int, codes: Iterable[str]) -> dict[str, Any]:
    """Return an error's response: the envelope, with an example of each code."""
    listed = list(codes)
    headers = [*_COMMON_HEADERS]
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        headers.append("Allow")
    if {"idempotency_in_flight", "service_unavailable"} & set(listed):
        headers.append("Retry-After")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        headers += ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]
        headers += ["RateLimit-Policy", "RateLimit"]
    return {
        "description": "; ".join(f"`{code}`" for code in listed),
        "headers": _references(headers),
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/ErrorResponse"},
                "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in listed},
            }
        },
    }


def _references(headers: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in headers}

"""JSON-RPC 2.0: read the one message of a request, and write its response."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aws_lambda_powertools.event_handler.api_gateway import Response
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.domain.errors import Json, ServiceError, ValidationFailed
from pillarbox.http.messages.replies import Reply
from pillarbox.http.requests import read_json

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022

_BAD_REQUEST: Final = 400
_NOT_FOUND: Final = 404
_SERVER_ERROR: Final = 500

type RequestId = str | int


class RpcError(Exception):
    """An error of a message itself. The errors of tools are results, so that the model sees them.

    Args:
        code: of JSON-RPC or MCP.
        message: for people.
        data: for programs.
    """

    def __init__(self, code: int, message: str, data: Mapping[str, Json] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcMessage:
    """A request, or a notification if `request_id` is None."""

    request_id: RequestId | None
    method: str
    params: Mapping[str, Json]


def read_message(event: APIGatewayProxyEvent) -> RpcMessage:
    """Read the message of a request."""
    try:
        body = read_json(event)
    except ValidationFailed as failed:
        raise RpcError(PARSE_ERROR, failed.errors[0].message) from None
    if not isinstance(body, dict) or body.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "The body must be one JSON-RPC 2.0 message.")
    method, params, request_id = body.get("method"), body.get("params", {}), body.get("id")
    if not isinstance(method, str) or not isinstance(params, dict):
        raise RpcError(INVALID_REQUEST, "The message must have a method, and an object as params.")
    is_id = isinstance(request_id, str | int) and not isinstance(request_id, bool)
    if "id" in body and not is_id:
        raise RpcError(INVALID_REQUEST, "The id must be a string or a whole number.")
    return RpcMessage(
        request_id=request_id if isinstance(request_id, str | int) else None,
        method=method,
        params=params,
    )


def reply_result(request_id: RequestId, result: Mapping[str, Json]) -> Reply:
    """Reply with the result of a request."""
    return _reply(200, {"id": request_id, "result": dict(result)})


def reply_rpc_error(request_id: RequestId | None, error: RpcError, *, handshake: bool) -> Reply:
    """Reply with an error.

    Args:
        request_id: of the request, if it has one.
        error: the error.
        handshake: whether the client speaks a revision with a handshake. Such a client takes any
            status but 200 for a failure of the connection.
    """
    body: dict[str, Json] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = dict(error.data)
    status = _NOT_FOUND if error.code == METHOD_NOT_FOUND else _BAD_REQUEST
    if handshake and error.code in {METHOD_NOT_FOUND, INVALID_PARAMS}:
        status = 200
    return _reply(status, {"id": request_id, "error": body})


def rpc_code(status: int) -> int:
    """Return the code of JSON-RPC for an error that has none of its own."""
    return INTERNAL_ERROR if status >= _SERVER_ERROR else INVALID_REQUEST


def reply_service_error(error: ServiceError) -> Reply:
    """Reply with an error that came before the message was read, such as a wrong key.

    Clients of MCP show their users the error of JSON-RPC. Its `data` is the error of the envelope.
    """
    body: Json = {
        "code": rpc_code(error.status),
        "message": error.message,
        "data": error.envelope(),
    }
    return _reply(error.status, {"id": None, "error": body}, error.headers)


def _reply(
    status: int, body: Mapping[str, Json], headers: Mapping[str, str] | None = None
) -> Reply:
    text = json.dumps({"jsonrpc": "2.0", **body}, separators=(",", ":"))
    return Response(status, "application/json", text, headers=dict(headers or {}))

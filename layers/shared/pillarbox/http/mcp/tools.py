"""MCP's messages (JSON-RPC 2.0), and its tools: their descriptions, arguments and errors.

No tool creates keys, members or webhooks, or removes suppressions. The texts and the shapes of the
arguments are in tools.json, which `make openapi` writes (openapi/mcp.py). Only a list loads them.

A result is for a model, which cannot tell data from instructions. So texts of emails and their
recipients stand only in named fields, on one line, without invisible characters, and cut.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from aws_lambda_powertools.event_handler.api_gateway import Response
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.domain.accounts.key import EMAILS_READ, EMAILS_SEND, RECEIVED_READ, TEMPLATES_READ
from pillarbox.domain.errors import Json, ServiceError, ValidationFailed
from pillarbox.domain.messages.header_text import in_one_line, without_invisible
from pillarbox.http.messages.replies import Reply, error_body
from pillarbox.http.requests import read_json, request_origin

if TYPE_CHECKING:
    from pillarbox.application.accounts.domains import DomainCheck
    from pillarbox.application.accounts.suppressions import SuppressionList
    from pillarbox.application.authentication import Authentication
    from pillarbox.application.history.lookup import MessageLookup
    from pillarbox.application.history.queries import HistoryQueries
    from pillarbox.application.received import ReceivedReading
    from pillarbox.application.sending.batch import BatchSend
    from pillarbox.application.sending.changes import MessageChanges
    from pillarbox.application.sending.single import SingleSend
    from pillarbox.application.templates.authoring import TemplateLibrary
    from pillarbox.application.templates.editing import RenderBudget
    from pillarbox.domain.accounts.key_policy import Principal
    from pillarbox.domain.client_origin import ClientOrigin

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
    """An error of a message itself. Those of tools are results, so that the model sees them."""

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
    return _reply(200, {"id": request_id, "result": dict(result)})


def reply_rpc_error(request_id: RequestId | None, error: RpcError, *, handshake: bool) -> Reply:
    """Reply with an error.

    A client that speaks a revision with a handshake takes any status but 200 for a failure of the
    connection.
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


#: In characters, of a text in a result.
MAX_TEXT: Final = 200
#: The same, of the message of an error, which is our own.
_MAX_ERROR: Final = 512
#: The faults that an error lists.
_MAX_FAULTS: Final = 20
#: Lone surrogates could not be encoded.
_SURROGATES: Final = "[\ud800-\udfff]"


@dataclass(frozen=True, slots=True)
class Lines:
    """A text whose first lines a result has, each cut."""

    text: str
    most: int


class UseCases(Protocol):
    """The use cases of the tools; each is made when a tool first needs it."""

    @property
    def authentication(self) -> "Authentication": ...
    @property
    def single_send(self) -> "SingleSend": ...
    @property
    def batch_send(self) -> "BatchSend": ...
    @property
    def changes(self) -> "MessageChanges": ...
    @property
    def history_queries(self) -> "HistoryQueries": ...
    @property
    def message_lookup(self) -> "MessageLookup": ...
    @property
    def template_library(self) -> "TemplateLibrary": ...
    @property
    def render_budget(self) -> "RenderBudget": ...
    @property
    def suppression_list(self) -> "SuppressionList": ...
    @property
    def domain_check(self) -> "DomainCheck": ...
    @property
    def received_reading(self) -> "ReceivedReading": ...
    @property
    def region(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A request to call a tool. `can_ask` is whether the client can ask its user."""

    services: UseCases
    event: "APIGatewayProxyEvent"
    now: datetime
    key_text: str
    principal: "Principal"
    params: Mapping[str, Json]
    can_ask: bool

    @property
    def origin(self) -> "ClientOrigin":
        return request_origin(self.event)

    @property
    def tool(self) -> str:
        """Return the name of the tool; empty if there is none."""
        name = self.params.get("name")
        return name if isinstance(name, str) else ""

    @property
    def arguments(self) -> dict[str, Json]:
        arguments = self.params.get("arguments")
        if not isinstance(arguments, dict | None):
            raise RpcError(INVALID_PARAMS, "The arguments of a tool must be an object.")
        return dict(arguments or {})


def cleaned(text: str, most: int = MAX_TEXT) -> str:
    """Return a text on one line, without what people do not see, and cut."""
    text = without_invisible(in_one_line(re.sub(_SURROGATES, "\ufffd", text)))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def tool_result(value: object, most: int = MAX_TEXT) -> dict[str, Json]:
    """Return the result of a tool: data, and the same as a text for clients that show only text.

    A text in it has at most so many characters.
    """
    data = _clean(value, most)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return {"content": [{"type": "text", "text": text}], "structuredContent": data}


def tool_error(error: ServiceError) -> dict[str, Json]:
    """Return the error of a tool, as the API's envelope has it. The model may correct its call."""
    return tool_result({"error": error_body(error, _MAX_FAULTS)}, _MAX_ERROR) | {"isError": True}


def _clean(value: object, most: int) -> Json:
    match value:
        case Lines():
            return "\n".join(cleaned(line, most) for line in value.text.splitlines()[: value.most])
        case str():
            return cleaned(value, most)
        case Mapping():
            return {cleaned(str(name)): _clean(member, most) for name, member in value.items()}
        case list() | tuple():
            return [_clean(item, most) for item in value]
        case bool() | int() | float() | None:
            return value
    raise TypeError(f"a result has no {type(value).__name__}")


#: The permission that each tool needs, in the order of the list.
SCOPES: Final[Mapping[str, str | None]] = {
    "send_email": EMAILS_SEND,
    "send_batch": EMAILS_SEND,
    "cancel_email": EMAILS_SEND,
    "reschedule_email": EMAILS_SEND,
    "release_email": EMAILS_SEND,
    "list_starters": None,
    "preview_starter": None,
    "list_templates": TEMPLATES_READ,
    "get_template": TEMPLATES_READ,
    "render_template": TEMPLATES_READ,
    "list_emails": EMAILS_READ,
    "get_email": EMAILS_READ,
    "get_analytics": EMAILS_READ,
    "check_domain": EMAILS_READ,
    "list_suppressions": EMAILS_READ,
    "list_received": RECEIVED_READ,
    "get_received": RECEIVED_READ,
}
#: Keys that send starter templates only send them at once, and one at a time.
_NOT_FOR_STARTERS: Final = frozenset(
    {"cancel_email", "release_email", "reschedule_email", "send_batch"}
)


def list_tools(principal: "Principal") -> list[Json]:
    """Return the tools that a caller may use."""
    path = Path(__file__).with_name("tools.json")
    tools: list[Json] = json.loads(path.read_text(encoding="utf-8"))
    return [
        tool for tool in tools if isinstance(tool, dict) and _may_use(principal, str(tool["name"]))
    ]


def _may_use(principal: "Principal", tool: str) -> bool:
    scope = SCOPES[tool]
    if principal.policy.starters_only and tool in _NOT_FOR_STARTERS:
        return False
    return scope is None or scope in principal.key.scopes

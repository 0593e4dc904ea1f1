"""The types that members of responses have in the OpenAPI document, besides Python's own.

At run time nothing imports this module, so no function loads it or, because of it, pydantic.

At run time nothing imports this module, as `json_types`.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import Field, WithJsonSchema

#: A member that is left out if it is null or false.
type IfSet[T] = T
type Uuid = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
type Timestamp = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
type Count = Annotated[int, Field(ge=0)]
type FromOne = Annotated[int, Field(ge=1)]
type Rate = Annotated[
    float, Field(ge=0, le=1, description="The fraction of what was sent; 0 if nothing was.")
]
type ShortId = Annotated[str, Field(pattern="^[0-9a-z]{12}$")]
type NextCursor = Annotated[
    str | None, Field(description="For the parameter `cursor`; null at the end.")
]
type ErrorType = Literal[
    "invalid_request_error",
    "authentication_error",
    "authorization_error",
    "not_found",
    "idempotency_error",
    "rate_limit_error",
    "api_error",
    "service_unavailable",
]


class ErrorBody(TypedDict):
    """What went wrong."""

    code: Annotated[str, Field(description="A stable code for programs.")]
    message: Annotated[str, Field(description="A text for people. It may change.")]
    type: ErrorType
    details: NotRequired[
        Annotated[dict[str, object], Field(description="Data that depends on the code.")]
    ]
    upgrade_url: NotRequired[Annotated[str, Field(description="Only with `upgrade_required`.")]]


class ErrorEnvelope(TypedDict):
    """The body of every error response."""

    error: ErrorBody


class RpcRequest(TypedDict):
    """A request, or a notification if it has no id (JSON-RPC 2.0)."""

    jsonrpc: Literal["2.0"]
    id: NotRequired[Annotated[str | int, Field(description="The response repeats it.")]]
    method: Annotated[str, Field(description="Such as `tools/list` or `tools/call`.")]
    params: NotRequired[Annotated[dict[str, object], Field(description="What the method needs.")]]


class RpcErrorBody(TypedDict):
    """What is wrong with a message. The error of a tool is in the tool's result."""

    code: Annotated[int, Field(description="A code of JSON-RPC or MCP, such as -32601.")]
    message: str
    data: NotRequired[dict[str, object]]


class RpcResponse(TypedDict):
    """The response to a request: a result or an error."""

    jsonrpc: Literal["2.0"]
    id: Annotated[str | int | None, Field(description="Null if the request has none to repeat.")]
    result: NotRequired[dict[str, object]]
    error: NotRequired[RpcErrorBody]

"""The JSON of the messages, for the OpenAPI document, which is generated from these types.

At run time nothing imports this module, as `json_types`.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import Field


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

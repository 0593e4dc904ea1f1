"""The tools by name: the permission of each, the list of them, and their calls.

No tool creates keys, members or webhooks, or removes suppressions. The texts and the shapes of the
arguments are in tools.json, which `make openapi` writes (openapi/mcp.py). Only a list loads them.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pillarbox.domain.accounts.key import EMAILS_READ, EMAILS_SEND, TEMPLATES_READ
from pillarbox.domain.errors import Json, ServiceError
from pillarbox.http.mcp.calls import ToolCall, cleaned, tool_error
from pillarbox.http.mcp.messages import INVALID_PARAMS, RpcError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pillarbox.domain.accounts.key_policy import Principal

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
}
_SENDING: Final = frozenset({"send_email", "send_batch"})
_CHANGING: Final = frozenset({"cancel_email", "reschedule_email", "release_email"})
#: Keys that send starter templates only send them at once, and one at a time.
_NOT_FOR_STARTERS: Final = _CHANGING | {"send_batch"}


def list_tools(principal: "Principal") -> list[Json]:
    """Return the tools that a caller may use."""
    path = Path(__file__).with_name("tools.json")
    tools: list[Json] = json.loads(path.read_text(encoding="utf-8"))
    return [
        tool for tool in tools if isinstance(tool, dict) and _may_use(principal, str(tool["name"]))
    ]


def call_tool(call: ToolCall) -> dict[str, Json]:
    """Call a tool. Its errors are results.

    Raises:
        RpcError: there is no such tool, or its arguments are not an object.
    """
    if call.tool not in SCOPES:
        raise RpcError(INVALID_PARAMS, f"There is no tool {cleaned(call.tool)!r}.")
    try:
        if (scope := SCOPES[call.tool]) is not None:
            call.principal.require(scope)
        return _tools(call.tool)[call.tool](call)
    except ServiceError as error:
        return tool_error(error)


def _tools(tool: str) -> "Mapping[str, Callable[[ToolCall], dict[str, Json]]]":
    """Import what a tool needs, which is a part of each cold start."""
    if tool in _SENDING:
        from pillarbox.http.mcp import sending  # noqa: PLC0415

        return sending.TOOLS
    if tool in _CHANGING:
        from pillarbox.http.mcp import changes  # noqa: PLC0415

        return changes.TOOLS
    from pillarbox.http.mcp import reading  # noqa: PLC0415

    return reading.TOOLS


def _may_use(principal: "Principal", tool: str) -> bool:
    scope = SCOPES[tool]
    if principal.policy.starters_only and tool in _NOT_FOR_STARTERS:
        return False
    return scope is None or scope in principal.key.scopes

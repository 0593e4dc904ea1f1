"""The tools of the MCP server, as its list shows them."""

import json
from typing import Any

from jsonschema import Draft202012Validator

from openapi.mcp import ARGUMENTS, tools
from pillarbox.http.mcp.sending import SendControls
from pillarbox.http.mcp.tools import SCOPES
from pillarbox.http.messages.wire import SendEmailRequest
from pillarbox.http.wire import WireModel, fields_of
from tests.loops import for_each

_TOOLS = {tool["name"]: tool for tool in tools()}


def names_of(*models: type[WireModel]) -> set[str]:
    return {field.name for model in models for field in fields_of(model).values()}


def properties(tool: str) -> dict[str, Any]:
    shown: dict[str, Any] = _TOOLS[tool]["inputSchema"]["properties"]
    return shown


def test_every_tool_is_listed_in_order() -> None:
    assert list(_TOOLS) == list(SCOPES)


@for_each("tool", ARGUMENTS)
def test_arguments_are_those_that_the_tool_reads(tool: str) -> None:
    assert set(properties(tool)) == names_of(ARGUMENTS[tool])


def test_a_send_has_the_fields_of_the_api_and_the_controls() -> None:
    """send_email takes what POST /v1/emails takes, and what decides whether it is sent."""
    assert set(properties("send_email")) == names_of(SendEmailRequest, SendControls)
    assert set(properties("send_batch")) == {"messages"} | names_of(SendControls)


@for_each("tool", SCOPES)
def test_schemas_are_plain(tool: str) -> None:
    """Each schema is valid and one object, without references, null or a choice at its top."""
    schema = _TOOLS[tool]["inputSchema"]
    Draft202012Validator.check_schema(schema)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert not {"anyOf", "oneOf", "allOf"} & schema.keys()
    text = json.dumps(schema)
    assert "$ref" not in text
    assert '"null"' not in text

"""The dashboard's types of the API are those of the OpenAPI document."""

import json

import pytest

from dashboard.api_types import UnknownSchema, api_types
from local.template import ROOT
from openapi.operations import OPERATIONS


def test_each_operation_has_a_type() -> None:
    """`Operations` has each operation of the API, by its method and path."""
    types = api_types(json.loads((ROOT / "docs/openapi.json").read_text()))
    for operation in OPERATIONS:
        assert f'  "{operation.method.upper()} {operation.path}": {{ query: ' in types


def test_a_schema_becomes_a_type() -> None:
    """Optional members, lists, enums, null and references are written as TypeScript has them."""
    schema = {
        "type": "object",
        "required": ["state", "next"],
        "properties": {
            "state": {"enum": ["on", "off"], "type": "string"},
            "next": {"anyOf": [{"$ref": "#/components/schemas/Other"}, {"type": "null"}]},
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    }
    types = api_types({"components": {"schemas": {"Thing": schema}}, "paths": {}})
    assert (
        'export type Thing = { "state": "on" | "off"; "next": Other | null;'
        ' "numbers"?: (number)[]; "tags"?: Record<string, string>; };\n'
    ) in types


def test_an_unknown_schema_is_refused() -> None:
    """A part of JSON Schema that the generator does not know is an error, and no wrong type."""
    with pytest.raises(UnknownSchema):
        api_types({"components": {"schemas": {"Thing": {"not": {}}}}, "paths": {}})

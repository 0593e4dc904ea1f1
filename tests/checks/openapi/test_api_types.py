"""The dashboard's types of the API are those of the OpenAPI document."""

import json

import pytest

from dashboard.api_types import UnknownSchema, api_types
from local.template import ROOT
from openapi.operations import OPERATIONS


def test_each_operation_has_a_type() -> None:
    types = api_types(json.loads((ROOT / "docs/openapi.json").read_text()))
    for operation in OPERATIONS:
        assert f'  "{operation.method.upper()} {operation.path}": {{ query: ' in types


def test_a_schema_becomes_a_type() -> None:
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
    with pytest.raises(UnknownSchema):
        api_types({"components": {"schemas": {"Thing": {"not": {}}}}, "paths": {}})

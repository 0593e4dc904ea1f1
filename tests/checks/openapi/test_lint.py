"""What linters and client generators ask of both documents; `make lint-openapi` runs them."""

from collections.abc import Iterator
from typing import Any

import yaml

from local.template import ROOT
from openapi.document import document
from tests.loops import for_each

_INBOX = yaml.safe_load((ROOT / "local/inbox/openapi.yaml").read_text(encoding="utf-8"))
both = for_each("described", [document(), _INBOX])


def _operations(described: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in described["paths"].values():
        yield from (item[method] for method in item.keys() & {"get", "post", "put", "delete"})


def _schemas(part: Any) -> Iterator[dict[str, Any]]:
    """Return every object in the schemas; those that hold names of fields do no harm."""
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part:
        if isinstance(inner, dict | list):
            yield from _schemas(inner)


@both
def test_the_document_says_who_answers_for_it(described: dict[str, Any]) -> None:
    assert described["info"]["license"]["identifier"] == "Apache-2.0"
    assert described["info"]["contact"]["name"]
    assert described["servers"]
    assert "security" in described
    assert all(tag["description"] for tag in described["tags"])


@both
def test_each_operation_is_described(described: dict[str, Any]) -> None:
    tags = {tag["name"] for tag in described["tags"]}
    for operation in _operations(described):
        assert operation["operationId"].isidentifier()
        assert set(operation["tags"]) <= tags
        assert operation["tags"]
        assert operation["summary"]
        assert operation["description"]
        assert {status[0] for status in operation["responses"]} >= {"2", "4"}


@both
def test_operations_have_names_of_their_own(described: dict[str, Any]) -> None:
    names = [operation["operationId"] for operation in _operations(described)]
    assert len(set(names)) == len(names)


@both
def test_schemas_have_no_rule_that_tools_misread(described: dict[str, Any]) -> None:
    for schema in _schemas(described["components"]["schemas"]):
        assert not schema.keys() & {"if", "oneOf"}
        branches = schema.get("anyOf", [])
        if {"type": "null"} in branches:
            assert not any(
                branch.get("type") == "object" or "enum" in branch for branch in branches
            )

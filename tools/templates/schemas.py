"""Reads the schemas of resource types, which cfn-lint has from CloudFormation's registry."""

from collections.abc import Iterable
from functools import cache

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER, ResourceNotFoundError

from tools.templates.translate import Json


@cache
def schema(kind: str, region: str) -> Json:
    """Return the schema of a resource type in a region; empty if the region does not have it."""
    try:
        return PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, kind).schema
    except ResourceNotFoundError:
        return {}


@cache
def attribute_type(kind: str, attribute: str, region: str) -> str | None:
    """Return the JSON type of what Fn::GetAtt reads; None if the type has no such attribute."""
    content = schema(kind, region)
    if not content:
        return "string"  # cfn-lint reports the type
    try:
        pointer: str = PROVIDER_SCHEMA_MANAGER.get_type_getatts(kind, region)[attribute]
    except KeyError:
        return None
    part = _at(content, pointer)
    found = part.get("type", "string")
    return str(found[0] if isinstance(found, list) else found)


def missing_properties(resource: Json, region: str) -> list[str]:
    """Return the properties that a resource's type requires, and that it does not have."""
    required = schema(resource.get("Type", ""), region).get("required", ())
    return [name for name in required if name not in resource.get("Properties", {})]


def fixed_properties(kind: str, region: str) -> list[tuple[str, ...]]:
    """Return the paths of properties whose change makes a new resource, or can make one."""
    content = schema(kind, region)
    names = ("createOnlyProperties", "conditionalCreateOnlyProperties")
    return _paths(pointer for name in names for pointer in content.get(name, ()))


def identifying_properties(kind: str, region: str) -> list[tuple[str, ...]]:
    """Return the paths of properties that identify a resource in its account."""
    return _paths(schema(kind, region).get("primaryIdentifier", ()))


def longest_text(kind: str, name: str, region: str) -> int:
    """Return how many characters a property may have; 64 if the schema has no limit."""
    declared: Json = schema(kind, region).get("properties", {}).get(name, {})
    return int(declared.get("maxLength", 64))


def _paths(pointers: Iterable[str]) -> list[tuple[str, ...]]:
    return [tuple(pointer.removeprefix("/properties/").split("/")) for pointer in pointers]


def _at(content: Json, pointer: str) -> Json:
    """Return the part of a schema at a JSON pointer; references are followed."""
    part = content
    for step in pointer.strip("/").split("/"):
        part = part.get(step, {})
        while "$ref" in part:
            part = _at(content, part["$ref"].removeprefix("#"))
    return part

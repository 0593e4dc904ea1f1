"""Checks what resources and outputs name: it exists."""

from collections.abc import Iterator
from typing import Final

from tools.templates.defects import Defect
from tools.templates.resolve import variables_of
from tools.templates.schemas import attribute_type
from tools.templates.stack import NESTED, Stack
from tools.templates.translate import Json

_OUTPUT: Final = "Outputs."


def references(part: Json) -> Iterator[tuple[str, str | None]]:
    """Yield each name in Ref, Fn::GetAtt and Fn::Sub, with the attribute if there is one."""
    match part:
        case {"Ref": str(name)}:
            yield name, None
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            yield name, attribute
        case {"Fn::Sub": str(text)}:
            yield from map(_split, variables_of(text))
        case {"Fn::Sub": [str(text), dict(variables)]}:
            yield from (_split(name) for name in variables_of(text) if name not in variables)
            yield from references(variables)
        case dict():
            for content in part.values():
                yield from references(content)
        case list():
            for content in part:
                yield from references(content)


def _split(name: str) -> tuple[str, str | None]:
    resource, _, attribute = name.partition(".")
    return resource, attribute or None


def depends_on(resource: Json) -> list[str]:
    """Return the names in a resource's DependsOn."""
    named = resource.get("DependsOn", [])
    return [named] if isinstance(named, str) else list(named)


def edges(stack: Stack) -> dict[str, set[str]]:
    """Return the resources that each resource of a stack needs."""
    return {
        name: {other for other, _ in references(resource) if other in stack.resources}
        | {other for other in depends_on(resource) if other in stack.resources}
        for name, resource in stack.resources.items()
    }


def check_references(stack: Stack) -> Iterator[Defect]:
    """Each name is a parameter or a resource that exists, and each attribute is its type's."""
    for key, content in [*stack.resources.items(), *stack.outputs.items()]:
        for name, attribute in dict.fromkeys(references(content)):
            is_value = name in stack.values or name.startswith("AWS::")
            if name in stack.resources and attribute is not None:
                yield from _check_attribute(stack, key, name, attribute)
            elif attribute is not None or not is_value:
                yield from _check_exists(stack, key, name)
    for key, resource in stack.resources.items():
        for name in depends_on(resource):
            yield from _check_exists(stack, key, name)


def _check_exists(stack: Stack, key: str, name: str) -> Iterator[Defect]:
    declared = stack.template["Resources"].get(name)
    if declared is None:
        message = f"It names {name}, which is not declared."
        yield Defect(stack.file, key, message, "Correct the name.")
    elif name not in stack.resources and "Condition" in declared:
        message = f"It names {name}, which does not exist if {declared['Condition']} is false."
        yield Defect(stack.file, key, message, "Name it only under the same condition (Fn::If).")


def _check_attribute(stack: Stack, key: str, name: str, attribute: str) -> Iterator[Defect]:
    kind = stack.resources[name]["Type"]
    if kind == NESTED:
        nested = stack.nested.get(name)
        output = attribute.removeprefix(_OUTPUT)
        if nested is not None and (output == attribute or output not in nested.outputs):
            message = f"It reads {name}.{attribute}, which {nested.file} does not give."
            yield Defect(stack.file, key, message, "Add the output, or its condition here too.")
    elif attribute_type(kind, attribute, stack.region) is None:
        message = f"It reads {name}.{attribute}, but {kind} has no such attribute."
        yield Defect(stack.file, key, message, "Take one that the resource's reference names.")

"""What resources and outputs name."""

from collections.abc import Iterator
from typing import Final

from tools.templates.defects import Defect
from tools.templates.resolve import variables_of
from tools.templates.stack import Stack
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
    """A nested stack gives each output that is read; cfn-lint knows all other names."""
    for key, content in [*stack.resources.items(), *stack.outputs.items()]:
        for name, attribute in dict.fromkeys(references(content)):
            nested, output = stack.nested.get(name), (attribute or "").removeprefix(_OUTPUT)
            if nested and attribute and (output == attribute or output not in nested.outputs):
                message = f"It reads {name}.{attribute}, which {nested.file} does not give."
                yield Defect(stack.file, key, message, "Add the output, or its condition here too.")

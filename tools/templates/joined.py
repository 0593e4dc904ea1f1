"""Joins a stack and its nested stacks to one template."""

from collections.abc import Mapping

from tools.templates.resolve import variables_of
from tools.templates.stack import NESTED, Stack
from tools.templates.translate import Json


def join(stack: Stack) -> Json:
    """Return one template with the resources of a stack and of its nested stacks.

    A parameter of a nested stack becomes what is passed, and an output what it reads. So each
    reference leads directly to a resource. Logical ids are unique in all stacks.
    """
    resources: dict[str, Json] = {}
    outputs: dict[str, Json] = {}
    for key, nested in stack.nested.items():
        passed = {name: value for name, value in nested.values.items() if isinstance(value, dict)}
        resources |= {name: _replace(part, passed) for name, part in nested.resources.items()}
        outputs |= {
            f"{key}.Outputs.{name}": _replace(part, passed) for name, part in nested.outputs.items()
        }
    own = {name: part for name, part in stack.resources.items() if part["Type"] != NESTED}
    joined = {name: _replace(part, outputs) for name, part in (own | resources).items()}
    for part in joined.values():
        part.pop("Condition", None)
        if depends_on := part.pop("DependsOn", None):
            named = [depends_on] if isinstance(depends_on, str) else depends_on
            part["DependsOn"] = [name for name in named if name in joined]
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": joined}


def _replace(part: Json, values: Mapping[str, Json]) -> Json:
    """Return a part of a template with `Name` and `Stack.Outputs.Name` replaced."""
    match part:
        case {"Ref": str(name)} if name in values:
            return values[name]
        case {"Fn::GetAtt": [str(name), str(attribute)]} if f"{name}.{attribute}" in values:
            return values[f"{name}.{attribute}"]
        case {"Fn::Sub": str(text)}:
            used = {name: values[name] for name in variables_of(text) if name in values}
            return {"Fn::Sub": _with_variables(text, used)} if used else part
        case dict():
            return {name: _replace(content, values) for name, content in part.items()}
        case list():
            return [_replace(content, values) for content in part]
    return part


def _with_variables(text: str, used: Mapping[str, Json]) -> Json:
    """Return the argument of Fn::Sub in which some names have a value of their own."""
    left: dict[str, Json] = {}
    for name, value in used.items():
        match value:
            case {"Ref": str(reference)}:
                text = text.replace(f"${{{name}}}", f"${{{reference}}}")
            case {"Fn::GetAtt": [str(resource), str(attribute)]}:
                text = text.replace(f"${{{name}}}", f"${{{resource}.{attribute}}}")
            case _:
                variable = name.replace(".", "")
                text = text.replace(f"${{{name}}}", f"${{{variable}}}")
                left[variable] = value
    return [text, left] if left else text

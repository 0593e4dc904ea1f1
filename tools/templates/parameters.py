"""Checks what goes into a stack and comes out of it: parameters, rules and outputs."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tools.templates.defects import Defect
from tools.templates.resolve import NO_VALUE, Resolver, Unresolved, text_of
from tools.templates.schemas import attribute_type
from tools.templates.stack import NESTED, Stack
from tools.templates.translate import Json

#: docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html, 2026-11.
_MAX_BYTES: Final = 4096


def check_outputs(stack: Stack) -> Iterator[Defect]:
    """The value of an output is a text."""
    for key, value in stack.outputs.items():
        if _is_no_text(stack, value):
            message = "Its value is not a text, and CloudFormation accepts only texts."
            yield Defect(stack.file, key, message, "Join the list with Fn::Join.")


def check_nested(stack: Stack) -> Iterator[Defect]:
    """A nested stack gets only parameters that it declares, and texts."""
    for key, nested in stack.nested.items():
        declared = nested.template.get("Parameters", {})
        for name, value in stack.resources[key]["Properties"].get("Parameters", {}).items():
            if name not in declared:
                message = f"It passes {name}, which {nested.file} does not declare."
                yield Defect(stack.file, key, message, "Declare the parameter, or do not pass it.")
            if _is_no_text(stack, value):
                message = f"It passes {name}, which is not a text, as CloudFormation requires."
                yield Defect(stack.file, key, message, "Join the list with Fn::Join.")


def _is_no_text(stack: Stack, value: Json) -> bool:
    """Return whether a value is a list or an object, also if a resource gives it."""
    match value:
        case {"Fn::GetAtt": [str(name), str(attribute)]} if name in stack.resources:
            kind = stack.resources[name]["Type"]
            found = "string" if kind == NESTED else attribute_type(kind, attribute, stack.region)
            return found in {"array", "object"}
        case {"Ref": _} | {"Fn::GetAtt": _} | {"Fn::Sub": _} | {"Fn::Join": _} | {"Fn::Select": _}:
            return bool(value == NO_VALUE)
    return text_of(value) is None


def check_names(stack: Stack, arguments: Mapping[str, Json]) -> Iterator[Defect]:
    """The template declares each parameter that a set gives a value."""
    for name in sorted(arguments.keys() - stack.template.get("Parameters", {}).keys()):
        message = "A set of parameters has it, but the template does not declare it."
        yield Defect(stack.file, name, message, "Correct tools/templates/sets.py.")


def check_values(stack: Stack) -> Iterator[Defect]:
    """Each parameter has a value that fits its type and its limits."""
    for name, parameter in stack.template.get("Parameters", {}).items():
        if name not in stack.values:
            message = "It has neither a value nor a default."
            yield Defect(stack.file, name, message, "Pass the parameter, or give it a default.")
        elif (text := text_of(stack.values[name])) is not None:
            yield from check_value(stack.file, name, text, parameter)


def check_value(file: str, name: str, value: str, parameter: Json) -> Iterator[Defect]:
    """A value of a parameter fits its type and its limits."""
    allowed = [text_of(item) for item in parameter.get("AllowedValues", [])]
    pattern = parameter.get("AllowedPattern")
    remedy = "Pass a value that the parameter allows, or change the parameter."
    if len(value.encode()) > _MAX_BYTES:
        yield Defect(file, name, f"It has more than {_MAX_BYTES:,} bytes.", remedy)
    if allowed and value not in allowed:
        yield Defect(file, name, f"It is {value!r}, which is not one of {allowed}.", remedy)
    if pattern and not re.fullmatch(pattern, value):
        yield Defect(file, name, f"It is {value!r}, which does not match {pattern}.", remedy)
    if parameter["Type"] == "Number":
        try:
            number = float(value)
        except ValueError:
            yield Defect(file, name, f"It is {value!r}, which is not a number.", remedy)
            return
        low, high = parameter.get("MinValue", number), parameter.get("MaxValue", number)
        if not float(low) <= number <= float(high):
            message = f"It is {value}, which is not between {low} and {high}."
            yield Defect(file, name, message, remedy)


def check_rules(stack: Stack) -> Iterator[Defect]:
    """The template's rules accept the parameters, as CloudFormation asks before it begins."""
    resolver = Resolver(stack.template, stack.values)
    for key, rule in stack.template.get("Rules", {}).items():
        try:
            if "RuleCondition" in rule and not resolver.is_true(rule["RuleCondition"]):
                continue
            failed = [
                assertion.get("AssertDescription", key)
                for assertion in rule["Assertions"]
                if not resolver.is_true(assertion["Assert"])
            ]
        except Unresolved as error:
            yield Defect(stack.file, key, str(error), "Correct the rule.")
            continue
        for text in failed:
            remedy = "Correct the rule, or the set in tools/templates/sets.py."
            yield Defect(stack.file, key, f"It refuses the parameters: {text}", remedy)

"""Evaluates a template's conditions and functions as CloudFormation does.

References to resources stay, because only a deployment knows their values.
"""

import re
from collections.abc import Mapping
from typing import Final

from tools.templates.translate import Json

NO_VALUE: Final = {"Ref": "AWS::NoValue"}
_VARIABLE: Final = re.compile(r"\$\{([^!}][^}]*)\}")


class Unresolved(Exception):
    """A condition, mapping or rule names something that the template does not declare."""


def text_of(value: Json) -> str | None:
    """Return a scalar as CloudFormation writes it; None for anything else."""
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
    return None


class Resolver:
    """Evaluates the functions of one template.

    Args:
        template: what declares the conditions and the mappings.
        values: the parameters and pseudo-parameters. A value that is a reference into another
            stack is unknown: `Ref` of such a parameter stays, and is equal to no text.
    """

    def __init__(self, template: Json, values: Mapping[str, Json]) -> None:
        self._conditions: Json = template.get("Conditions", {})
        self._mappings: Json = template.get("Mappings", {})
        self._values = values
        self._held: dict[str, bool] = {}

    def holds(self, condition: str) -> bool:
        """Return whether a named condition is true."""
        if condition not in self._held:
            if condition not in self._conditions:
                raise Unresolved(f"The condition {condition} is not declared.")
            declared, self._conditions = self._conditions, dict(self._conditions)
            content = self._conditions.pop(condition)  # so a condition of itself is undeclared
            self._held[condition] = self.is_true(content)
            self._conditions = declared
        return self._held[condition]

    def is_true(self, expression: Json) -> bool:
        """Evaluate an expression of a condition or a rule."""
        match expression:
            case {"Condition": str(name)}:
                return self.holds(name)
            case {"Fn::And": list(parts)}:
                return all(self.is_true(part) for part in parts)
            case {"Fn::Or": list(parts)}:
                return any(self.is_true(part) for part in parts)
            case {"Fn::Not": [part]}:
                return not self.is_true(part)
            case {"Fn::Equals": [left, right]}:
                return bool(_plain(self.resolve(left)) == _plain(self.resolve(right)))
            case {"Fn::Contains": [texts, text]}:
                return _plain(self.resolve(text)) in map(_plain, self.resolve(texts))
        raise Unresolved(f"{expression} is not an expression of a condition.")

    def resolve(self, part: Json) -> Json:
        """Return a part of the template without conditions, mappings and known references."""
        match part:
            case {"Ref": str(name)} if name in self._values and part != NO_VALUE:
                value = self._values[name]
                return part if isinstance(value, dict) else value
            case {"Fn::If": [str(condition), met, otherwise]}:
                return self.resolve(met if self.holds(condition) else otherwise)
            case {"Fn::FindInMap": [*keys]}:
                return self._find(keys)
            case {"Fn::Sub": str(text)}:
                return self._substitute(text, {})
            case {"Fn::Sub": [str(text), dict(variables)]}:
                return self._substitute(text, self.resolve(variables))
            case {"Fn::GetAtt": str(name)}:
                return {"Fn::GetAtt": name.split(".", 1)}
            case {"Fn::Join": [_, _]} | {"Fn::Split": [_, _]} | {"Fn::Select": [_, _]}:
                ((function, arguments),) = part.items()
                return _applied(function, *self.resolve(arguments))
            case dict():
                resolved = {name: self.resolve(content) for name, content in part.items()}
                return {name: content for name, content in resolved.items() if content != NO_VALUE}
            case list():
                return [c for c in map(self.resolve, part) if c != NO_VALUE]
        return part

    def _find(self, keys: list[Json]) -> Json:
        found = self._mappings
        for key in map(self.resolve, keys[:3]):
            if not isinstance(found, dict) or text_of(key) not in found:
                path = " / ".join(str(self.resolve(key)) for key in keys)
                raise Unresolved(f"The mapping {path} is not declared.")
            found = found[text_of(key)]
        return self.resolve(found)

    def _substitute(self, text: str, variables: dict[str, Json]) -> Json:
        """Return Fn::Sub with what is known put in: a text if that is everything."""
        left: dict[str, Json] = {}

        def replace(match: re.Match[str]) -> str:
            name = match[1].strip()
            value = variables.get(name, self._values.get(name))
            match value:
                case {"Ref": str(reference)} if reference != name:
                    return f"${{{reference}}}"
                case {"Fn::GetAtt": [resource, attribute]} if name in variables:
                    return f"${{{resource}.{attribute}}}"
                case dict() if name in variables:
                    left[name] = value
            known = text_of(value)
            return match[0] if known is None else known

        substituted = _VARIABLE.sub(replace, text)
        if left:
            return {"Fn::Sub": [substituted, left]}
        if _VARIABLE.search(substituted):
            return {"Fn::Sub": substituted}
        return substituted.replace("${!", "${")


def variables_of(text: str) -> list[str]:
    """Return the names in the text of Fn::Sub, such as `Table` or `Table.Arn`."""
    return [name.strip() for name in _VARIABLE.findall(text)]


def _plain(value: Json) -> Json:
    """Return what Fn::Equals compares: texts, with their case."""
    text = text_of(value)
    return value if text is None else text


def _applied(function: str, argument: Json, parts: Json) -> Json:
    """Return the result of a function of texts, or the function if a text is not known."""
    texts = [text_of(part) for part in parts] if isinstance(parts, list) else [None]
    known = [text for text in texts if text is not None]
    if function == "Fn::Split" and isinstance(parts, str):
        return parts.split(argument)
    if function == "Fn::Join" and len(known) == len(texts):
        return argument.join(known)
    if function == "Fn::Select" and isinstance(parts, list) and int(argument) < len(parts):
        return parts[int(argument)]
    return {function: [argument, parts]}

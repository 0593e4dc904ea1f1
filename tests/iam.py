"""Evaluate the policies of the template's roles as IAM does.

It knows the elements and the condition that the template uses, and raises for any other. A resource
is the logical id in the template, such as `Table` or `Table.StreamArn`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from local import template
from tests.conditions import all_met

type Statement = Mapping[str, Any]

_RESOURCES: Final[Mapping[str, Any]] = template.inlined(template.load())["Resources"]
_ELEMENTS: Final = {"Effect", "Action", "Resource", "Condition"}
_KEYS_MATCH: Final = "ForAllValues:StringLike"
_LEADING_KEYS: Final = "dynamodb:LeadingKeys"
_ATTRIBUTES: Final = "dynamodb:Attributes"
_REFERENCE: Final = re.compile(r'"Fn::GetAtt": \["(\w+)", "(\w+)"\]|\$\{(\w+)\.(\w+)\}')


@dataclass(frozen=True, slots=True)
class AwsRequest:
    """What IAM sees of a call: an action on a resource.

    `leading_keys` are the partition keys of the items in the call. None means that the call has
    no such context key, as a Scan. `attributes` are the names of the attributes in the call.
    """

    action: str
    resource: str
    leading_keys: frozenset[str] | None = None
    attributes: frozenset[str] | None = None


def statements(role: str) -> list[Statement]:
    """Return the statements of a role's policies."""
    properties = _RESOURCES[role]["Properties"]
    assert not properties.get("ManagedPolicyArns"), "their statements are not in the template"
    return [
        statement
        for policy in properties["Policies"]
        for statement in all_met(policy["PolicyDocument"]["Statement"])
    ]


def is_allowed(policy: Iterable[Statement], request: AwsRequest) -> bool:
    """Return whether a statement allows a request and none denies it."""
    effects = {statement["Effect"] for statement in policy if _applies(statement, request)}
    return effects == {"Allow"}


def actions(statement: Statement) -> list[str]:
    """Return the actions of a statement."""
    return _as_list(statement["Action"])


def resources(statement: Statement) -> set[str]:
    """Return the logical ids of a statement's resources; `*` for those without one."""
    return {name for resource in _as_list(statement["Resource"]) for name in named(resource)}


def named(resource: object) -> set[str]:
    """Return the logical ids in an ARN of the template; `*` if there is none, as for SES."""
    found = (filter(None, match.groups()) for match in _REFERENCE.finditer(json.dumps(resource)))
    return {name if attribute == "Arn" else f"{name}.{attribute}" for name, attribute in found} or {
        "*"
    }


def leading_keys(statement: Statement) -> list[str] | None:
    """Return the patterns of the partition keys to which a statement is limited, or None."""
    return _patterns(statement, _LEADING_KEYS)


def _patterns(statement: Statement, context_key: str) -> list[str] | None:
    condition = statement.get("Condition")
    if condition is None:
        return None
    known = {_LEADING_KEYS, _ATTRIBUTES}
    if condition.keys() != {_KEYS_MATCH} or not condition[_KEYS_MATCH].keys() <= known:
        raise NotImplementedError(condition)
    patterns = condition[_KEYS_MATCH].get(context_key)
    return None if patterns is None else _as_list(patterns)


def _applies(statement: Statement, request: AwsRequest) -> bool:
    if unknown := statement.keys() - _ELEMENTS:
        raise NotImplementedError(unknown)
    return (
        any(_is_like(request.action.lower(), action.lower()) for action in actions(statement))
        and any(name in {"*", request.resource} for name in resources(statement))
        and _values_match(leading_keys(statement), request.leading_keys)
        and _values_match(_patterns(statement, _ATTRIBUTES), request.attributes)
    )


def _values_match(patterns: list[str] | None, values: frozenset[str] | None) -> bool:
    """ForAllValues is also true for a request without the context key."""
    if patterns is None or values is None:
        return True
    return all(any(_is_like(value, pattern) for pattern in patterns) for value in values)


def _is_like(text: str, pattern: str) -> bool:
    """StringLike: `*` is any number of characters, `?` is one, and the case counts."""
    parts = ({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in pattern)
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]

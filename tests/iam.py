"""Evaluate the policies of the template's roles as IAM does.

It knows the elements and the condition that the template uses, and raises for any other. A resource
is the logical id in the template, such as `Table` or `Table.StreamArn`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from local import template
from tests.conditions import all_met

_RESOURCES: Final[Mapping[str, Any]] = template.inlined(template.load())["Resources"]
_ELEMENTS: Final = {"Effect", "Action", "Resource", "Condition"}
_KEYS_MATCH: Final = "ForAllValues:StringLike"
_LEADING_KEYS: Final = "dynamodb:LeadingKeys"
_ATTRIBUTES: Final = "dynamodb:Attributes"
_OWN_ROLES: Final = ":iam::${AWS::AccountId}:role/*"
_OF_SES: Final = re.compile(
    r"arn:\$\{AWS::Partition\}:ses:\$\{AWS::Region\}:(?:\$\{AWS::AccountId\}|aws):"
    r"((identity|tenant|reputation-policy)/\*|configuration-set/\$\{ConfigurationSet\})"
)
_REFERENCE: Final = re.compile(r'"Fn::GetAtt": \["(\w+)", "(\w+)"\]|\$\{(\w+)\.(\w+)\}')


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a policy.

    `resources` are logical ids, and `*` for those without one. `leading_keys` and `attributes` are
    the patterns of the partition keys and attributes that it is limited to; None means no limit.
    """

    effect: str
    actions: tuple[str, ...]
    resources: frozenset[str]
    leading_keys: tuple[str, ...] | None
    attributes: tuple[str, ...] | None


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


@cache
def statements(role: str) -> tuple[Statement, ...]:
    properties = _RESOURCES[role]["Properties"]
    assert not properties.get("ManagedPolicyArns"), "their statements are not in the template"
    return tuple(
        read(statement)
        for policy in properties["Policies"]
        for statement in all_met(policy["PolicyDocument"]["Statement"])
    )


def read(statement: Mapping[str, Any]) -> Statement:
    if unknown := statement.keys() - _ELEMENTS:
        raise NotImplementedError(unknown)
    condition = statement.get("Condition", {_KEYS_MATCH: {}})
    if condition.keys() != {_KEYS_MATCH}:
        raise NotImplementedError(condition)
    patterns = {key: tuple(_as_list(value)) for key, value in condition[_KEYS_MATCH].items()}
    if not patterns.keys() <= {_LEADING_KEYS, _ATTRIBUTES}:
        raise NotImplementedError(condition)
    return Statement(
        effect=statement["Effect"],
        actions=tuple(_as_list(statement["Action"])),
        resources=frozenset(
            name for resource in _as_list(statement["Resource"]) for name in named(resource)
        ),
        leading_keys=patterns.get(_LEADING_KEYS),
        attributes=patterns.get(_ATTRIBUTES),
    )


def is_allowed(policy: Iterable[Statement], request: AwsRequest) -> bool:
    """Return whether a statement allows a request and none denies it."""
    effects = {statement.effect for statement in policy if _applies(statement, request)}
    return effects == {"Allow"}


def named(resource: object) -> set[str]:
    """Return the logical ids in an ARN of the template; `*` if there is none.

    `OwnRole` stands for the roles of the stack's AWS account. What SES has is named by the end of
    its ARN, such as `identity/*`; the text stands for an ARN that SES does not have.
    """
    text = json.dumps(resource)
    if _OWN_ROLES in text:
        return {"OwnRole"}
    if ":ses:" in text:
        found_at_ses = _OF_SES.search(text)
        return {found_at_ses[1] if found_at_ses else text}
    found = (filter(None, match.groups()) for match in _REFERENCE.finditer(json.dumps(resource)))
    return {name if attribute == "Arn" else f"{name}.{attribute}" for name, attribute in found} or {
        "*"
    }


def _applies(statement: Statement, request: AwsRequest) -> bool:
    return (
        not statement.resources.isdisjoint({"*", request.resource})
        and any(_is_like(request.action.lower(), action.lower()) for action in statement.actions)
        and _values_match(statement.leading_keys, request.leading_keys)
        and _values_match(statement.attributes, request.attributes)
    )


def _values_match(patterns: tuple[str, ...] | None, values: frozenset[str] | None) -> bool:
    """ForAllValues is also true for a request without the context key."""
    if patterns is None or values is None:
        return True
    return all(any(_is_like(value, pattern) for pattern in patterns) for value in values)


@cache
def _is_like(text: str, pattern: str) -> bool:
    """StringLike: `*` is any number of characters, `?` is one, and the case counts."""
    parts = ({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in pattern)
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]

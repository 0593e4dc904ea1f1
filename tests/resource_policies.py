"""Evaluate policies of resources and trust policies of roles as IAM does.

They are those of a deployment with everything. An ARN is `arn:` with the logical id. Conditions
that the templates do not use raise.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from tests.deployed import resources

#: Where a policy names what it is of.
_PLACES: Final = {"AWS::S3::BucketPolicy": ["Bucket"], "AWS::SQS::QueuePolicy": ["Queues"]}
_VARIABLE: Final = re.compile(r"\$\{(\w+)(\.Arn)?\}")


def decide(
    policy: Mapping[str, Any],
    principal: str,
    action: str,
    resource: str = "",
    **context: str,
) -> str | None:
    """Return Deny or Allow, or None if no statement of a policy applies to a request.

    Args:
        policy: a `PolicyDocument` or an `AssumeRolePolicyDocument`.
        principal: the name of a service, or the ARN of a role.
        action: such as `s3:GetObject`.
        resource: the ARN; a trust policy names none.
        context: global condition keys, without `aws:`.
    """
    effects = {
        statement["Effect"]
        for statement in policy["Statement"]
        if _is_of(statement["Principal"], principal)
        and _is_like(action, statement["Action"])
        and _is_like(resource, statement.get("Resource", "*"))
        and all(
            _is_met(operator, context.get(key.removeprefix("aws:")), expected)
            for operator, keys in statement.get("Condition", {}).items()
            for key, expected in keys.items()
        )
    }
    return next((effect for effect in ("Deny", "Allow") if effect in effects), None)


def policy_of(name: str) -> Mapping[str, Any]:
    """Return the one policy of a bucket or queue."""
    (found,) = (
        one["Properties"]["PolicyDocument"]
        for one in resources("everything").values()
        for place in _PLACES.get(one["Type"], ())
        if {"Ref": name} in _listed(one["Properties"][place])
    )
    return found  # type: ignore[no-any-return]


def _is_of(principals: Any, principal: str) -> bool:
    return principals == "*" or principal in _listed(principals["Service"])


def _is_met(operator: str, value: str | None, expected: Any) -> bool:
    match operator:
        case "Bool" | "StringEquals" | "ArnEquals":
            return value in {_text(one) for one in _listed(expected)}
        case "ArnNotEquals":
            return value not in {_text(one) for one in _listed(expected)}
        case "ArnLike":
            return value is not None and _is_like(value, expected)
    raise NotImplementedError(operator)


def _is_like(value: str, patterns: Any) -> bool:
    return any(fnmatchcase(value, _text(pattern)) for pattern in _listed(patterns))


def _text(part: Any) -> str:
    match part:
        case {"Fn::GetAtt": [name, "Arn"]}:
            return f"arn:{name}"
        case {"Fn::Sub": text}:
            return _VARIABLE.sub(lambda match: ("arn:" if match[2] else "") + match[1], text)
        case str() | int():
            return str(part)
    raise NotImplementedError(part)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]

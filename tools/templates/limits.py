"""Checks the documented limits of CloudFormation, Lambda and IAM.

CloudFormation: docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html.
Lambda: docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html. IAM:
docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html. All of 2026-11.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from tools.templates.defects import Defect
from tools.templates.rendered import compact, physical_name, render
from tools.templates.sets import ACCOUNT
from tools.templates.stack import Stack
from tools.templates.translate import Json

#: A template may have 500 resources. The rest is room for what comes.
_MAX_OF_SECTIONS: Final = {"Resources": 400, "Parameters": 200}
_MAX_TEMPLATE_BYTES: Final = 1_000_000
_MAX_DYNAMIC_REFERENCES: Final = 60
#: Of 20 KB, and its share that may be used: the names of a deployment can be longer than here.
_MAX_RESOURCE_POLICY: Final = 20_480 * 80 // 100
_MAX_INLINE_POLICIES: Final = 10_240
_MAX_MANAGED_POLICIES: Final = 10
_MAX_ENVIRONMENT: Final = 4096
#: docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html, 2026-11.
_MAX_EDGE_FUNCTION: Final = 10_240
_DYNAMIC_REFERENCE: Final = re.compile(r"\{\{resolve:[^}]*\}\}")


def check_template(stack: Stack) -> Iterator[Defect]:
    """The template is within the limits that cfn-lint does not check, or sets higher."""
    for section, most in _MAX_OF_SECTIONS.items():
        count = len(stack.template.get(section, {}))
        yield from check_limit(stack, section, count, most, section.lower())
    text = json.dumps(stack.template)
    yield from check_limit(stack, "template", len(text.encode()), _MAX_TEMPLATE_BYTES, "bytes")
    dynamic = len(_DYNAMIC_REFERENCE.findall(text))
    yield from check_limit(
        stack, "template", dynamic, _MAX_DYNAMIC_REFERENCES, "dynamic references ({{resolve:…}})"
    )


def check_limit(stack: Stack, place: str, count: int, most: int, what: str) -> Iterator[Defect]:
    """Report a count that is above a limit."""
    if count > most:
        remedy = "Move a part to a nested stack, or make it smaller."
        yield Defect(stack.file, place, f"It has {count:,} {what}, more than {most:,}.", remedy)


def policy_statements(stack: Stack) -> dict[str, dict[str, Json]]:
    """Return the statements of the resource policy of each function or alias with permissions."""
    statements: dict[str, dict[str, Json]] = defaultdict(dict)
    for key, properties in stack.of_type("AWS::Lambda::Permission").items():
        condition = {"ArnLike": {"AWS:SourceArn": render(stack, properties.get("SourceArn", ""))}}
        statements[_named(properties["FunctionName"])][key] = {
            "Sid": physical_name(stack, key),
            "Effect": "Allow",
            "Principal": {"Service": properties["Principal"]},
            "Action": properties["Action"],
            "Resource": f"arn:aws:lambda:{stack.region}:{ACCOUNT}:function:{'X' * 64}:live",
            "Condition": condition,
        }
    return statements


def _size(statements: Mapping[str, Json]) -> int:
    """Return the bytes of a resource policy, as Lambda counts them."""
    policy = {"Version": "2012-10-17", "Id": "default", "Statement": list(statements.values())}
    return len(json.dumps(policy, separators=(",", ":")))


def _named(function: Json) -> str:
    """Return the logical id in a reference to a function or an alias."""
    match function:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), _]}:
            return name
    return json.dumps(function)


def check_resource_policies(stack: Stack) -> Iterator[Defect]:
    """Lambda refuses a permission when the policy of a function or alias has more than 20 KB."""
    for name, statements in policy_statements(stack).items():
        yield from _check_policy(stack, name, _size(statements), "")


def check_policies_together(old: Stack, new: Stack) -> Iterator[Defect]:
    """An upgrade adds permissions before it removes others, so both have to fit."""
    former = policy_statements(old)
    for name, statements in policy_statements(new).items():
        size = _size(former.get(name, {}) | statements)
        yield from _check_policy(new, name, size, " during the upgrade")


def _check_policy(stack: Stack, name: str, size: int, when: str) -> Iterator[Defect]:
    if size > _MAX_RESOURCE_POLICY:
        message = (
            f"Its resource policy has {size:,} bytes{when}, more than {_MAX_RESOURCE_POLICY:,}."
        )
        yield Defect(stack.file, name, message, "Give one permission for several routes.")


def check_roles(stack: Stack) -> Iterator[Defect]:
    """A role's policies are within IAM's limits, and each statement says on what it acts."""
    for key, properties in stack.of_type("AWS::IAM::Role").items():
        policies = properties.get("Policies", [])
        size = sum(len(compact(stack, policy["PolicyDocument"])) for policy in policies)
        yield from check_limit(
            stack, key, size, _MAX_INLINE_POLICIES, "characters of inline policies"
        )
        managed = len(properties.get("ManagedPolicyArns", []))
        yield from check_limit(stack, key, managed, _MAX_MANAGED_POLICIES, "managed policies")
        for policy in policies:
            yield from _check_statements(stack, key, policy)


def _check_statements(stack: Stack, key: str, policy: Json) -> Iterator[Defect]:
    statements = policy["PolicyDocument"].get("Statement")
    for number, statement in enumerate(statements or [{}], start=1):
        missing = [
            word
            for word in ("Action", "Resource")
            if not (statement.get(word) or statement.get(f"Not{word}"))
        ]
        if missing:
            what = " and no ".join(missing)
            message = f"Statement {number} of {policy.get('PolicyName')} has no {what}."
            yield Defect(
                stack.file, key, message, "Add it, or make the whole statement conditional."
            )


def check_environments(stack: Stack) -> Iterator[Defect]:
    """Lambda refuses variables of more than 4 KB for a function."""
    for key, properties in stack.of_type("AWS::Lambda::Function").items():
        variables = render(stack, properties.get("Environment", {}).get("Variables", {}))
        size = sum(len(f"{name}{value}".encode()) for name, value in variables.items())
        yield from check_limit(stack, key, size, _MAX_ENVIRONMENT, "bytes of variables")


def check_edge_functions(stack: Stack) -> Iterator[Defect]:
    """CloudFront refuses a function of more than 10 KB."""
    for key, properties in stack.of_type("AWS::CloudFront::Function").items():
        size = len(str(render(stack, properties["FunctionCode"])).encode())
        yield from check_limit(stack, key, size, _MAX_EDGE_FUNCTION, "bytes of code")


def summary(stack: Stack) -> str:
    """Return the counts of a stack and its nested stacks in one line."""
    counts = [f"{part.file} {len(part.resources)}" for part in stack.every()]
    sizes = {
        name: _size(statements)
        for part in stack.every()
        for name, statements in policy_statements(part).items()
    }
    largest = max(sizes, key=lambda name: sizes[name], default="none")
    size = sizes.get(largest, 0)
    return f"{', '.join(counts)} resources; largest policy {largest}, {size:,} bytes"

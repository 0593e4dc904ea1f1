"""The rights that a command uses, and those that its policy gives."""

import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

from admin.use_cases.policies import Duty, policy

#: The adapters of those who deploy, restore and tear down.
_OF_DEPLOYING: Final = (
    *("deployment", "edge_parts", "kept_data", "kept_table", "registry", "release", "table_copy"),
    *("certificate_secret", "ses_plan"),
)
#: The module of a command -> whose it is; all others are those of who is on call.
_DUTIES: Final = {
    **dict.fromkeys(("deploy", "edge", "relay", "restore", "teardown"), Duty.DEPLOY),
    **dict.fromkeys(("failed_stack", "ses_plan", "stack_protection"), Duty.DEPLOY),
    **dict.fromkeys((f"aws.{name}" for name in _OF_DEPLOYING), Duty.DEPLOY),
    **dict.fromkeys(("doctor", "capacity"), Duty.READ),
}
_SERVICES: Final = {"sesv2": "ses", "service-quotas": "servicequotas"}
#: Calls that need another right, by the service authorization reference.
_ACTIONS: Final = {
    "lambda:Invoke": "lambda:InvokeFunction",
    "s3:DeleteObjects": "s3:DeleteObject",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:ListObjectsV2": "s3:ListBucket",
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
    "sqs:SendMessageBatch": "sqs:SendMessage",
}


def missing(service: str, operation: str, parameters: Mapping[str, Any]) -> set[str]:
    """Return the actions of a call that the policy of the running command does not allow."""
    duty = _running()
    # botocore assumes roles with the credentials before; who calls may ask who that is.
    if duty is None or operation in {"AssumeRole", "GetCallerIdentity"}:
        return set()
    granted = _granted(duty)
    return {
        action
        for action in _actions(service, operation, parameters)
        if not any(fnmatchcase(action, pattern) for pattern in granted)
    }


def _running() -> Duty | None:
    """Return whose command makes a call now; None if a test makes it itself."""
    modules, frame = set[str](), sys._getframe(1)
    while frame.f_back:
        modules.add(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    names = {name.removeprefix("admin.") for name in modules if name.startswith("admin.")}
    if not names:
        return None
    duties = {_DUTIES[name] for name in names & _DUTIES.keys()}
    return Duty.DEPLOY if Duty.DEPLOY in duties else next(iter(duties), Duty.OPERATE)


@cache
def _granted(duty: Duty) -> list[str]:
    statements = policy(duty, "pillarbox")["Statement"]
    return [action for statement in statements for action in statement["Action"]]


def _actions(service: str, operation: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    if operation == "TransactWriteItems":
        for item in parameters["TransactItems"]:
            yield from (
                "dynamodb:GetItem" if kind == "ConditionCheck" else f"dynamodb:{kind}Item"
                for kind in item
            )
        return
    action = f"{_SERVICES.get(service, service)}:{operation}"
    yield _ACTIONS.get(action, action)

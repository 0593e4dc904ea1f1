"""IAM between the command and emulated AWS: it answers only calls that the printed policy allows.

moto evaluates the policy; AWS's service authorization reference, of which cfn-lint has a copy, says
which actions there are and which of them AWS authorizes on a resource.
"""

import json
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import ClientError
from botocore.model import OperationModel
from moto.iam.access_control import IAMPolicy, PermissionResult

from admin.use_cases.policies import Duty, policy

ACCOUNT: Final = "123456789012"
#: The module of a command -> whose it is; all others are those of who is on call.
_DUTIES: Final = {
    **dict.fromkeys(("deploy", "edge", "relay", "restore", "teardown"), Duty.DEPLOY),
    **dict.fromkeys(("failed_stack", "ses_plan"), Duty.DEPLOY),
    "doctor": Duty.READ,
    "use_cases.round_trip": Duty.OPERATE,  # makes a key for `doctor --send`
}
_SERVICES: Final = {"sesv2": "ses", "service-quotas": "servicequotas"}
#: Calls that need another right, by the service authorization reference.
_ACTIONS: Final = {
    "lambda:Invoke": "lambda:InvokeFunction",
    "s3:DeleteObjects": "s3:DeleteObject",
    "s3:ListObjectsV2": "s3:ListBucket",
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
    "sqs:SendMessageBatch": "sqs:SendMessage",
}
#: A service -> the ARN of what a call names, for those whose rights the policies limit to some.
_ARNS: Final = {
    "dynamodb": f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/{{}}",
    "iam": f"arn:aws:iam::{ACCOUNT}:role/{{}}",
    "iam:CreateServiceLinkedRole": f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/{{}}/Name",
    "s3": "arn:aws:s3:::{}",
    "secretsmanager": f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:{{}}-a1B2c3",
    "sns": "{}",  # calls have the whole ARN
    "sqs": f"arn:aws:sqs:us-east-1:{ACCOUNT}:{{}}",
    "ssm": f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/{{}}",
}
#: The parameters that name it.
_NAMED_BY: Final = (
    *("TableName", "SourceTableName", "Bucket", "QueueUrl", "TopicArn", "SecretId", "RoleName"),
    *("AWSServiceName", "Name"),
)


@dataclass
class Judge:
    """Allows a call if a policy does, and, unless `granted` is None, if that has its action."""

    stack: str = "pillarbox"
    #: Whose policy it is; None for that of who runs the command, on resources of any name.
    duty: Duty | None = None
    granted: set[str] | None = None
    refused: set[str] = field(default_factory=set)
    _running: Duty | None = None

    def check(self, operation: OperationModel, parameters: Mapping[str, Any]) -> None:
        """Raise AWS's error if a call of the command is not allowed."""
        # Threads are the command's own. Who calls may always ask who that is.
        if threading.current_thread() is threading.main_thread():
            self._running = _running()
        if self._running is None or operation.name in {"AssumeRole", "GetCallerIdentity"}:
            return
        granted = None if self.granted is None else frozenset(self.granted)
        anywhere = self.duty is None
        given = _policy(self.duty or self._running, self.stack, granted, anywhere=anywhere)
        for action, resource in _requests(operation, parameters):
            if not _permits(given, action, resource):
                self.refused.add(action)
                raise _error(operation, action, resource)


@cache
def _policy(duty: Duty, stack: str, granted: frozenset[str] | None, *, anywhere: bool) -> IAMPolicy:
    document = policy(duty, stack)
    if anywhere:
        for statement in document["Statement"]:
            statement["Resource"] = "*"
    if granted is not None:
        left_out = {"Effect": "Deny", "NotAction": sorted(granted), "Resource": "*"}
        document["Statement"].append(left_out)
    return IAMPolicy(json.dumps(document))


@cache
def _permits(given: IAMPolicy, action: str, resource: str) -> bool:
    return given.is_action_permitted(action, resource) is PermissionResult.PERMITTED


def _running() -> Duty | None:
    """Return whose command makes a call now; None if a test makes it itself, or the service."""
    modules, frame = set[str](), sys._getframe(1)
    while frame.f_back:
        modules.add(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    if "tests.contract.client" in modules:
        return None
    names = {name.removeprefix("admin.") for name in modules if name.startswith("admin.")}
    if not names:
        return None
    if all(name.startswith("aws.") for name in names):  # an adapter's own test
        return Duty.DEPLOY
    duties = {_DUTIES[name] for name in names & _DUTIES.keys()}
    return next((duty for duty in Duty if duty in duties), Duty.OPERATE)


def _requests(
    operation: OperationModel, parameters: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Return the actions of a call, each with the resource on which IAM authorizes it."""
    service = operation.service_model.service_name
    service = _SERVICES.get(service, service)
    match operation.name:
        case "TransactWriteItems":
            parts = [pair for item in parameters["TransactItems"] for pair in item.items()]
            called = [(f"{kind}Item", part["TableName"]) for kind, part in parts]
        case "BatchExecuteStatement":
            texts = [each["Statement"].split() for each in parameters["Statements"]]
            called = [(f"PartiQL{text[0].title()}", text[2].strip('"')) for text in texts]
        case "BatchGetItem" | "BatchWriteItem" as name:
            called = [(name, table) for table in parameters["RequestItems"]]
        case name:
            named = [parameters[each] for each in _NAMED_BY if each in parameters]
            called = [(name, named[0] if named else "")]
    for name, resource in called:
        action = _ACTIONS.get(f"{service}:{name}", f"{service}:{name}")
        known = _reference()[service]["Actions"][action.partition(":")[2].lower()]
        if "Resources" not in known or service not in _ARNS:
            yield action, "*"
        elif resource.startswith("arn:"):
            yield action, resource
        else:  # the last part of a queue's address, or a name
            arn = _ARNS.get(action, _ARNS[service])
            yield action, arn.format(re.sub("^(http.*)?/", "", resource))


@cache
def _reference() -> Any:
    linter: Any = find_spec("cfnlint")
    (folder,) = linter.submodule_search_locations  # to import it takes a second
    return json.loads((Path(folder) / "data/AdditionalSpecs/Policies.json").read_text())


def _error(operation: OperationModel, action: str, resource: str) -> ClientError:
    codes = {"ec2": "UnauthorizedOperation", "sns": "AuthorizationError"}
    service = operation.service_model
    usual = "AccessDeniedException" if "json" in service.protocol else "AccessDenied"
    message = (
        f"User: arn:aws:iam::{ACCOUNT}:user/ann is not authorized to perform: {action} on"
        f" resource: {resource} because no identity-based policy allows the {action} action"
    )
    error = {"Code": codes.get(service.service_name, usual), "Message": message}
    return ClientError(
        {"Error": error, "ResponseMetadata": {"HTTPStatusCode": 403}},  # type: ignore[typeddict-item]
        operation.name,
    )

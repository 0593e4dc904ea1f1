"""CloudFormation stacks: read one, and wait until it is stable."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from time import sleep
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from pillarbox.domain.errors import ServiceError

_POLL_SECONDS: Final = 5.0
DELETED: Final = "DELETE_COMPLETE"
_STACK: Final = "AWS::CloudFormation::Stack"
#: What a template with roles and nested stacks needs.
CAPABILITIES: Final = ("CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND")


@dataclass(frozen=True, slots=True, kw_only=True)
class StackDescription:
    """A stack at one moment."""

    stack_id: str
    name: str
    status: str
    reason: str
    #: When the last update began; empty if there was none.
    updated: str
    parameters: Mapping[str, str]
    outputs: Mapping[str, str]
    termination_protection: bool

    @property
    def stable(self) -> bool:
        """Whether nothing changes the stack now."""
        return not self.status.endswith("_IN_PROGRESS")

    @property
    def undone_update(self) -> str:
        """When the update began that CloudFormation has undone; empty if the last one was not."""
        return self.updated if self.status == "UPDATE_ROLLBACK_COMPLETE" else ""


def describe(name: str) -> StackDescription | None:
    """Return a stack by its name or id, or None if it does not exist.

    A deleted stack is found by its id only.
    """
    try:
        (stack,) = boto3.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
    except ClientError as error:
        reason = error.response["Error"]
        if reason["Code"] == "ValidationError" and "does not exist" in reason["Message"]:
            return None
        raise
    return _description(stack)


def require(name: str) -> StackDescription:
    stack = describe(name)
    if stack is None:
        message = f"There is no stack {name} in this account and region. Check --stack-name."
        raise ServiceError("service_unavailable", message)
    return stack


def every() -> Iterator[StackDescription]:
    """Yield all stacks of the region that are not deleted."""
    pages = boto3.client("cloudformation").get_paginator("describe_stacks").paginate()
    for page in pages:
        yield from map(_description, page["Stacks"])


def newest_event_at(stack_id: str) -> datetime:
    """Return when the last event of a stack was, by AWS's clock."""
    events = boto3.client("cloudformation").describe_stack_events(StackName=stack_id)
    return events["StackEvents"][0]["Timestamp"]  # the newest comes first


def first_failure(stack_id: str, after: datetime | None = None) -> str:
    """Return the first resource that a stack failed at, with AWS's reason.

    The other failures follow from it. Empty if CloudFormation has no such event since `after`, when
    the event before the operation was.
    """
    pages: Any = boto3.client("cloudformation").get_paginator("describe_stack_events")
    failures = [
        event
        for page in pages.paginate(StackName=stack_id)
        for event in page["StackEvents"]
        if event["ResourceStatus"].endswith("_FAILED")
        and event.get("PhysicalResourceId") != stack_id
        and (after is None or event["Timestamp"] > after)
    ]
    if not failures:
        return ""
    first = failures[-1]  # the newest comes first
    nested = first.get("ResourceType") == _STACK and first.get("PhysicalResourceId")
    # The event of a nested stack does not say why, but its own events do.
    reason = nested and first_failure(nested, after)
    return f"{first['LogicalResourceId']}: {reason or first.get('ResourceStatusReason', '')}"


def resources(stack: str, kind: str | None = None) -> Mapping[str, str]:
    """Return the physical ids of a stack's resources by their logical ids.

    Args:
        stack: the name or id of the stack. A deleted one is found by its id only.
        kind: the type of the resources, such as AWS::Lambda::Function; otherwise all.
    """
    pages: Any = boto3.client("cloudformation").get_paginator("list_stack_resources")
    return {
        resource["LogicalResourceId"]: resource["PhysicalResourceId"]
        for page in pages.paginate(StackName=stack)
        for resource in page["StackResourceSummaries"]
        if "PhysicalResourceId" in resource and kind in {None, resource["ResourceType"]}
    }


def wait(
    stack_id: str, report: Callable[[str], None], pause: Callable[[float], None] = sleep
) -> StackDescription:
    """Return the stack as soon as nothing changes it any more; report each new status."""
    reported = ""
    while True:
        stack = require(stack_id)
        if stack.status != reported:
            reported = stack.status
            report(reported)
        if stack.stable:
            return stack
        pause(_POLL_SECONDS)


def delete(stack: StackDescription) -> None:
    """Delete a stack, and wait until it is gone."""
    if stack.status == DELETED:
        return
    if stack.status != "DELETE_IN_PROGRESS":
        boto3.client("cloudformation").delete_stack(StackName=stack.stack_id)
    ended = wait(stack.stack_id, lambda _: None)
    if ended.status != DELETED:
        message = (
            f"CloudFormation could not delete everything: {ended.status} {ended.reason}"
            " Run the command again; it goes on."
        )
        raise ServiceError("service_unavailable", message)


def _description(stack: Any) -> StackDescription:  # noqa: ANN401  an answer of botocore
    return StackDescription(
        stack_id=stack["StackId"],
        name=stack["StackName"],
        status=stack["StackStatus"],
        reason=stack.get("StackStatusReason", ""),
        updated=str(stack.get("LastUpdatedTime", "")),
        parameters={
            item["ParameterKey"]: item.get("ParameterValue", "")
            for item in stack.get("Parameters", [])
        },
        outputs={item["OutputKey"]: item["OutputValue"] for item in stack.get("Outputs", [])},
        termination_protection=stack.get("EnableTerminationProtection", False),
    )

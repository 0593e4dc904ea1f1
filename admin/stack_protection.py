"""How a stack is protected against a change or a deletion that would lose data."""

import boto3

from admin.aws import stacks
from admin.programs import ROOT


def set_policy(stack_name: str) -> None:
    """Make CloudFormation refuse an update that would replace or delete stored data.

    A stack that does not exist, or whose first change set is not confirmed, has no data yet.
    """
    stack = stacks.describe(stack_name)
    if stack is None or stack.status == "REVIEW_IN_PROGRESS":
        return
    policy = (ROOT / "stack-policy.json").read_text()
    boto3.client("cloudformation").set_stack_policy(StackName=stack_name, StackPolicyBody=policy)

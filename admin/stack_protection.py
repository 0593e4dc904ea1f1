"""How a stack is protected against a change or a deletion that would lose data."""

from typing import Final

import boto3
import typer

from admin.aws import stacks
from admin.programs import ROOT
from admin.progress import progress
from admin.use_cases.parameters import Parameters
from pillarbox.domain.errors import ServiceError

_PARAMETER: Final = "DeletionProtection"


def set_policy(stack_name: str) -> None:
    """Make CloudFormation refuse an update that would replace or delete stored data.

    A stack that does not exist, or whose first change set is not confirmed, has no data yet.
    """
    stack = stacks.describe(stack_name)
    if stack is None or stack.status == "REVIEW_IN_PROGRESS":
        return
    policy = (ROOT / "stack-policy.json").read_text()
    boto3.client("cloudformation").set_stack_policy(StackName=stack_name, StackPolicyBody=policy)


def without_protection(chosen: Parameters) -> Parameters:
    """Return the parameters that create a stack: its tables are protected when all else exists.

    CloudFormation could not remove protected tables again if the creation failed.
    """
    return {**chosen, _PARAMETER: "false"}


def protect_tables(stack_name: str, chosen: Parameters) -> None:
    """Switch on the tables' deletion protection that `without_protection` left out.

    CloudFormation does it, so the template and the tables agree in every later update.
    """
    stack = stacks.require(stack_name)
    if not (chosen[_PARAMETER] == "true" and stack.parameters.get(_PARAMETER) == "false"):
        return
    with progress("Protecting the tables against deletion"):
        stacks.update_parameters(stack, {_PARAMETER: "true"})
        ended = stacks.wait(stack.stack_id, lambda _: None)
    if ended.status != "UPDATE_COMPLETE":
        message = (
            f"The tables are not protected against deletion yet: {ended.status} {ended.reason}"
            " Everything else is deployed. Deploy again to protect them."
        )
        raise ServiceError("service_unavailable", message)
    typer.echo("The tables are protected against deletion.", err=True)

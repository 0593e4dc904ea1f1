"""What `pillarbox deploy` does with a stack that a failed deployment left."""

import typer

from admin.aws import kept_data, stacks
from admin.aws.stacks import StackDescription
from admin.confirm import confirm
from admin.connection import StackConnection
from admin.progress import progress
from admin.use_cases.stack_states import NextStep, read_state
from admin.use_cases.teardown import KeptData
from pillarbox.domain.errors import ServiceError

#: AWS's words for an account that may not use CloudFront yet.
_UNVERIFIED = "must be verified"


def make_way(connection: StackConnection, *, yes: bool) -> StackDescription | None:
    """Return the stack to update, or None if the deployment creates it.

    A stack that CloudFormation would only delete is removed after a question, if it has no data.
    """
    name = connection.stack_name or ""
    stack = stacks.describe(name)
    if stack is None:
        return None
    state = read_state(stack.status)
    if not state.meaning:
        return stack
    said = f"The stack {name} is in {stack.status}. {state.meaning}"
    if state.step is NextStep.STOP:
        raise _refusal(f"{said} {state.remedy}")
    typer.echo(said, err=True)
    if state.step is NextStep.CREATE:
        return None
    _show_cause(stack)
    data = kept_data.read(stack)
    _check(stack, data)
    confirm(connection, f"Remove the stack {name}, which has no data, and deploy again?", yes=yes)
    _remove(stack, data)
    return None


def explain(stack_name: str) -> None:
    """After a deployment that failed, say what the next one does with what is left."""
    stack = stacks.describe(stack_name)
    if stack is None or read_state(stack.status).step is not NextStep.REMOVE:
        return
    typer.echo(f"The stack {stack_name} could not be created ({stack.status}).", err=True)
    _show_cause(stack)
    typer.echo("Run the command again: it removes what is left, and begins again.", err=True)


def _show_cause(stack: StackDescription) -> None:
    deleting = stack.status.startswith("DELETE")
    cause = stack.reason if deleting else stacks.first_failure(stack.stack_id)
    if cause:
        typer.echo(f"AWS's reason: {cause}", err=True)
    if _UNVERIFIED in cause:
        typer.echo("Until AWS has verified the account, deploy with EdgeService=none.", err=True)


def _check(stack: StackDescription, data: KeptData) -> None:
    """Refuse to remove a stack that has data, or that AWS would not delete."""
    if stack.termination_protection:
        message = (
            "The stack has termination protection. Switch it off in CloudFormation's console (the"
            " stack, Stack actions), then deploy again."
        )
        raise _refusal(message)
    used = _used_tables(data)
    if used or data.users:
        message = (
            f"The stack is not removed, because {_reason(data, used)}. Run"
            f" `pillarbox --stack-name {stack.name} teardown`, which keeps the tables, then"
            " `pillarbox restore stack` with their names, and deploy again."
        )
        raise _refusal(message)


def _used_tables(data: KeptData) -> list[str]:
    """Return the tables that have rows of somebody."""
    return [table.name for table in data.tables if kept_data.has_rows(table.name)]


def _reason(data: KeptData, used: list[str]) -> str:
    if used:
        return f"there are rows in {' and '.join(used)}"
    return f"the stack {', '.join(data.users)} uses its tables"


def _remove(stack: StackDescription, data: KeptData) -> None:
    """Delete the stack, and then what CloudFormation keeps."""
    with progress("Removing the stack"):
        for table in data.tables:
            kept_data.unprotect(table.name)
        stacks.delete(stack)
        # The question may have waited for hours, and only now can nothing of the stack write.
        if used := _used_tables(data):
            message = (
                f"The stack {stack.name} was removed, but its tables and buckets stay, because"
                f" there are rows in {' and '.join(used)} now. Run `pillarbox --stack-name"
                f" {stack.name} restore stack {' '.join(table.name for table in data.tables)}`,"
                " and deploy again."
            )
            raise _refusal(message)
        for bucket in data.buckets:
            for _ in kept_data.delete_bucket(bucket):
                pass
        for table in data.tables:
            kept_data.delete_table(table.name)
    typer.echo(f"Removed the stack {stack.name}.", err=True)


def _refusal(message: str) -> ServiceError:
    return ServiceError("service_unavailable", f"{message} Nothing was built.")

"""The command `pillarbox teardown`."""

from collections.abc import Sequence
from typing import Annotated, Final

import typer

from admin.aws import certificate_secret, kept_data, stacks
from admin.aws.receipts import StackReceipts
from admin.aws.stacks import StackDescription
from admin.confirm import require_aws
from admin.connection import StackConnection
from admin.progress import progress
from admin.tables import Record
from admin.use_cases import teardown as rules
from admin.use_cases.teardown import KeptData
from pillarbox.adapters.sqs.queues import SqsQueues
from pillarbox.domain.accounts.account import Isolation
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed

_QUEUES: Final = ("JobsQueueUrl", "UrgentJobsQueueUrl")
#: What a stack uses, and what is not part of it, by the parameter that names it.
_OUTSIDE: Final = {"RelayImage": "image", "ApiCertificate": "certificate"}


def teardown(
    ctx: typer.Context,
    *,
    delete_data: Annotated[
        bool,
        typer.Option("--delete-data", help="Delete the tables too: accounts, keys and history."),
    ] = False,
    drop_pending: Annotated[
        bool, typer.Option("--drop-pending", help="Never send accepted emails that still wait.")
    ] = False,
    confirm: Annotated[
        str | None,
        typer.Option(metavar="STACK", help="The stack's name, instead of typing it when asked."),
    ] = None,
) -> None:
    """Delete the stack. The tables stay, unless you say --delete-data.

    The command shows what it deletes and what stays, and asks for the stack's name. It empties
    and deletes the buckets: of large emails, which nothing can send without the queues, and of the
    edge's error page. With
    --delete-data it switches the tables' deletion protection off.

    If it is interrupted, run it again. With --delete-data it also works after the stack is gone.

    Example: `pillarbox --stack-name pillarbox-dev teardown`
    """
    connection: StackConnection = ctx.obj
    name = require_aws(connection)
    stack = stacks.describe(name) or kept_data.last_deleted(name)
    if stack is None:
        message = f"There is no stack {name} in this account and region. Check --stack-name."
        raise ServiceError("service_unavailable", message)
    data = kept_data.read(stack)
    waiting = _count_waiting(stack)
    _check(stack)
    rules.check(waiting=waiting, drop_pending=drop_pending, data=data, delete_data=delete_data)
    if not connection.json:
        connection.show_list(
            _parts(stack, data, waiting, delete_data=delete_data), ("part", "name", "then")
        )
    _ask(connection, name, confirm)
    _remove_tenants(connection, stack)
    with progress("Deleting the receipt rules at SES"):
        StackReceipts(name).remove()
    with progress("Deleting the stack, which takes a quarter of an hour"):
        stacks.delete(stack)
    with progress("Emptying the buckets", "objects") as report:
        deleted = 0
        for bucket in data.buckets:
            for number in kept_data.delete_bucket(bucket):
                deleted += number
                report(deleted)
    if delete_data:
        with progress("Deleting the tables"):
            for table in data.tables:
                kept_data.delete_table(table.name)
    kept = {
        field: None if delete_data or table is None else table.name
        for field, table in (("keptTable", data.table), ("keptCredentials", data.credentials))
    }
    done: dict[str, Json] = {"stack": name, "deleted": True, **kept}
    connection.show(done, hint=_hint(name, [table for table in kept.values() if table]))


def _remove_tenants(connection: StackConnection, stack: StackDescription) -> None:
    """Take the accounts out of their tenants: SES keeps a configuration set that a tenant has."""
    if "Strangers" not in stack.outputs:  # it was never complete, or is gone
        return
    connection.connect()
    isolation = connection.wiring.account_isolation
    with progress("Deleting the tenants at SES", "accounts") as report:
        moved = isolation.change_all(Isolation.NONE, report)
    if moved.failed:
        message = f"{len(moved.failed)} accounts keep their tenants at SES. Run this again."
        raise ServiceError("service_unavailable", message)


def _check(stack: StackDescription) -> None:
    """Refuse a stack that AWS would not delete."""
    if stack.termination_protection:
        message = (
            f"The stack {stack.name} has termination protection. Nothing was deleted. To"
            " delete it, switch the protection off: CloudFormation's console, Stack actions."
        )
        raise ServiceError("service_unavailable", message)
    deleting = stack.status in {"DELETE_IN_PROGRESS", "REVIEW_IN_PROGRESS"}
    if not stack.stable and not deleting:
        message = f"The stack {stack.name} changes now ({stack.status}). Try again after that."
        raise ServiceError("service_unavailable", message)


def _count_waiting(stack: StackDescription) -> int:
    """Count the emails in the queues, approximately."""
    if stack.status.startswith("DELETE"):
        return 0
    queues = SqsQueues()
    counts = [queues.status(stack.outputs[name]) for name in _QUEUES if name in stack.outputs]
    return sum(count.waiting + count.in_flight + count.delayed for count in counts)


def _ask(connection: StackConnection, name: str, confirmed: str | None) -> None:
    """Make sure that the operator means this stack."""
    if confirmed is None and connection.json:
        raise typer.BadParameter("with --json the command needs it", param_hint="--confirm")
    typed = confirmed if confirmed is not None else typer.prompt("Type the stack's name", err=True)
    if typed != name:
        message = f"is not {name}. Nothing was deleted."
        raise ValidationFailed(FieldError("The name", message, "mismatch"))


def _parts(
    stack: StackDescription, data: KeptData, waiting: int, *, delete_data: bool
) -> list[Record]:
    """Return each part of the stack, and what happens to it."""
    parts = []
    if stack.status != stacks.DELETED:
        parts.append(("stack", stack.name, "deleted"))
    if waiting:
        parts.append(("emails", f"{waiting} that wait", "never sent"))
    parts += [("bucket", bucket, "emptied, deleted") for bucket in data.buckets]
    for table in data.tables:
        protected = ", protection off first" if table.protected else ""
        then = f"deleted{protected}" if delete_data else "kept"
        parts.append(("table", f"{table.name} ({table.items:,} items)", then))
    parts += [
        (part, stack.parameters[name], "kept")
        for name, part in _OUTSIDE.items()
        if stack.parameters.get(name)
    ]
    if stack.parameters.get("RelayImage"):
        parts.append(("secret", certificate_secret.name_of(stack.name), "kept"))
    parts.append(("SES", "receipt rules of the stack", "deleted"))
    parts.append(("SES", "domains and senders; records in the DNS", "kept"))
    return [{"part": part, "name": name, "then": then} for part, name, then in parts]


def _hint(name: str, kept: Sequence[str]) -> str | None:
    if not kept:
        return None
    return (
        "The tables have everything but the emails that waited. Use them in a new stack:\n"
        f"pillarbox --stack-name {name} restore stack \\\n  {' '.join(kept)}\n"
        "or delete them: run this command again with --delete-data."
    )

"""The command `pillarbox capacity`."""

from typing import TYPE_CHECKING, Annotated

import typer

from admin.aws.stack_capacity import read_capacity
from admin.confirm import require_aws
from admin.doctor import count_failures, show_findings
from admin.use_cases.capacity import check_capacity

if TYPE_CHECKING:
    from admin.connection import StackConnection


def capacity(
    ctx: typer.Context,
    *,
    rate: Annotated[int, typer.Option(min=1, help="Emails a second, with one recipient each.")],
) -> None:
    """Show which limits of the stack and of its AWS account are too low for a rate.

    They are in the order in which one meets them. docs/operations.md explains each. The
    exit code is 1 if one is too low.

    Example: `pillarbox capacity --rate 1000`
    """
    connection: StackConnection = ctx.obj
    findings = list(check_capacity(rate, read_capacity(require_aws(connection))))
    show_findings(connection, findings)
    if count_failures(findings):
        raise typer.Exit(1)

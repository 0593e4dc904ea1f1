"""The commands `pillarbox doctor` and `pillarbox capacity`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Final

import typer

from admin.aws.readings import read_capacity
from admin.confirm import require_aws
from admin.connection import StackConnection, connected
from admin.progress import progress
from admin.tables import Record
from admin.use_cases.capacity import check_capacity
from pillarbox.application.operator.checks import Finding, Verdict
from pillarbox.http.operator.replies import CheckList

#: The checks that make no sense on the local stack, with the reason.
_NOT_LOCAL: Final = {
    "clock": "The local stand-ins for AWS use this machine's clock.",
    "rate": "The local stack does not limit its workers.",
    "plan": "The local stand-in for SES charges nothing.",
    "functions": "The local stack has no limit on concurrent functions.",
    "policies": "The local queues need no policies.",
    "domains": "The local name server has no records of sending domains.",
    "receiving": "The local stack has no MX records.",
    "waiting": "Nothing measures the local queues; see `pillarbox --local queue status`.",
    "table": "The local table ends with its stack.",
    "alarms": "The local stack has no alarms.",
}


def doctor(
    ctx: typer.Context,
    *,
    send: Annotated[
        bool,
        typer.Option(
            "--send", help="Send a test email to SES's mailbox simulator, and wait for it."
        ),
    ] = False,
    account: Annotated[
        str | None, typer.Option(metavar="ID", help="With --send: the account that sends.")
    ] = None,
) -> None:
    """Check the stack, and say how to fix each problem.

    --send sends a test email from the public address through the whole service. It counts
    towards the account's quota. The command creates a key for it and revokes the key.

    The exit code is 1 if a check fails. A warning is not a failure.

    Example: `pillarbox doctor --send --account qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    findings = run_checks(
        connection, (lambda: connection.wiring.round_trip.run(account)) if send else None
    )
    show_findings(connection, findings)
    if count_failures(findings):
        raise typer.Exit(1)


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


def run_checks(
    connection: StackConnection, send_test_email: Callable[[], Finding] | None = None
) -> list[Finding]:
    with progress("Checking the stack", "findings") as report:
        findings = []
        for finding in connection.wiring.doctor.run(
            _NOT_LOCAL if connection.local else {}, send_test_email
        ):
            findings.append(finding)
            report(len(findings))
    return findings


def count_failures(findings: Iterable[Finding]) -> int:
    return sum(finding.verdict is Verdict.FAIL for finding in findings)


def show_findings(
    connection: StackConnection, findings: Sequence[Finding], more: Record | None = None
) -> None:
    """Show the findings; `more` is added to the JSON output only."""
    connection.show_list(
        CheckList.of(items=findings)["items"],
        ("verdict", "check", "message", "remedy"),
        {"failed": count_failures(findings), **(more or {})},
    )

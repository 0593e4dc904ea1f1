"""`pillarbox doctor`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Final

import typer

from admin.operations.findings import Finding, Verdict
from admin.session import Record, StackSession, connected

#: What nobody can say of the local stack, and why.
_NOT_LOCALLY: Final = {
    "clock": "What stands in for AWS here goes by this machine's clock.",
    "rate": "What stands in for SES here has no rate.",
    "functions": "The local stack knows no such limit.",
    "domains": "The local name server knows no records of domains.",
    "waiting": "Nothing measures the local queues; see `pillarbox --local queue status`.",
    "table": "The local table ends with its stack.",
    "alarms": "Nothing watches the local stack.",
}


def doctor(
    ctx: typer.Context,
    *,
    send: Annotated[
        bool,
        typer.Option("--send", help="Send a mail to SES's mailbox simulator, and wait for it."),
    ] = False,
    account: Annotated[
        str | None, typer.Option(metavar="ID", help="With --send: who sends.")
    ] = None,
) -> None:
    """Look whether the stack can do its work, and say what to do where it cannot.

    With --send a mail goes from the public address through the whole service. It
    counts against the account's quota; the key that is made for it is revoked.

    The exit code is 1 when a check fails. Warnings do not fail.

    Example: `pillarbox doctor --send --account qh4ybvcvbqzk`
    """
    session = connected(ctx)
    trial = (lambda: session.wiring.round_trip.make(account)) if send else None
    found = look(session, trial)
    show(session, found)
    if failures(found):
        raise typer.Exit(1)


def look(session: StackSession, trial: Callable[[], Finding] | None = None) -> list[Finding]:
    """Make every check.

    Raises:
        SettingError: the stack does not say what is needed to look at it.
    """
    return list(session.wiring.doctor.examine(_NOT_LOCALLY if session.local else {}, trial))


def failures(found: Iterable[Finding]) -> int:
    """How many checks failed."""
    return sum(finding.verdict is Verdict.FAIL for finding in found)


def show(session: StackSession, found: Sequence[Finding], more: Record | None = None) -> None:
    """Show what was found; `more` goes along to programs."""
    session.show_list(
        [
            {
                "check": finding.check,
                "verdict": finding.verdict.value,
                "said": finding.said,
                "remedy": finding.remedy or None,
            }
            for finding in found
        ],
        ("verdict", "check", "said", "remedy"),
        {"failed": failures(found), **(more or {})},
    )

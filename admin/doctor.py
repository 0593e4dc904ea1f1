"""`pillarbox doctor`."""

from collections.abc import Iterable
from typing import Annotated, Final

import typer

from admin.session import Session, connected
from pillarbox import wiring
from pillarbox.application.administration.findings import Finding, Verdict

#: What nobody can say of the local stack, and why.
_NOT_LOCALLY: Final = {
    "clock": "What stands in for AWS here goes by this machine's clock.",
    "rate": "What stands in for SES here has no rate.",
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
    if not examine(connected(ctx), send=send, account=account):
        raise typer.Exit(1)


def examine(session: Session, *, send: bool = False, account: str | None = None) -> bool:
    """Make every check and show what was found; False when one failed.

    Raises:
        SettingMissing: the stack does not say what is needed to look at it.
    """
    trial = (lambda: wiring.round_trip().make(account)) if send else None
    found = list(wiring.doctor().examine(_NOT_LOCALLY if session.local else {}, trial))
    failed = sum(finding.verdict is Verdict.FAIL for finding in found)
    _show(session, found, failed)
    return not failed


def _show(session: Session, found: Iterable[Finding], failed: int) -> None:
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
        {"failed": failed},
    )

"""The command `pillarbox stats`."""

from typing import Annotated

import typer

from admin.session import connected
from pillarbox.application.history.audit import AuditReport
from pillarbox.domain.errors import Json

app = typer.Typer(no_args_is_help=True, help="The statistics behind lists and analytics.")

Account = Annotated[str, typer.Option(metavar="ID", help="The account's id.")]


@app.command("verify")
def verify(
    ctx: typer.Context,
    *,
    account: Annotated[
        str | None, typer.Option(metavar="ID", help="The account's id; without it, all accounts.")
    ] = None,
) -> None:
    """Recount an account's messages and report whether its statistics are right.

    Changes of the last 15 minutes that are not counted yet are shown as behind;
    they are not wrong. The exit code is 1 if something is wrong. While an
    account sends much mail, a count can change during the command: run it again.
    Without an account the command recounts all accounts, one after another.

    Example: `pillarbox stats verify --account qh4ybvcvbqzk`
    """
    session = connected(ctx)
    audit = session.wiring.statistics_audit
    if account is not None:
        reports = {account: audit.verify(account)}
        session.show(_view(account, reports[account]))
    else:
        reports = {each: audit.verify(each) for each in session.wiring.account_ids()}
        views = [_view(each, report) for each, report in reports.items()]
        session.show_list(views, ("accountId", "messages", "right", "wrong", "behind"))
    if not all(report.is_correct for report in reports.values()):
        raise typer.Exit(1)


@app.command("rebuild")
def rebuild(ctx: typer.Context, *, account: Account) -> None:
    """Recount an account's messages, repair its statistics and report whether they were right.

    The command reads every message of the account. It needs about 300 MB of
    memory for a million.

    Example: `pillarbox stats rebuild --account qh4ybvcvbqzk`
    """
    session = connected(ctx)
    session.show(_view(account, session.wiring.statistics_audit.rebuild(account)))


def _view(account_id: str, report: AuditReport) -> dict[str, Json]:
    return {
        "accountId": account_id,
        "messages": report.messages,
        "right": report.is_correct,
        "wrong": report.wrong_items,
        "behind": report.lagging_messages,
        "repaired": report.repaired_items,
    }

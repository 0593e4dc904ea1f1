"""The commands `pillarbox stats …`."""

from typing import Annotated

import typer

from admin.connection import Account, connected
from admin.progress import progress
from admin.tables import Record
from admin.times import HELP, parse_time
from admin.use_cases.audit import AuditReport
from pillarbox.application.history.ranking import RankBy
from pillarbox.http.operator.replies import rates_result
from pillarbox.wiring import utc_now

app = typer.Typer(no_args_is_help=True, help="Who sends what, and the statistics behind it.")


@app.command("top")
def top(
    ctx: typer.Context,
    *,
    by: Annotated[RankBy, typer.Option(help="What to rank the accounts by.")] = RankBy.VOLUME,
    since: Annotated[
        str, typer.Option(metavar="TIME", help=f"The start of the range, which ends now: {HELP}")
    ] = "24h",
    limit: Annotated[int, typer.Option(min=1, help="The most accounts to show.")] = 10,
) -> None:
    """Rank the accounts by emails, bounces or complaints of the last hours or days.

    The counts are those of emails that were accepted in this time: a bounce counts at the time of
    its email, and only if it is permanent. The rates are fractions of what was handed to SES.
    Unconfirmed are emails of UTC days that ended a day ago, such as with `--since 7d`, of which SES
    has reported no delivery and no bounce.

    Example: `pillarbox stats top --by bounces --since 6h`
    """
    connection = connected(ctx)
    now = utc_now()
    start = parse_time("since", since, now)
    with progress("Counting", "accounts") as report:
        counted = connection.wiring.account_rates.counts(start, now, report)
    rates = rates_result(counted, by, start, now, limit)
    connection.show_list(
        rates["items"],
        ("id", "name", "totalMessages", "bounced", "bounceRate", "complained", "complaintRate"),
        {name: value for name, value in rates.items() if name != "items"},
    )


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
    connection = connected(ctx)
    audit = connection.wiring.statistics_audit
    if account is not None:
        with progress("Recounting messages"):
            reports = {account: audit.verify(account)}
        connection.show(_view(account, reports[account]))
    else:
        reports = {}
        with progress("Recounting the messages of", "accounts") as report:
            for each in connection.wiring.account_ids():
                reports[each] = audit.verify(each)
                report(len(reports))
        views = [_view(each, counted) for each, counted in reports.items()]
        connection.show_list(views, ("accountId", "messages", "right", "wrong", "behind"))
    if not all(counted.is_correct for counted in reports.values()):
        raise typer.Exit(1)


@app.command("rebuild")
def rebuild(ctx: typer.Context, *, account: Account) -> None:
    """Recount an account's messages, repair its statistics and report whether they were right.

    The command also puts every message into the index by recipient and tag again. It reads every
    message of the account, and needs about 300 MB of memory for a million.

    Example: `pillarbox stats rebuild --account qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    with progress("Recounting messages"):
        rebuilt = connection.wiring.statistics_audit.rebuild(account)
    connection.show(_view(account, rebuilt))


def _view(account_id: str, report: AuditReport) -> Record:
    return {
        "accountId": account_id,
        "messages": report.messages,
        "right": report.is_correct,
        "wrong": report.wrong_items,
        "behind": report.lagging_messages,
        "repaired": report.repaired_items,
    }

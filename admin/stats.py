"""`pillarbox stats …`."""

from typing import Annotated

import typer

from admin.session import connected
from pillarbox.application.history.audit import AuditReport
from pillarbox.domain.errors import Json

app = typer.Typer(no_args_is_help=True, help="The counts that listing and analytics rest on.")

Account = Annotated[str, typer.Option(metavar="ID", help="The account's id.")]


@app.command("verify")
def verify(ctx: typer.Context, *, account: Account) -> None:
    """Count an account's messages anew, and say whether its statistics are right.

    Changes of the last 15 minutes that are not counted yet are no fault but
    shown as behind. The exit code is 1 when something is wrong. While much mail
    flows a count may change under the reader: look twice.

    Example: `pillarbox stats verify --account qh4ybvcvbqzk`
    """
    session = connected(ctx)
    found = session.wiring.statistics_audit.verify(account)
    session.show(_view(account, found))
    if not found.right:
        raise typer.Exit(1)


@app.command("rebuild")
def rebuild(ctx: typer.Context, *, account: Account) -> None:
    """Count an account's messages anew, write what was not right, and say whether it was.

    Reads every message of the account, and holds about 300 MB for a million.

    Example: `pillarbox stats rebuild --account qh4ybvcvbqzk`
    """
    session = connected(ctx)
    session.show(_view(account, session.wiring.statistics_audit.rebuild(account)))


def _view(account_id: str, found: AuditReport) -> dict[str, Json]:
    return {
        "accountId": account_id,
        "messages": found.messages,
        "right": found.right,
        "wrong": found.wrong,
        "behind": found.behind,
        "repaired": found.repaired,
    }

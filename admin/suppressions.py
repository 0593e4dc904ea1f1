"""The commands `pillarbox suppression …`."""

import getpass
from datetime import UTC, datetime
from typing import Annotated

import typer

from admin import wiring
from admin.session import connected
from admin.views import suppression_view

app = typer.Typer(no_args_is_help=True, help="The addresses that an account does not send to.")

Account = Annotated[str, typer.Option(metavar="ID", help="The account's id.")]
Address = Annotated[
    str, typer.Argument(metavar="ADDRESS", help="One bare address, in upper or lower case.")
]


@app.command("add")
def add(ctx: typer.Context, address: Address, *, account: Account) -> None:
    """Suppress an address. Emails to it are then refused with recipient_suppressed.

    An address that is already suppressed keeps its reason.

    Example: `pillarbox suppression add --account qh4ybvcvbqzk ann@example.com`
    """
    session = connected(ctx)
    session.show(suppression_view(wiring.suppression_list().add(account, address)))


@app.command("list")
def list_all(ctx: typer.Context, *, account: Account) -> None:
    """List an account's suppressions. The reason is bounced, complained or manual.

    Example: `pillarbox suppression list --account qh4ybvcvbqzk`
    """
    session = connected(ctx)
    session.show_list(
        [suppression_view(entry) for entry in wiring.suppression_list().of_account(account)],
        ("address", "reason", "createdAt", "messageId"),
    )


@app.command("remove")
def remove(ctx: typer.Context, address: Address, *, account: Account) -> None:
    """Remove a suppression. The output shows who removed it: keep it for your records.

    SES has its own suppression list, which this command does not change.

    Example: `pillarbox suppression remove --account qh4ybvcvbqzk ann@example.com`
    """
    session = connected(ctx)
    removed = wiring.suppression_list().remove(account, address)
    session.show(
        {
            "address": removed,
            "accountId": account,
            "removed": True,
            "removedBy": getpass.getuser(),
            "removedAt": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
    )

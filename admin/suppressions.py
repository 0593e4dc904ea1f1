"""The commands `pillarbox suppression …`."""

import getpass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from admin.connection import connected
from admin.progress import progress
from pillarbox.http.accounts.replies import suppression_item

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
    connection = connected(ctx)
    connection.show(suppression_item(connection.wiring.suppression_list.add(account, address)))


@app.command("list")
def list_all(ctx: typer.Context, *, account: Account) -> None:
    """List an account's suppressions. The reason is bounced, complained or manual.

    Example: `pillarbox suppression list --account qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    with progress("Reading suppressions"):
        entries = [*connection.wiring.suppression_list.of_account(account)]
    connection.show_list(
        [*map(suppression_item, entries)], ("address", "reason", "createdAt", "messageId")
    )


@app.command("import")
def import_file(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="A text file.")
    ],
    *,
    account: Account,
) -> None:
    """Suppress the addresses of a file: one a line, or CSV as `suppression export` writes it.

    In a CSV file only the column address is required; a reason is bounced, complained or manual.
    If a line is wrong, nothing is imported. Addresses that are suppressed already keep their
    reason, so you can run the command again.

    Example: `pillarbox suppression import --account qh4ybvcvbqzk unsubscribed.txt`
    """
    connection = connected(ctx)
    files = connection.wiring.suppression_files
    with file.open(encoding="utf-8-sig", newline="") as opened:
        entries = files.read(opened)
    with progress("Importing", "suppressions", total=len(entries)) as report:
        result = files.store(account, entries, report)
    connection.show({"accountId": account, "added": result.added, "known": result.known})


@app.command("export")
def export_file(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The CSV file to create.")],
    *,
    account: Account,
) -> None:
    """Write an account's suppressions to a new CSV file, which `suppression import` reads.

    Example: `pillarbox suppression export --account qh4ybvcvbqzk suppressions.csv`
    """
    connection = connected(ctx)
    try:
        opened = file.open("x", encoding="utf-8", newline="")
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}", param_hint="'FILE'") from error
    try:
        with opened, progress("Exporting", "suppressions") as report:
            written = connection.wiring.suppression_files.write(account, opened, report)
    except BaseException:
        file.unlink()  # a part of the list could be taken for all of it
        raise
    connection.show({"accountId": account, "file": str(file), "exported": written})


@app.command("remove")
def remove(ctx: typer.Context, address: Address, *, account: Account) -> None:
    """Remove a suppression. The output shows who removed it: keep it for your records.

    SES has its own suppression list, which this command does not change.

    Example: `pillarbox suppression remove --account qh4ybvcvbqzk ann@example.com`
    """
    connection = connected(ctx)
    removed = connection.wiring.suppression_list.remove(account, address)
    connection.show(
        {
            "address": removed,
            "accountId": account,
            "removed": True,
            "removedBy": getpass.getuser(),
            "removedAt": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
    )

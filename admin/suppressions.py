"""The commands `pillarbox suppression …`."""

from io import StringIO
from pathlib import Path
from typing import Annotated

import typer

from admin.api_commands import ApiCommand
from admin.connection import Account, connected
from admin.progress import progress
from admin.use_cases.suppression_files import SuppressionFile
from admin.use_cases.suppression_rows import text_of
from pillarbox.application.validation import normalize_address
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.http.messages.replies import timestamp

app = typer.Typer(no_args_is_help=True, help="The addresses that an account does not send to.")
ses_app = typer.Typer(no_args_is_help=True, help="The addresses that SES itself does not send to.")
app.add_typer(ses_app, name="ses")

Tenant = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The tenant at SES, which `account show` names."),
]
Address = Annotated[
    str, typer.Argument(metavar="ADDRESS", help="One bare address, in upper or lower case.")
]


@app.command("import")
def import_file(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="A text file.")
    ],
    *,
    account: Account,
    strict: Annotated[
        bool, typer.Option("--strict/--skip-invalid", help="Import nothing if a line is wrong.")
    ] = False,
    announce: Annotated[
        bool,
        typer.Option("--announce", help="Post suppression.added to webhooks for each address."),
    ] = False,
) -> None:
    """Suppress the addresses of a file: CSV, one address a line, or JSON.

    It takes the exports of Pillarbox, those of Postmark, Resend, SendGrid and SES, and what Excel
    saves as CSV or Unicode text, as they are.
    The address is in the column email, email address, recipient or address. Lines that begin with #
    and columns that are not known are ignored. Addresses that are suppressed already keep their
    reason, so you can run the command again.

    Lines that are wrong are written to FILE.refused.csv with their reasons, and the others are
    imported. With --strict nothing is then imported, nor if no line is right.

    Example: `pillarbox suppression import --account qh4ybvcvbqzk unsubscribed.csv`
    """
    connection = connected(ctx)
    files = connection.wiring.suppression_files
    listed = files.read(StringIO(text_of(file.read_bytes()), newline=""))
    shown: dict[str, Json] = {"accountId": account}
    if strict or not listed.entries:
        listed.check()
    elif listed.refused:
        refused_file = _write_refused(file, listed)
        shown |= {"refused": len(listed.refused), "refusedFile": str(refused_file)}
    entries = listed.entries
    with progress("Importing", "suppressions", total=len(entries)) as report:
        result = files.store(account, entries, report, announce=announce)
    connection.show(shown | {"added": result.added, "known": result.known})


def _write_refused(file: Path, listed: SuppressionFile) -> Path:
    """Write the lines that are wrong beside their file."""
    beside, text = file.with_name(f"{file.name}.refused.csv"), listed.refused_text()
    try:
        with beside.open("x", encoding="utf-8", newline="") as opened:
            opened.write(text)
    except FileExistsError as error:
        if beside.read_bytes() != text.encode():
            message = f"{beside} has lines of an earlier import: import or remove it first"
            raise ValidationFailed(FieldError("", message, "invalid")) from error
    except OSError as error:
        message = f"{beside}: {error.strerror}"
        raise ValidationFailed(FieldError("", message, "invalid")) from error
    return beside


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


@ses_app.command("list")
def list_at_ses(ctx: typer.Context, *, tenant: Tenant = None) -> None:
    """List the addresses on SES's own list of the AWS account, or of a tenant.

    Pillarbox takes addresses off this list when their emails bounce, and when SES did not send
    because of it. So those that stay were listed before, or because of another system's emails.

    Example: `pillarbox suppression ses list --tenant pillarbox-qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    with progress("Reading SES's list"):
        entries = [*connection.wiring.provider_suppressions.all(tenant)]
    connection.show_list(
        [
            {"address": one.address, "reason": one.reason, "createdAt": timestamp(one.at)}
            for one in entries
        ],
        ("address", "reason", "createdAt"),
    )


@ses_app.command("remove")
def remove_at_ses(ctx: typer.Context, address: Address, *, tenant: Tenant = None) -> None:
    """Take an address off SES's list of the AWS account, and off the list of a tenant.

    The suppressions of accounts stay: `suppression remove` removes those.

    Example: `pillarbox suppression ses remove ann@example.com`
    """
    connection = connected(ctx)
    mailbox = mailbox_key(normalize_address(address))
    with progress("Reading SES's list"):
        removed = connection.wiring.provider_suppressions.remove_spellings(mailbox, tenant)
    if not removed:
        where = "the AWS account" if tenant is None else f"the AWS account or of {tenant}"
        hint = " A tenant has a list of its own: see --tenant." if tenant is None else ""
        message = f"The address is not on SES's list of {where}.{hint}"
        raise ServiceError("suppression_not_found", message)
    connection.show({"address": mailbox, "tenant": tenant, "removed": True})


ApiCommand(
    operation_id="add_suppressions", arguments=("address",), options={"addresses": None}
).add_to(app, "suppression", "add")
ApiCommand(
    operation_id="list_suppressions",
    columns=("address", "reason", "createdAt", "messageId"),
    whole=True,
).add_to(app, "suppression", "list")
ApiCommand(operation_id="remove_suppression").add_to(app, "suppression", "remove")

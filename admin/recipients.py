"""The commands `pillarbox recipient …`."""

from typing import Annotated

import typer

from admin.confirm import confirm, require_yes
from admin.connection import connected
from admin.progress import progress
from admin.use_cases.erasure import AccountErasure
from pillarbox.application.validation import normalize_address
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import Json
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT, SERVICE_ACCOUNT_ID

app = typer.Typer(no_args_is_help=True, help="People to whom emails were sent.")


@app.command("erase")
def erase(
    ctx: typer.Context,
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="One bare address, in upper or lower case.")
    ],
    *,
    account: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="The account's id; without it, all accounts and the service's own mail, whose"
            f" account is {SERVICE_ACCOUNT_ID}.",
        ),
    ] = None,
    suppress: Annotated[
        bool,
        typer.Option(
            "--suppress",
            help="Also refuse new emails to the address: in the account, or without --account in"
            " each that had it. Only a hash of the address is stored.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Erase without asking.")] = False,
) -> None:
    """Erase a person from the history: the address, and with it subjects, tags and server texts.

    The messages stay with their status, so all counts stay. Emails that still wait are not sent to
    the address any more. A suppression of the address becomes one of its hash. The command takes
    40 seconds or more, because emails may be on their way into the history. If it is interrupted,
    run it again.

    These stay: backups of the table for 35 days, the queues for up to 14 days, large emails in the
    spool and uploaded attachments for 3 days, idempotency keys for 24 hours, and lists of
    recipients of agents' keys. The address leaves the suppression lists of SES.

    Example: `pillarbox recipient erase ann@example.com --suppress`
    """
    connection = connected(ctx)
    require_yes(connection, yes=yes)
    mailbox = mailbox_key(normalize_address(address))
    wiring = connection.wiring
    with progress("Reading accounts"):
        if account is None:
            accounts = [*wiring.accounts.all(), SERVICE_ACCOUNT]
            where = f"all {len(accounts) - 1} accounts and of the service's own mail"
        else:
            is_service = account == SERVICE_ACCOUNT_ID
            accounts = [SERVICE_ACCOUNT if is_service else wiring.accounts.get(account)]
            where = f"the account {account}"
    confirm(connection, f"Erase {mailbox} from the history of {where}?", yes=yes)
    with progress("Erasing; erased so far:", "messages") as report:
        erased = wiring.recipient_erasure.erase(
            accounts, mailbox, report, suppress=suppress, everywhere=account is not None
        )
    connection.show_list(
        [*map(_view, erased)],
        ("accountId", "messages", "pending", "received", "suppressed"),
        {"address": mailbox, "messages": sum(each.messages for each in erased)},
    )


def _view(erased: AccountErasure) -> dict[str, Json]:
    return {
        "accountId": erased.account.account_id,
        "messages": erased.messages,
        "pending": erased.pending,
        "received": erased.received,
        "suppressed": erased.suppressed,
    }

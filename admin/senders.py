"""The commands `pillarbox sender …`."""

from typing import Annotated

import typer

from admin.api_commands import ApiCommand
from admin.connection import Account, connected
from pillarbox.http.accounts.replies import SenderItem

app = typer.Typer(no_args_is_help=True, help="The addresses that an account sends from.")

Address = Annotated[str, typer.Argument(metavar="ADDRESS", help="One bare address.")]


@app.command("add")
def add(
    ctx: typer.Context,
    address: Address,
    *,
    account: Account,
    verified: Annotated[
        bool, typer.Option("--verified", help="Treat the address as verified, without asking SES.")
    ] = False,
    default: Annotated[
        bool, typer.Option("--default", help="Make it the default sender if it is verified.")
    ] = False,
) -> None:
    """Add a sender to an account, or check again whether SES has verified it.

    If SES knows neither the address nor its domain, it emails a link to the address, and
    the sender is pending: follow the link, then run the same command again. A domain of
    your own is better (`pillarbox domain add`): its emails are signed, and all its
    addresses are verified.

    The first verified sender becomes the default sender.

    Example: `pillarbox sender add --account qh4ybvcvbqzk hello@shop.example --default`
    """
    connection = connected(ctx)
    sender = connection.wiring.senders.add(account, address, verified=verified, default=default)
    if verified and connection.local:
        # The local SES refuses emails from an address that it does not know.
        connection.wiring.senders.identities.ensure_identity(sender.address)
    domain = sender.address.rpartition("@")[2]
    hint = (
        "Pending. Follow the link that SES emails to the address, or verify its domain"
        f" (pillarbox domain add {domain}). Then run this command again."
    )
    connection.show(SenderItem.of(sender), hint=None if sender.verified else hint)


ApiCommand(operation_id="list_senders", columns=("address", "verified", "default")).add_to(
    app, "sender", "list"
)
ApiCommand(operation_id="remove_sender").add_to(app, "sender", "remove")
ApiCommand(operation_id="set_default_sender").add_to(app, "sender", "default")

"""The commands `pillarbox sender …`."""

from typing import Annotated

import typer

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


@app.command("list")
def list_all(ctx: typer.Context, *, account: Account) -> None:
    """List an account's senders.

    Example: `pillarbox sender list --account qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    connection.show_list(
        [SenderItem.of(sender) for sender in connection.wiring.senders.of_account(account)],
        ("address", "verified", "default"),
    )


@app.command("remove")
def remove(ctx: typer.Context, address: Address, *, account: Account) -> None:
    """Remove a sender from an account.

    If it is the default sender, the account cannot send until you choose another one. SES
    keeps the identity, because other accounts may use it.

    Example: `pillarbox sender remove --account qh4ybvcvbqzk old@shop.example`
    """
    connection = connected(ctx)
    removed = connection.wiring.senders.remove(account, address)
    connection.show({"address": removed, "removed": True})


@app.command("default")
def make_default(ctx: typer.Context, address: Address, *, account: Account) -> None:
    """Make a verified sender the default. Emails without `from` use it; on free plans, all do.

    Example: `pillarbox sender default --account qh4ybvcvbqzk hello@shop.example`
    """
    connection = connected(ctx)
    connection.show(SenderItem.of(connection.wiring.senders.make_default(account, address)))

"""`pillarbox sender …`."""

from typing import Annotated

import typer

from admin.session import connected
from admin.views import sender_view

app = typer.Typer(no_args_is_help=True, help="The addresses that an account's mail comes from.")

Account = Annotated[str, typer.Option(metavar="ID", help="The account's id.")]
Address = Annotated[str, typer.Argument(metavar="ADDRESS", help="One bare address.")]


@app.command("add")
def add(
    ctx: typer.Context,
    address: Address,
    *,
    account: Account,
    verified: Annotated[
        bool, typer.Option("--verified", help="Take it for verified; SES is not asked.")
    ] = False,
    default: Annotated[
        bool, typer.Option("--default", help="Make it the default sender, if it is verified.")
    ] = False,
) -> None:
    """Give an account a sender, or look again whether SES has it verified.

    SES is asked for the address and its domain. When it knows neither, it sends
    the address a mail with a link, and the sender is pending: follow the link,
    then run the same command again. Better is a domain of your own (`pillarbox
    domain add`): its mail is signed, and all its addresses are verified.

    The first verified sender becomes the default one by itself.

    Example: `pillarbox sender add --account qh4ybvcvbqzk hello@shop.example --default`
    """
    session = connected(ctx)
    sender = session.wiring.senders.add(account, address, verified=verified, default=default)
    if verified and session.local:
        # What stands in for SES here must know the address, else it refuses the mail.
        session.wiring.senders.identities.ensure_identity(sender.address)
    domain = sender.address.rpartition("@")[2]
    hint = (
        "Pending: follow the link that SES mails to the address, or verify its domain"
        f" (pillarbox domain add {domain}); then run this command again."
    )
    session.show(sender_view(sender), hint=None if sender.verified else hint)


@app.command("list")
def list_all(ctx: typer.Context, *, account: Account) -> None:
    """List an account's senders.

    Example: `pillarbox sender list --account qh4ybvcvbqzk`
    """
    session = connected(ctx)
    session.show_list(
        [sender_view(sender) for sender in session.wiring.senders.of_account(account)],
        ("address", "status", "default"),
    )


@app.command("remove")
def remove(ctx: typer.Context, address: Address, *, account: Account) -> None:
    """Take a sender from an account.

    Was it the default, the account cannot send until another is made it. SES
    keeps the identity, since other accounts may use it.

    Example: `pillarbox sender remove --account qh4ybvcvbqzk old@shop.example`
    """
    session = connected(ctx)
    removed = session.wiring.senders.remove(account, address)
    session.show({"address": removed, "removed": True})


@app.command("default")
def make_default(ctx: typer.Context, address: Address, *, account: Account) -> None:
    """Make a verified sender the default: for mails that name none, and on free plans for all.

    Example: `pillarbox sender default --account qh4ybvcvbqzk hello@shop.example`
    """
    session = connected(ctx)
    session.show(sender_view(session.wiring.senders.make_default(account, address)))

"""The commands `pillarbox signup …`."""

from typing import Annotated

import typer

from admin.confirm import confirm, require_yes
from admin.connection import connected
from admin.tables import Record
from admin.team import Address, sign_in_url
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.sign_in.sign_up import SignUpRequest
from pillarbox.http.sign_in.replies import PendingSignUp

app = typer.Typer(no_args_is_help=True, help="Users who ask for an account.")


@app.command("list")
def list_pending(ctx: typer.Context) -> None:
    """List the users who have asked for an account and wait, the oldest request first.

    Example: `pillarbox signup list`
    """
    connection = connected(ctx)
    found = connection.wiring.sign_up_approval.pending()
    connection.show_list([*map(_view, found)], ("email", "name", "createdAt"))


@app.command("approve")
def approve(
    ctx: typer.Context,
    address: Address,
    *,
    plan: Annotated[Plan, typer.Option()] = Plan.FREE,
) -> None:
    """Create the account that a user has asked for. The user becomes its owner and gets an email.

    Example: `pillarbox signup approve ada@shop.example --plan standard`
    """
    connection = connected(ctx)
    account = connection.wiring.sign_up_approval.approve(address, plan)
    connection.show(
        {
            "email": account.contact,
            "accountId": account.account_id,
            "name": account.name,
            "plan": account.plan,
        }
    )


@app.command("refuse")
def refuse(
    ctx: typer.Context,
    address: Address,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Refuse without asking.")] = False,
) -> None:
    """Refuse an account to a user, or take an invitation back. The dashboard tells the user.

    Example: `pillarbox signup refuse ada@shop.example`
    """
    require_yes(ctx.obj, yes=yes)
    connection = connected(ctx)
    confirm(connection, f"Refuse an account to {address}?", yes=yes)
    connection.show(_view(connection.wiring.sign_up_approval.refuse(address)))


@app.command("invite")
def invite(ctx: typer.Context, address: Address) -> None:
    """Let a user create an account, and print a link that signs the user in once.

    The link works within an hour. Afterwards the user signs in with a code. Needs a stack whose
    parameter SignUp is not `closed`.

    Example: `pillarbox signup invite ada@shop.example`
    """
    connection = connected(ctx)
    link = connection.wiring.sign_up_approval.invite(address)
    connection.show({"url": sign_in_url(connection.wiring.settings.api_url, link)})


def _view(request: SignUpRequest) -> Record:
    return {**PendingSignUp.of(request), "status": request.state}

"""The commands `pillarbox signup …`."""

import typer

from admin.api_commands import ApiCommand
from admin.connection import connected
from admin.team import Address, sign_in_url

app = typer.Typer(no_args_is_help=True, help="Users who ask for an account.")


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


ApiCommand(operation_id="list_sign_ups", columns=("email", "name", "createdAt")).add_to(
    app, "signup", "list"
)
ApiCommand(operation_id="approve_sign_up").add_to(app, "signup", "approve")
ApiCommand(operation_id="refuse_sign_up", question="Refuse an account to {address}?").add_to(
    app, "signup", "refuse"
)

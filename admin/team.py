"""The commands `pillarbox dashboard`, `pillarbox member`, `operator` and `signup`."""

from typing import Annotated

import typer

from admin.api_commands import ApiCommand
from admin.confirm import confirm, require_yes
from admin.connection import Account, connected
from admin.tables import Record
from pillarbox.domain.sign_in.session import Member, Role
from pillarbox.http.accounts.replies import member_item

dashboard = typer.Typer(no_args_is_help=True, help="The dashboard.")
members = typer.Typer(no_args_is_help=True, help="The users of an account, and their roles.")
operators = typer.Typer(no_args_is_help=True, help="Users who may operate the whole service.")
sign_ups = typer.Typer(no_args_is_help=True, help="Users who ask for an account.")

Address = Annotated[str, typer.Argument(metavar="EMAIL", help="The user's address.")]
RoleOption = Annotated[Role, typer.Option(help="What the user may do in the account.")]


@dashboard.command("link")
def link(
    ctx: typer.Context,
    address: Address,
    *,
    account: Annotated[
        str | None, typer.Option(metavar="ID", help="First add the user to this account.")
    ] = None,
    role: RoleOption = Role.OWNER,
) -> None:
    """Create a link with which a user signs in once, within an hour. A new user is created.

    The first person who opens the link is signed in as this user.

    Example: `pillarbox dashboard link ada@shop.example --account qh4ybvcvbqzk --role owner`
    """
    connection = connected(ctx)
    team = connection.wiring.team
    if account is not None:
        team.add_member(account, address, role)
    connection.show(
        {"url": sign_in_url(connection.wiring.settings.api_url, team.new_link(address))}
    )


@members.command("add")
def add_member(
    ctx: typer.Context, address: Address, *, account: Account, role: RoleOption = Role.VIEWER
) -> None:
    """Add a user to an account, or change the user's role there.

    Example: `pillarbox member add ada@shop.example --account qh4ybvcvbqzk --role developer`
    """
    connection = connected(ctx)
    connection.show(_member_view(connection.wiring.team.add_member(account, address, role)))


@members.command("remove")
def remove_member(
    ctx: typer.Context,
    address: Address,
    *,
    account: Account,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False,
) -> None:
    """Remove a user from an account. It takes effect at the user's next request.

    Example: `pillarbox member remove ada@shop.example --account qh4ybvcvbqzk`
    """
    require_yes(ctx.obj, yes=yes)
    connection = connected(ctx)
    confirm(connection, f"Remove {address} from the account {account}?", yes=yes)
    connection.wiring.team.remove_member(account, address)
    connection.show({"email": address, "accountId": account, "removed": True})


ApiCommand(operation_id="list_members", columns=("email", "role", "pending", "createdAt")).add_to(
    members, "member", "list"
)


@operators.command("add")
def add_operator(ctx: typer.Context, address: Address) -> None:
    """Let a user operate the whole service. A new user is created.

    Example: `pillarbox operator add ada@shop.example`
    """
    connection = connected(ctx)
    user = connection.wiring.team.set_operator(address, operator=True)
    connection.show({"email": user.address, "operator": user.operator})


@operators.command("remove")
def remove_operator(
    ctx: typer.Context,
    address: Address,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False,
) -> None:
    """Take the right from a user, and end all sessions of the user.

    Example: `pillarbox operator remove ada@shop.example`
    """
    require_yes(ctx.obj, yes=yes)
    connection = connected(ctx)
    confirm(connection, f"{address} no longer operates the service?", yes=yes)
    user = connection.wiring.team.set_operator(address, operator=False)
    connection.show({"email": user.address, "operator": user.operator})


@sign_ups.command("invite")
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
    sign_ups, "signup", "list"
)
ApiCommand(operation_id="approve_sign_up").add_to(sign_ups, "signup", "approve")
ApiCommand(operation_id="refuse_sign_up", question="Refuse an account to {address}?").add_to(
    sign_ups, "signup", "refuse"
)


def sign_in_url(base_url: str, link_text: str) -> str:
    """Return the address that signs in with a one-time link. Its fragment reaches no server."""
    return f"{base_url}/app/sign-in#{link_text}"


def _member_view(member: Member) -> Record:
    return {**member_item(member, user_id=""), "accountId": member.account_id}

"""`pillarbox account …`."""

from typing import Annotated

import typer

from admin.session import connected
from admin.views import account_view
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.account import Plan
from pillarbox.domain.quota import Limits

app = typer.Typer(no_args_is_help=True, help="Accounts: whose mail it is, and how much of it.")

AccountId = Annotated[str, typer.Argument(metavar="ID", help="The account's id.")]
PerMinute = Annotated[int | None, typer.Option(help="Mails a minute, instead of the plan's.")]
PerDay = Annotated[int | None, typer.Option(help="Mails a day (UTC), instead of the plan's.")]
PerMonth = Annotated[int | None, typer.Option(help="Mails a month (UTC), instead of the plan's.")]
_HOLD = (
    "When SES gave no answer and may have sent a mail: leave it failed, rather than send it again."
)


@app.command("create")
def create(  # noqa: PLR0913  the options of a command are its arguments
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Option(help="For people; 1 to 128 characters.")],
    plan: Annotated[Plan, typer.Option(help="What the account pays for.")],
    per_minute: PerMinute = None,
    per_day: PerDay = None,
    per_month: PerMonth = None,
    hold_uncertain: Annotated[bool, typer.Option(help=_HOLD)] = False,
) -> None:
    """Make an account. It needs a sender and a key before it can send.

    Example: `pillarbox account create --name Shop --plan standard --per-month 50000`
    """
    session = connected(ctx)
    account = session.wiring.accounts.create(
        name,
        plan,
        limits=Limits(per_minute=per_minute, per_day=per_day, per_month=per_month),
        hold_uncertain=hold_uncertain,
    )
    session.show(account_view(account))


@app.command("update")
def update(  # noqa: PLR0913  the options of a command are its arguments
    ctx: typer.Context,
    account_id: AccountId,
    *,
    name: Annotated[str | None, typer.Option(help="For people; 1 to 128 characters.")] = None,
    plan: Annotated[
        Plan | None, typer.Option(help="What the account pays for; its keys keep their scopes.")
    ] = None,
    per_minute: PerMinute = None,
    per_day: PerDay = None,
    per_month: PerMonth = None,
    plan_limits: Annotated[
        bool, typer.Option("--plan-limits", help="Drop own limits that are not given anew.")
    ] = False,
    hold_uncertain: Annotated[bool | None, typer.Option(help=_HOLD)] = None,
) -> None:
    """Change what is given of an account, from its next request on.

    Example: `pillarbox account update qh4ybvcvbqzk --plan enterprise --per-day 200000`
    """
    session = connected(ctx)
    changes = AccountChanges(
        name=name,
        plan=plan,
        limits=Limits(per_minute=per_minute, per_day=per_day, per_month=per_month),
        plan_limits=plan_limits,
        hold_uncertain=hold_uncertain,
    )
    session.show(account_view(session.wiring.accounts.update(account_id, changes)))


@app.command("show")
def show(ctx: typer.Context, account_id: AccountId) -> None:
    """Show an account with its limits and senders.

    Example: `pillarbox account show qh4ybvcvbqzk`
    """
    session = connected(ctx)
    session.show(account_view(session.wiring.accounts.get(account_id)))


@app.command("list")
def list_all(ctx: typer.Context) -> None:
    """List all accounts.

    Example: `pillarbox account list`
    """
    session = connected(ctx)
    session.show_list(
        [account_view(account) for account in session.wiring.accounts.all()],
        ("accountId", "name", "plan", "limits", "defaultSender"),
    )

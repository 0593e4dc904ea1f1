"""The commands `pillarbox account …`."""

from typing import Annotated

import typer

from admin.session import connected
from admin.views import account_view
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.account import Plan
from pillarbox.domain.brand import Brand
from pillarbox.domain.quota import Limits

app = typer.Typer(no_args_is_help=True, help="Accounts, their plans and limits.")

AccountId = Annotated[str, typer.Argument(metavar="ID", help="The account's id.")]
PerMinute = Annotated[
    int | None, typer.Option(help="Emails per minute, instead of the plan's limit.")
]
PerDay = Annotated[
    int | None, typer.Option(help="Emails per day (UTC), instead of the plan's limit.")
]
PerMonth = Annotated[
    int | None, typer.Option(help="Emails per month (UTC), instead of the plan's limit.")
]
_HOLD = (
    "Mark an email as failed when SES did not answer and may have sent it. Without this, it is"
    " sent again."
)


@app.command("create")
def create(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Option(help="A display name, 1 to 128 characters.")],
    plan: Annotated[Plan, typer.Option(help="The account's plan.")],
    per_minute: PerMinute = None,
    per_day: PerDay = None,
    per_month: PerMonth = None,
    hold_uncertain: Annotated[bool, typer.Option(help=_HOLD)] = False,
) -> None:
    """Create an account. It can send after you add a sender and create a key.

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
def update(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    account_id: AccountId,
    *,
    name: Annotated[str | None, typer.Option(help="A display name, 1 to 128 characters.")] = None,
    plan: Annotated[
        Plan | None, typer.Option(help="The account's plan; its keys keep their scopes.")
    ] = None,
    per_minute: PerMinute = None,
    per_day: PerDay = None,
    per_month: PerMonth = None,
    plan_limits: Annotated[
        bool,
        typer.Option("--plan-limits", help="Use the plan's limits, except those you set here."),
    ] = False,
    hold_uncertain: Annotated[bool | None, typer.Option(help=_HOLD)] = None,
) -> None:
    """Change an account. The changes apply from its next request on.

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


@app.command("brand")
def brand(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    account_id: AccountId,
    *,
    name: Annotated[
        str | None, typer.Option(help="The name at the top of starters, 1 to 128 characters.")
    ] = None,
    logo: Annotated[
        str | None,
        typer.Option(metavar="URL", help="An https: picture, shown 36 pixels high."),
    ] = None,
    accent: Annotated[
        str | None,
        typer.Option(metavar="COLOUR", help="The colour of bar, buttons and links: #rrggbb."),
    ] = None,
    from_name: Annotated[
        str | None, typer.Option(help="The sender's display name, 1 to 1024 characters.")
    ] = None,
) -> None:
    """Set the brand of an account's emails. An empty text removes a part of it.

    Requests with brandName, logoUrl or fromName keep theirs. The accent needs a contrast of 3 to 1
    on white and on the dark background of starters.

    Example: `pillarbox account brand qh4ybvcvbqzk --name Acme --logo https://acme.example/logo.png
    --accent #0a7d5a --from-name "Acme Billing"`
    """
    session = connected(ctx)
    given = Brand(name=name, logo_url=logo, accent=accent, from_name=from_name)
    changes = AccountChanges(brand=given)
    session.show(account_view(session.wiring.accounts.update(account_id, changes)))


@app.command("shard")
def shard(
    ctx: typer.Context,
    account_id: AccountId,
    shards: Annotated[int, typer.Argument(help="The number of shards: 2, 4, 8, … up to 256.")],
) -> None:
    """Spread an account's new emails over more partitions of the table.

    One shard takes 125 emails a second. The first time, the command takes effect at the next full
    hour that is at least ten minutes ahead (`shardedFrom`), later at once. The number cannot be
    lowered again.

    Example: `pillarbox account shard qh4ybvcvbqzk 8`
    """
    session = connected(ctx)
    session.show(account_view(session.wiring.accounts.raise_shards(account_id, shards)))


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

"""The commands `pillarbox account …`."""

from typing import Annotated

import typer

from admin.api_commands import ApiCommand
from admin.connection import StackConnection, connected
from admin.progress import progress
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.accounts.account import Account, Isolation, Plan, QueuedMail
from pillarbox.domain.accounts.account_log import COMMAND
from pillarbox.domain.accounts.quota import Limits
from pillarbox.http.operator.replies import operated_account

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
RecipientsPerDay = Annotated[
    int | None,
    typer.Option(help="Recipients per day (UTC), instead of five for each email of the day."),
]
Contact = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Where the service writes if a webhook endpoint fails. An empty text removes it.",
    ),
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
    recipients_per_day: RecipientsPerDay = None,
    hold_uncertain: Annotated[bool, typer.Option(help=_HOLD)] = False,
    contact: Contact = None,
) -> None:
    """Create an account. It can send after you add a sender and create a key.

    Example: `pillarbox account create --name Shop --plan standard --per-month 50000`
    """
    connection = connected(ctx)
    account = connection.wiring.accounts.create(
        name,
        plan,
        limits=Limits(
            per_minute=per_minute,
            per_day=per_day,
            per_month=per_month,
            recipients_per_day=recipients_per_day,
        ),
        hold_uncertain=hold_uncertain,
        contact=contact,
    )
    _show(connection, account)


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
    recipients_per_day: RecipientsPerDay = None,
    plan_limits: Annotated[
        bool,
        typer.Option("--plan-limits", help="Use the plan's limits, except those you set here."),
    ] = False,
    hold_uncertain: Annotated[bool | None, typer.Option(help=_HOLD)] = None,
    contact: Contact = None,
    operates: Annotated[
        bool | None,
        typer.Option(
            "--operates/--no-operates",
            help="Whether it is your own account, whose keys may have the scopes accounts:read and"
            " accounts:write: over all accounts.",
        ),
    ] = None,
) -> None:
    """Change an account. The changes apply from its next request on.

    Example: `pillarbox account update qh4ybvcvbqzk --plan enterprise --per-day 200000`
    """
    connection = connected(ctx)
    changes = AccountChanges(
        name=name,
        plan=plan,
        limits=Limits(
            per_minute=per_minute,
            per_day=per_day,
            per_month=per_month,
            recipients_per_day=recipients_per_day,
        ),
        plan_limits=plan_limits,
        hold_uncertain=hold_uncertain,
        contact=contact,
        operates=operates,
    )
    _show(connection, connection.wiring.accounts.update(account_id, changes, by=COMMAND))


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
    connection = connected(ctx)
    _show(connection, connection.wiring.accounts.raise_shards(account_id, shards))


@app.command("suspend")
def suspend(
    ctx: typer.Context,
    account_id: AccountId,
    *,
    reason: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="A note for operators; clients do not see it."),
    ] = None,
    hold_queued: Annotated[
        bool, typer.Option("--hold-queued", help="Emails in the queue wait for up to 4 hours.")
    ] = False,
    drop_queued: Annotated[
        bool, typer.Option("--drop-queued", help="Emails in the queue fail.")
    ] = False,
) -> None:
    """Stop an account: every request and login with its keys is refused from now on.

    Clients get 403 account_suspended, and 525 over SMTP. Emails that were accepted before still
    go out, because their senders were told so, unless you hold or drop them. Either takes effect
    within seconds. `account resume` undoes it.

    Example: `pillarbox account suspend qh4ybvcvbqzk --hold-queued --reason "bounces, 20 Nov"`
    """
    if hold_queued and drop_queued:
        raise typer.BadParameter("cannot be used with --hold-queued", param_hint="'--drop-queued'")
    connection = connected(ctx)
    queued = QueuedMail.SEND
    if hold_queued or drop_queued:
        queued = QueuedMail.HOLD if hold_queued else QueuedMail.DROP
    _show(connection, connection.wiring.accounts.suspend(account_id, reason, queued=queued))


@app.command("resume")
def resume(ctx: typer.Context, account_id: AccountId) -> None:
    """End the suspension of an account, and what the breaker paused. Revoked keys stay revoked.

    A pause of SES ends only when SES ends it.

    Example: `pillarbox account resume qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    connection.wiring.accounts.resume(account_id)
    _show(connection, connection.wiring.resuming.by_operator(account_id, COMMAND))


@app.command("isolation")
def isolation(
    ctx: typer.Context,
    isolation: Annotated[
        Isolation,
        typer.Argument(help="When SES pauses it: at grave findings (standard) or any."),
    ],
    account_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="The account's id.")
    ] = None,
    *,
    all_accounts: Annotated[bool, typer.Option("--all", help="Change every account.")] = False,
) -> None:
    """Give an account a reputation of its own at SES, as a tenant, or take it away with `none`.

    SES then pauses this account alone, by what it finds about it, and keeps a suppression
    list for it. Accounts of the preview widget share one strict tenant. If the
    command is interrupted, run it again: it goes on.

    Example: `pillarbox account isolation strict --all`
    """
    connection = connected(ctx)
    if (account_id is None) is not all_accounts:
        raise typer.BadParameter("needs either ID or --all", param_hint="'isolation'")
    use_case = connection.wiring.account_isolation
    if account_id is not None:
        _show(connection, use_case.change(account_id, isolation))
        return
    with progress("Changing", "accounts") as report:
        moved = use_case.change_all(isolation, report)
    failed = [{"id": one, "error": text} for one, text in moved.failed.items()]
    connection.show({"isolation": isolation, "accounts": moved.done, "failed": failed})
    if failed:
        raise typer.Exit(1)


def _show(connection: StackConnection, account: Account) -> None:
    """Show an account as the HTTP API does."""
    wiring = connection.wiring
    quota, log = wiring.account_usage.of(account), wiring.accounts.log(account.account_id)
    connection.show(operated_account(account, quota, log))


ApiCommand(
    operation_id="list_accounts",
    columns=("id", "name", "plan", "createdAt", "suspendedAt"),
    whole=True,
).add_to(app, "account", "list")
ApiCommand(operation_id="get_operated_account").add_to(app, "account", "show")
ApiCommand(
    operation_id="get_operated_account",
    items="limits",
    columns=("name", "used", "limit", "remaining", "resetsAt"),
).add_to(app, "account", "usage")
ApiCommand(
    operation_id="change_account",
    account_is_argument=True,
    options={
        "name": None,
        "keepDays": None,
        "recordDays": None,
        "brandName": "--name",
        "logoUrl": "--logo",
    },
).add_to(app, "account", "brand")
ApiCommand(
    operation_id="delete_operated_account",
    whole=True,
    question="Delete the account {account_id} with everything that it has?",
).add_to(app, "account", "delete")

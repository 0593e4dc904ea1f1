"""The commands `pillarbox account …`."""

from collections.abc import Iterator
from typing import Annotated, Final

import typer

from admin.connection import StackConnection, connected
from admin.progress import progress
from admin.tables import Record, print_lines
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.accounts.account import Account, Brand, Isolation, Plan, QueuedMail
from pillarbox.domain.accounts.account_log import COMMAND
from pillarbox.domain.accounts.quota import Limits
from pillarbox.http.accounts.replies import pause_item
from pillarbox.http.messages.replies import timestamp
from pillarbox.http.messages.views import LimitState
from pillarbox.http.operator.replies import AccountPage, operated_account
from pillarbox.wiring import utc_now

#: Accounts that are read at a time.
_PAGE: Final = 100

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
    support_email: Annotated[
        str | None, typer.Option(help="Where recipients get help: an address or a link.")
    ] = None,
    company_address: Annotated[
        str | None, typer.Option(help="The postal address at the end of starters.")
    ] = None,
    action_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The link of the button of the starter welcome."),
    ] = None,
) -> None:
    """Set the brand of an account's emails. An empty text removes a part of it.

    Requests with brandName, logoUrl or fromName keep theirs. The accent needs a contrast of 3 to 1
    on white and on the dark background of starters.

    Example: `pillarbox account brand qh4ybvcvbqzk --name Acme --logo https://acme.example/logo.png
    --accent "#0a7d5a" --from-name "Acme Billing"`
    """
    connection = connected(ctx)
    given = Brand(
        name=name,
        logo_url=logo,
        accent=accent,
        from_name=from_name,
        support_email=support_email,
        company_address=company_address,
        action_url=action_url,
    )
    changes = AccountChanges(brand=given)
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


@app.command("usage")
def usage(ctx: typer.Context, account_id: AccountId) -> None:
    """Show what an account has used of its quotas, and what is left.

    The windows are those of UTC. A busy account takes some emails of its quota in advance; they
    count as used. Preview keys have smaller limits of their own, but count in the same windows.

    Example: `pillarbox account usage qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    quota = connection.wiring.account_usage.of(connection.wiring.accounts.get(account_id))
    connection.show_list(
        [LimitState.of(window) for window in quota.windows],
        ("name", "used", "limit", "remaining", "resetsAt"),
        {"accountId": account_id},
    )


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


@app.command("delete")
def delete(
    ctx: typer.Context,
    account_id: AccountId,
    *,
    drop_pending: Annotated[
        bool, typer.Option("--drop-pending", help="Never send accepted emails that still wait.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
) -> None:
    """Delete an account and all its messages, statistics, templates, suppressions and keys.

    The account must be suspended for two minutes. Nothing of it can be restored, except from
    the backup of the table. If the command is interrupted, run it again: it goes on.

    These stay: senders and domains at SES, logs, backups, and for up to two days idempotency keys
    and large emails.

    Example: `pillarbox account delete qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    if connection.json and not yes:
        raise typer.BadParameter("needs --yes with --json", param_hint="'delete'")
    deletion = connection.wiring.account_deletion
    plan = deletion.plan(account_id, drop_pending=drop_pending)
    if not yes:
        _show(connection, plan.account, {"messages": plan.messages})
        typer.confirm("Delete this account with everything that it has?", abort=True, err=True)
    with progress("Deleting", "items") as report:
        deleted = deletion.delete(plan, report).items
    connection.show({"accountId": account_id, "deleted": True, **deleted})


@app.command("show")
def show(ctx: typer.Context, account_id: AccountId) -> None:
    """Show an account with its limits and senders.

    Example: `pillarbox account show qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    _show(connection, connection.wiring.accounts.get(account_id))


@app.command("list")
def list_all(ctx: typer.Context) -> None:
    """List all accounts.

    Example: `pillarbox account list`
    """
    connection = connected(ctx)
    with progress("Reading accounts"):
        items = [*_all(connection)]
    columns = ("id", "name", "plan", "createdAt", "suspendedAt")
    connection.show_list(items, columns, draw=print_lines)


def _all(connection: StackConnection) -> Iterator[Record]:
    cursor: str | None = ""
    while cursor is not None:
        page = AccountPage.of(connection.wiring.account_list.page(None, cursor or None, _PAGE))
        yield from page["items"]
        cursor = page["nextCursor"]


def _show(connection: StackConnection, account: Account, more: Record | None = None) -> None:
    """Show an account as the HTTP API does, with what only operators of a stack set."""
    wiring, now = connection.wiring, utc_now()
    quota, log = wiring.account_usage.of(account), wiring.accounts.log(account.account_id)
    view: Record = {
        **operated_account(account, quota, log),
        "senders": [*sorted(account.senders)],
        "holdUncertain": account.hold_uncertain,
        "isolation": account.isolation.value,
        "tenant": account.tenant,
        "queuedMail": account.suspension.queued.value if account.suspension else None,
        "pauses": [pause_item(pause, now) for pause in account.pauses if pause.is_current(now)],
        "shardedFrom": timestamp(account.sharded_from) if account.sharded_from else None,
        **(more or {}),
    }
    # People get the limits alone; `account usage` shows the rest.
    limits = {usage.window: usage.limit for usage in quota.windows}
    connection.show(view if connection.json else {**view, "limits": limits})

"""The commands `pillarbox webhook …`."""

from typing import Annotated, cast
from uuid import UUID

import typer

from admin.confirm import confirm, require_yes
from admin.connection import Account, StackConnection, connected
from admin.progress import progress
from admin.tables import Record
from admin.times import HELP, parse_time
from pillarbox.application.webhooks.ports import EndpointChanges
from pillarbox.domain.accounts.account_log import COMMAND
from pillarbox.domain.webhooks.endpoint import ALL_TYPES, SELECTABLE_TYPES, ReplayRequest
from pillarbox.http.webhooks.replies import (
    DeliveryPage,
    QueuedEvent,
    ReplayedEvents,
    WebhookItem,
    WebhookWithSecret,
)
from pillarbox.wiring import utc_now

app = typer.Typer(no_args_is_help=True, help="Webhook endpoints, and the deliveries to them.")

WebhookId = Annotated[UUID, typer.Argument(metavar="ID", help="The endpoint's id.")]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help=f"Repeat it for more types: {', '.join(sorted(SELECTABLE_TYPES))}. {ALL_TYPES} stands"
        " for all except email.accepted.",
    ),
]
_SAVE = "Save the secret now: it cannot be shown a second time."


@app.command("create")
def create(
    ctx: typer.Context,
    url: Annotated[
        str, typer.Argument(metavar="URL", help="Where events go: https, on a public host.")
    ],
    *,
    account: Account,
    types: Types = None,
) -> None:
    """Create an endpoint and show its secret. Without --type it receives all but email.accepted.

    An account can have ten.

    Example: `pillarbox webhook create --account qh4ybvcvbqzk https://shop.example/hooks
    --type email.bounced --type email.complained`
    """
    connection = _checked(ctx, account)
    state = connection.wiring.webhooks.create(account, url, types or [ALL_TYPES], by=COMMAND)
    connection.show(WebhookWithSecret.of(state), hint=_SAVE)


@app.command("list")
def list_all(ctx: typer.Context, *, account: Account) -> None:
    """List an account's endpoints, oldest first.

    Example: `pillarbox webhook list --account qh4ybvcvbqzk`
    """
    connection = _checked(ctx, account)
    connection.show_list(
        [WebhookItem.of(state) for state in connection.wiring.webhook_queries.of_account(account)],
        ("id", "url", "types", "enabled", "failingSince", "disabledReason"),
    )


@app.command("show")
def show(ctx: typer.Context, webhook_id: WebhookId, *, account: Account) -> None:
    """Show an endpoint, and whether its deliveries fail. The secret is not shown.

    Example: `pillarbox webhook show 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d --account qh4ybvcvbqzk`
    """
    connection = _checked(ctx, account)
    connection.show(WebhookItem.of(connection.wiring.webhook_queries.get(account, webhook_id)))


@app.command("change")
def change(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    webhook_id: WebhookId,
    *,
    account: Account,
    url: Annotated[str | None, typer.Option(help="The new address.")] = None,
    types: Types = None,
    enabled: Annotated[
        bool | None,
        typer.Option(
            "--enable/--disable",
            help="Whether events are sent. --enable also works if the service disabled it.",
        ),
    ] = None,
) -> None:
    """Change an endpoint. What is not named stays as it is.

    After --enable the deliveries that wait are sent, if they are at most 7 days old.

    Example: `pillarbox webhook change 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d
    --account qh4ybvcvbqzk --enable`
    """
    connection = _checked(ctx, account)
    changes = EndpointChanges(
        url=url, types=None if types is None else frozenset(types), enabled=enabled
    )
    state = connection.wiring.webhooks.change(account, webhook_id, changes, by=COMMAND)
    connection.show(WebhookItem.of(state))


@app.command("remove")
def remove(
    ctx: typer.Context,
    webhook_id: WebhookId,
    *,
    account: Account,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False,
) -> None:
    """Remove an endpoint for good, with its secret. Deliveries that wait are not sent.

    Example: `pillarbox webhook remove 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d --account qh4ybvcvbqzk`
    """
    require_yes(ctx.obj, yes=yes)
    connection = _checked(ctx, account)
    state = connection.wiring.webhook_queries.get(account, webhook_id)
    confirm(connection, f"Remove the endpoint {state.endpoint.url}?", yes=yes)
    connection.wiring.webhooks.delete(account, webhook_id, by=COMMAND)
    connection.show({"id": str(webhook_id), "removed": True})


@app.command("rotate")
def rotate(ctx: typer.Context, webhook_id: WebhookId, *, account: Account) -> None:
    """Give an endpoint a new secret. For 24 hours events have a signature of each.

    Example: `pillarbox webhook rotate 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d --account qh4ybvcvbqzk`
    """
    connection = _checked(ctx, account)
    state = connection.wiring.webhooks.rotate(account, webhook_id, by=COMMAND)
    connection.show(WebhookWithSecret.of(state), hint=_SAVE)


@app.command("test")
def send_test(ctx: typer.Context, webhook_id: WebhookId, *, account: Account) -> None:
    """Send an event webhook.test to an endpoint. `pillarbox webhook deliveries` shows the result.

    Example: `pillarbox webhook test 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d --account qh4ybvcvbqzk`
    """
    connection = _checked(ctx, account)
    connection.show(QueuedEvent.of(connection.wiring.webhook_replays.test(account, webhook_id)))


@app.command("deliveries")
def deliveries(
    ctx: typer.Context,
    webhook_id: WebhookId,
    *,
    account: Account,
    limit: Annotated[int, typer.Option(min=1, max=100, help="The most deliveries to show.")] = 20,
    cursor: Annotated[
        str | None, typer.Option(metavar="CURSOR", help="Where the last page ended.")
    ] = None,
) -> None:
    """List what was sent to an endpoint in the last 30 days, the newest events first.

    Example: `pillarbox webhook deliveries 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d
    --account qh4ybvcvbqzk`
    """
    connection = _checked(ctx, account)
    page = connection.wiring.webhook_queries.newest_deliveries(account, webhook_id, limit, cursor)
    listed = DeliveryPage.of(page)
    items = listed["items"]
    connection.show_list(
        items if connection.json else [*map(_last_attempt, items)],
        ("id", "at", "type", "status", "attempts", "lastStatusCode", "lastError", "nextAttemptAt"),
        {"nextCursor": listed["nextCursor"]},
    )
    if page.next:
        connection.note(f"There are more: go on with --cursor {page.next}")


@app.command("replay")
def replay(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    webhook_id: WebhookId,
    *,
    account: Account,
    delivery: Annotated[
        str | None, typer.Option(metavar="ID", help="Send the event of this delivery again.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help=f"The start of a range: {HELP}")
    ] = None,
    until: Annotated[
        str, typer.Option(metavar="TIME", help="The end of the range; by default now.")
    ] = "0m",
    types: Types = None,
) -> None:
    """Send events again: that of one delivery, or those of the emails of a time range.

    An event has the same id each time, so a receiver can tell that it has it. A replay by time
    reads at most 10,000 emails. If some are left, it says how to go on after a minute.

    Example: `pillarbox webhook replay 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d
    --account qh4ybvcvbqzk --since 6h --type email.bounced`
    """
    if (delivery is None) == (since is None):
        raise typer.BadParameter("use exactly one of them", param_hint="'--delivery' / '--since'")
    connection = _checked(ctx, account)
    replays = connection.wiring.webhook_replays
    if delivery is not None:
        connection.show(QueuedEvent.of(replays.replay(account, webhook_id, delivery)))
        return
    now = utc_now()
    request = ReplayRequest(
        since=parse_time("since", since or "", now),
        until=parse_time("until", until, now),
        types=None if types is None else frozenset(types),
    )
    with progress("Reading messages"):
        result = replays.replay_all(account, webhook_id, request)
    replayed = ReplayedEvents.of(result)
    connection.show(replayed)
    if rest := replayed["nextTo"]:
        connection.note(f"Emails before {rest} are left. After a minute go on with --until {rest}")


def _last_attempt(delivery: Record) -> Record:
    """Return a delivery for people: the number of attempts, and the result of the last one."""
    attempts = cast("list[Record]", delivery["attempts"])
    last = attempts[-1] if attempts else {}
    return {
        **delivery,
        "attempts": len(attempts),
        "lastStatusCode": last.get("statusCode"),
        "lastError": last.get("error"),
    }


def _checked(ctx: typer.Context, account: str) -> StackConnection:
    """Return the connection, connected, of a command about an account that exists."""
    connection = connected(ctx)
    connection.wiring.accounts.get(account)
    return connection

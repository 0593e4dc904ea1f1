"""The commands `pillarbox message …`."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Final
from uuid import UUID

import typer

from admin.confirm import confirm, require_yes
from admin.connection import StackConnection, connected
from admin.progress import progress
from admin.tables import Record, print_lines
from admin.times import HELP, parse_time
from admin.use_cases.messages import Search
from pillarbox.application.accounts.keys import account_of_key_id
from pillarbox.application.history.queries import search_recipient
from pillarbox.application.sending.changes import MessageChanges
from pillarbox.domain.address import AddressSyntaxError
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.statistics import RecipientTerm
from pillarbox.http.messages.replies import timestamp
from pillarbox.http.messages.views import MessageItem, message_detail
from pillarbox.wiring import utc_now

#: Before every message.
_EVER: Final = datetime(1970, 1, 1, tzinfo=UTC)

app = typer.Typer(no_args_is_help=True, help="Accepted emails and what happened to them.")


_Id = Annotated[str, typer.Argument(metavar="ID", help="The message's id.")]
_Account = Annotated[
    str | None,
    typer.Option(metavar="ID", help="The account's id; without it, all accounts are asked."),
]
_Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]


@app.command("show")
def show(ctx: typer.Context, message_id: _Id, *, account: _Account = None) -> None:
    """Show a message with its recipients and events. The body is not stored.

    Without --account the command asks for the message in every account, a hundred at a time.

    Example: `pillarbox message show 0193b1f0-5a3c-7d11-9c58-8a0e6f4b2d17`
    """
    connection = connected(ctx)
    with progress("Asking", "accounts") as report:
        message = connection.wiring.message_search.get(message_id, account, report)
    detail = message_detail(message, connection.wiring.region)
    view: dict[str, object] = {
        **detail,
        "accountId": message.account_id,
        "attempts": message.attempt,
        "leasedUntil": timestamp(message.lease.expires_at) if message.lease else None,
    }
    if connection.json:
        connection.show(view)
        return
    del view["events"]
    connection.show(view)
    connection.show_list(detail["events"], ("at", "type", "recipient", "code", "reason"))


@app.command("cancel")
def cancel(
    ctx: typer.Context, message_id: _Id, *, account: _Account = None, yes: _Yes = False
) -> None:
    """Cancel a scheduled or held email, so that it is never sent.

    Example: `pillarbox message cancel 0193b1f0-5a3c-7d11-9c58-8a0e6f4b2d17`
    """
    _change(connected(ctx), message_id, account, "Cancel", MessageChanges.cancel, yes=yes)


@app.command("release")
def release(
    ctx: typer.Context, message_id: _Id, *, account: _Account = None, yes: _Yes = False
) -> None:
    """Send a held email, in a quarter of an hour. What waits for an owner is refused.

    Example: `pillarbox message release 0193b1f0-5a3c-7d11-9c58-8a0e6f4b2d17`
    """
    change = MessageChanges.release_by_operator
    _change(connected(ctx), message_id, account, "Send", change, yes=yes)


@app.command("reschedule")
def reschedule(
    ctx: typer.Context,
    message_id: _Id,
    at: Annotated[
        str, typer.Option(metavar="TIME", help="2026-11-20T09:00, UTC unless it has an offset.")
    ],
    *,
    account: _Account = None,
    yes: _Yes = False,
) -> None:
    """Give a scheduled email another time, at least a quarter of an hour ahead.

    Example: `pillarbox message reschedule 0193b1f0-5a3c-7d11-9c58-8a0e6f4b2d17 --at 2026-12-01`
    """
    due_at = parse_time("at", at, utc_now())

    def change(changes: MessageChanges, account_id: str, message_id: UUID) -> Message:
        return changes.reschedule(account_id, message_id, due_at)

    _change(connected(ctx), message_id, account, f"Send at {timestamp(due_at)}", change, yes=yes)


def _change(  # noqa: PLR0913  what the three commands are given
    connection: StackConnection,
    message_id: str,
    account: str | None,
    verb: str,
    change: Callable[[MessageChanges, str, UUID], Message],
    *,
    yes: bool,
) -> None:
    require_yes(connection, yes=yes)
    with progress("Asking", "accounts") as report:
        message = connection.wiring.message_search.get(message_id, account, report)
    confirm(connection, f"{verb}: “{message.subject}” to {', '.join(message.to)}?", yes=yes)
    changed = change(connection.wiring.changes, message.account_id, message.message_id)
    detail = message_detail(changed, connection.wiring.region)
    connection.show({**detail, "accountId": message.account_id})


_To = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="An address in To, Cc or Bcc; with a final *, how it begins."
    ),
]
_Since = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help=f"The start of the range: {HELP} By default 24h; with --to all time.",
    ),
]
_Until = Annotated[str, typer.Option(metavar="TIME", help="The end of the range; by default now.")]


@app.command("find")
def find(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    *,
    account: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The account's id; without it, all accounts are searched."),
    ] = None,
    to: _To = None,
    subject: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A part of the subject.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY_ID", help="The id of the API key that sent them."),
    ] = None,
    since: _Since = None,
    until: _Until = "0m",
    limit: Annotated[int, typer.Option(min=1, help="The most messages to find.")] = 20,
    max_read: Annotated[int, typer.Option(min=1, help="The most messages to read.")] = 100_000,
) -> None:
    """Find messages by recipient, subject or API key, newest first.

    An address is found in the index. By a subject or a key alone the command reads every message
    of the time range. It says what it has read. If it stops before the start of the range, it says
    how to go on. Upper and lower case are the same.

    Example: `pillarbox message find --to ann@example.com --since 30d`
    """
    of_key = account if key is None else _account_of_key(key)
    if account not in {None, of_key}:
        raise ValidationFailed(FieldError("key", "belongs to another account", "invalid"))
    connection = connected(ctx)
    now = utc_now()
    search = Search(
        since=_EVER if since is None and to else parse_time("since", since or "24h", now),
        until=parse_time("until", until, now),
        to=None if to is None else _recipient(to),
        subject=subject,
        key_id=key,
        limit=limit,
        max_read=max_read,
    )
    with progress("Reading", "messages") as report:
        result = connection.wiring.message_search.find(of_key, search, report)
    start, end = timestamp(result.since), timestamp(result.until)
    rest = timestamp(result.rest) if result.rest else None
    searched: Record = {
        "read": result.read,
        "windowStart": start,
        "windowEnd": end,
        "complete": result.rest is None,
        "nextTo": rest,
    }
    connection.show_list(
        [message_row(message) for message in result.found],
        ("messageId", "createdAt", "status", "recipients", "subject"),
        searched,
        draw=print_lines,
    )
    connection.note(
        f"Read {result.read:,} messages from {end} back to {start}."
        if result.rest is None
        else f"Read {result.read:,} messages from {end} back to {rest}, and stopped there."
        f" Go on with --until {rest}"
    )


def message_row(message: Message) -> Record:
    """Return a message in a list, with its account and every recipient."""
    return {
        **MessageItem.of(message),
        "accountId": message.account_id,
        "recipients": [*message.recipients],
    }


def _account_of_key(key_id: str) -> str:
    account_id = account_of_key_id(key_id)
    if account_id is None:
        message = "is not the id of a key; for the text of a key use: pillarbox key find"
        raise ValidationFailed(FieldError("key", message, "invalid"))
    return account_id


def _recipient(text: str) -> RecipientTerm:
    try:
        return search_recipient(text)
    except AddressSyntaxError as error:
        raise ValidationFailed(FieldError("to", str(error), "invalid_address")) from error

"""The commands `pillarbox message …`."""

from typing import Annotated

import typer

from admin.operations.messages import Search
from admin.progress import progress
from admin.session import connected
from admin.times import HELP, parse_time
from admin.views import View, event_view, message_row, message_view, time_text
from pillarbox.wiring import utc_now

app = typer.Typer(no_args_is_help=True, help="Accepted emails and what happened to them.")


@app.command("show")
def show(
    ctx: typer.Context,
    message_id: Annotated[str, typer.Argument(metavar="ID", help="The message's id.")],
    *,
    account: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The account's id; without it, all accounts are asked."),
    ] = None,
) -> None:
    """Show a message with its recipients and events. The body is not stored.

    Without --account the command asks for the message in every account, a hundred at a time.

    Example: `pillarbox message show 0193b1f0-5a3c-7d11-9c58-8a0e6f4b2d17`
    """
    session = connected(ctx)
    with progress("Asking", "accounts") as report:
        message = session.wiring.message_search.get(message_id, account, report)
    view, events = message_view(message), [*map(event_view, message.events)]
    if session.json:
        session.show(view | {"events": [*events]})
        return
    session.show(view)
    if events:
        session.show_list(events, ("at", "event", "recipient", "code", "reason"))


@app.command("find")
def find(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    *,
    account: Annotated[str, typer.Option(metavar="ID", help="The account's id.")],
    to: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A whole address in To, Cc or Bcc.")
    ] = None,
    subject: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A part of the subject.")
    ] = None,
    since: Annotated[
        str, typer.Option(metavar="TIME", help=f"The start of the range: {HELP}")
    ] = "24h",
    until: Annotated[
        str, typer.Option(metavar="TIME", help="The end of the range; by default now.")
    ] = "0m",
    limit: Annotated[int, typer.Option(min=1, help="The most messages to find.")] = 20,
    max_read: Annotated[int, typer.Option(min=1, help="The most messages to read.")] = 100_000,
) -> None:
    """Find messages of an account by recipient or subject, newest first.

    The command reads every message of the time range, because no index has recipients or
    subjects. It says what it has read. If it stops before the start of the range, it says how to
    go on. Upper and lower case are the same.

    Example: `pillarbox message find --account qh4ybvcvbqzk --to ann@example.com --since 6h`
    """
    session = connected(ctx)
    now = utc_now()
    search = Search(
        since=parse_time("since", since, now),
        until=parse_time("until", until, now),
        to=to,
        subject=subject,
        limit=limit,
        max_read=max_read,
    )
    with progress("Reading", "messages") as report:
        result = session.wiring.message_search.find(account, search, report)
    searched: View = {
        "read": result.read,
        "since": time_text(result.since),
        "until": time_text(result.until),
        "complete": result.rest is None,
        "next": time_text(result.rest) if result.rest else None,
    }
    session.show_list(
        [message_row(message) for message in result.found],
        ("messageId", "createdAt", "status", "to", "subject"),
        searched,
    )
    session.note(
        f"Read {result.read:,} messages from {searched['until']} back to {searched['since']}."
        if result.rest is None
        else f"Read {result.read:,} messages from {searched['until']} back to {searched['next']},"
        f" and stopped there. Go on with --until {searched['next']}"
    )

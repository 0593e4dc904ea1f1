"""The commands `pillarbox queue …`."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Final

import typer

from admin.confirm import confirm, require_yes
from admin.connection import StackConnection, connected
from admin.progress import progress
from admin.tables import Record
from admin.use_cases.dead_letters import ExaminedLetter
from pillarbox.http.messages.replies import timestamp
from pillarbox.http.operator.replies import MovedLetters, queue_list
from pillarbox.wiring import utc_now

_MINUTE: Final = timedelta(minutes=1)
_SHOWN: Final = (
    *("id", "accountId", "messageId", "endpointId", "task", "template", "bytes"),
    *("receives", "ageMinutes", "status", "reason"),
)

app = typer.Typer(no_args_is_help=True, help="The queues and their dead letters.")


@app.command("status")
def status(ctx: typer.Context) -> None:
    """Count the messages in the queues and in their dead-letter queues.

    A job in flight is being delivered or waits for its next try. Urgent jobs are those of
    emails that expire within an hour. A dead message failed too often or could not be read;
    dead urgent jobs are among those of `jobs`.

    Example: `pillarbox queue status`
    """
    connection = connected(ctx)
    queues = connection.wiring.queue_operations
    listed = queue_list(queues.status(), queues.oldest_message_ages(), queues.redrives())
    connection.show_list(
        listed["items"],
        ("name", "waiting", "inFlight", "delayed", "oldestSeconds", "dead"),
        {"redrives": listed["redrives"]},
    )


@app.command("show")
def show(
    ctx: typer.Context,
    queue: Annotated[
        str, typer.Argument(metavar="QUEUE", help="jobs, events, webhooks, sweep or received.")
    ],
    *,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="The most messages to show.")] = 20,
) -> None:
    """Show what was set aside, the oldest first, without content and addresses.

    The status and the reason are those of the email, as in `message show`; the template is that
    which it was made of. The messages stay where they are. SQS counts each look as a receipt.

    Example: `pillarbox queue show jobs`
    """
    connection = connected(ctx)
    with progress("Looking"):
        letters = connection.wiring.dead_letter_inspection.look(queue, limit)
    _show(connection, letters)


@app.command("drop")
def drop(
    ctx: typer.Context,
    queue: Annotated[
        str, typer.Argument(metavar="QUEUE", help="jobs, events, webhooks, sweep or received.")
    ],
    letter_id: Annotated[str, typer.Argument(metavar="ID", help="Its id, as `queue show` has it.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Drop it without asking.")] = False,
) -> None:
    """Remove a dead letter for good, if a redrive cannot help.

    The command shows it as `queue show` does, says what dropping it means, and asks. An accepted
    email that still waits ends as failed, with the code dropped. If SES may have taken it, the
    command refuses: redrive the job. A dropped event still proves that SES took its email. The log
    of redrives notes which dead letter was dropped, and when.

    Example: `pillarbox queue drop events 5fea7756-0ea4-451a-a703-a558b933e274`
    """
    connection = connected(ctx)
    require_yes(connection, yes=yes)
    dropping = connection.wiring.dead_letter_drop
    with progress("Looking"):
        letter = dropping.inspection.find(queue, letter_id)
    consequence = dropping.consequence(queue, letter)
    if not connection.json:
        _show(connection, [letter])
    confirm(connection, f"{consequence} Drop it?", yes=yes)
    dropping.drop(queue, letter)
    dropped = {"queue": queue, "dropped": letter_id, "consequence": consequence}
    connection.show({**_view(letter, utc_now()), **dropped} if connection.json else dropped)


@app.command("redrive")
def redrive(
    ctx: typer.Context,
    queue: Annotated[
        str, typer.Argument(metavar="QUEUE", help="jobs, events, webhooks, sweep or received.")
    ],
    *,
    limit: Annotated[int, typer.Option(min=1, help="The most messages to move.")] = 10_000,
) -> None:
    """Move dead messages back into their queue. Fix the cause of the failures first.

    This is safe at any time: emails that are finished or too old are not sent, and events
    that were already processed change nothing. Webhook events that were delivered are not
    posted again. A sweep task can run at any time, and each mail is
    received once. The command moves at most what was there when
    it began; a message that fails again stays for the next run.

    Example: `pillarbox queue redrive jobs`
    """
    connection = connected(ctx)
    with progress("Moving messages"):
        moved = connection.wiring.queue_operations.redrive(queue, limit)
    connection.show(MovedLetters.of(queue=queue, moved=moved))


def _show(connection: StackConnection, letters: Sequence[ExaminedLetter]) -> None:
    """Show dead letters; people get the columns in which something is known."""
    now = utc_now()
    views = [_view(letter, now) for letter in letters]
    known = {name for view in views for name, value in view.items() if value is not None}
    connection.show_list(views, [name for name in _SHOWN if name in known])


def _view(examined: ExaminedLetter, now: datetime) -> Record:
    letter, message = examined.letter, examined.message
    return {
        "id": letter.queue_message_id,
        "accountId": letter.account_id,
        "messageId": str(letter.message_id) if letter.message_id else None,
        "endpointId": letter.endpoint_id,
        "task": letter.task,
        "template": examined.template,
        "bytes": letter.size,
        "receives": letter.receive_count,
        "sentAt": timestamp(letter.sent_at),
        "ageMinutes": max((now - letter.sent_at) // _MINUTE, 0),
        "status": message.status if message else None,
        "reason": examined.reason,
    }

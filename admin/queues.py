"""The commands `pillarbox queue …`."""

from typing import Annotated

import typer

from admin.progress import progress
from admin.session import connected

app = typer.Typer(no_args_is_help=True, help="The queues and their dead letters.")


@app.command("status")
def status(ctx: typer.Context) -> None:
    """Count the messages in the queues and in their dead-letter queues.

    A job in flight is being delivered or waits for its next try. Urgent jobs are those of
    emails that expire within an hour. A dead message failed too often or could not be read;
    dead urgent jobs are among those of `jobs`.

    Example: `pillarbox queue status`
    """
    session = connected(ctx)
    session.show_list(
        [
            {
                "queue": name,
                "waiting": queue.waiting,
                "inFlight": queue.in_flight,
                "delayed": queue.delayed,
                "dead": dead_letters.waiting if dead_letters else 0,
                "deadInFlight": dead_letters.in_flight if dead_letters else 0,
            }
            for name, (queue, dead_letters) in session.wiring.queue_operations.status().items()
        ],
        ("queue", "waiting", "inFlight", "delayed", "dead"),
    )


@app.command("redrive")
def redrive(
    ctx: typer.Context,
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="jobs, events, webhooks or sweep.")],
    *,
    limit: Annotated[int, typer.Option(min=1, help="The most messages to move.")] = 10_000,
) -> None:
    """Move dead messages back into their queue. Fix the cause of the failures first.

    This is safe at any time: emails that are finished or too old are not sent, and events
    that were already processed change nothing. Webhook events that were delivered are not
    posted again. A sweep task can run at any time.

    Example: `pillarbox queue redrive jobs`
    """
    session = connected(ctx)
    with progress("Moving messages"):
        moved = session.wiring.queue_operations.redrive(queue, limit)
    session.show({"queue": queue, "moved": moved})

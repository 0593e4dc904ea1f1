"""`pillarbox queue …`."""

from typing import Annotated

import typer

from admin.session import connected

app = typer.Typer(no_args_is_help=True, help="What waits, and what was set aside.")


@app.command("status")
def status(ctx: typer.Context) -> None:
    """Count the messages of the queues and of their dead-letter queues.

    Jobs in flight are being delivered, or wait for a later try. What is dead was
    tried too often, or could not be read.

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
                "dead": dead.waiting,
                "deadInFlight": dead.in_flight,
            }
            for name, (queue, dead) in session.wiring.queue_operations.status().items()
        ],
        ("queue", "waiting", "inFlight", "delayed", "dead"),
    )


@app.command("redrive")
def redrive(
    ctx: typer.Context,
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="jobs or events.")],
    *,
    limit: Annotated[int, typer.Option(min=1, help="Move so many messages at most.")] = 10_000,
) -> None:
    """Put what is dead back into its queue, once what killed it is mended.

    Safe at any time: mail that is finished, or too old to be sent, goes out to
    nobody, and an event that is known changes nothing.

    Example: `pillarbox queue redrive jobs`
    """
    session = connected(ctx)
    moved = session.wiring.queue_operations.redrive(queue, limit)
    session.show({"queue": queue, "moved": moved})

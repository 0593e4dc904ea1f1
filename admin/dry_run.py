"""The option `--dry-run`: print the calls of AWS that a run would make, and change nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from admin.aws import example_stack
from admin.aws.recording import recorded
from admin.connection import StackConnection, point_sdk

DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Change nothing: print each call of AWS that would change something. The command"
        " reads as always. With --local it works on an example stack, without AWS.",
    ),
]


@contextmanager
def dry_run(
    connection: StackConnection, *, wanted: bool, example: str = example_stack.NAME
) -> Iterator[bool]:
    """Run the block as a dry run if it is wanted, and print the recorded calls at its end.

    Yield whether the calls that read are answered by an example, without AWS.
    """
    if not wanted:
        yield False
        return
    without_aws = connection.local
    if without_aws:
        point_sdk(example_stack.SDK_VARIABLES)
        connection.stack_name = example
    with recorded(example_stack.answer if without_aws else None) as recording:
        connection.rehearses = True
        yield without_aws
    connection.rehearses = False
    connection.show_list(
        [
            {
                "service": call.service,
                "operation": call.operation,
                "resource": call.resource,
                "times": times,
            }
            for call, times in recording.calls.items()
        ],
        ("service", "operation", "resource", "times"),
    )
    connection.note("This was a dry run: nothing was changed.")

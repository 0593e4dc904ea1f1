"""The commands `pillarbox edge …`."""

import secrets
from time import sleep
from typing import TYPE_CHECKING

import typer

from admin.aws import stacks
from admin.aws.edge_parts import AwsEdgeParts
from admin.confirm import require_aws
from admin.progress import progress
from admin.use_cases.edge_rotation import EdgeRotation
from pillarbox.domain.errors import ServiceError

if TYPE_CHECKING:
    from admin.connection import StackConnection

app = typer.Typer(no_args_is_help=True, help="The edge in front of the service.")


@app.command("rotate")
def rotate(ctx: typer.Context) -> None:
    """Change the secret by which the origins know the edge. No request is refused.

    The origins accept the old and the new secret while the edge changes. It takes about half an
    hour. If the command is interrupted, run it again: it goes on, and chooses no third secret.
    Do not deploy in between.

    Rotate the secret when somebody may have read it; it need not be on a schedule.

    Example: `pillarbox edge rotate`
    """
    connection: StackConnection = ctx.obj
    stack = stacks.require(require_aws(connection))
    if not stack.stable:
        message = f"The stack {stack.name} changes now ({stack.status}). Try again after that."
        raise ServiceError("service_unavailable", message)
    with progress("Rotating the secret, which takes half an hour"):
        EdgeRotation(
            parts=AwsEdgeParts(stack.stack_id, sleep),
            make_secret=lambda: secrets.token_hex(32),
            pause=sleep,
            report=connection.note,
        ).run()
    connection.show({"stack": stack.name, "rotated": True})

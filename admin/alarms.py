"""The commands `pillarbox alarms …`."""

from typing import TYPE_CHECKING, Annotated

import typer

from admin.aws import alarm_topic, stacks
from admin.confirm import require_aws
from admin.dry_run import DryRun, dry_run

if TYPE_CHECKING:
    from admin.connection import StackConnection

app = typer.Typer(no_args_is_help=True, help="Send the stack's alarms to an address.")


@app.command("subscribe")
def subscribe(
    ctx: typer.Context,
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="An email address, or an https: URL.")
    ],
    *,
    rehearse: DryRun = False,
) -> None:
    """Send all alarms of the stack to an address, once its owner has confirmed.

    A second run says whether the address is confirmed, and asks again if it is not. Each email
    of an alarm has a link that ends the subscription.

    Example: `pillarbox alarms subscribe ops@shop.example`
    """
    connection: StackConnection = ctx.obj
    with dry_run(connection, wanted=rehearse):
        stack = stacks.require(require_aws(connection))
        subscription = alarm_topic.subscribe(stack.stack_id, address)
        hint = (
            None
            if subscription.confirmed
            else "Not yet: AWS sends an email (to a URL, a request) with a link. Open it."
        )
        connection.show(
            {
                "stack": stack.name,
                "address": subscription.endpoint,
                "status": "confirmed" if subscription.confirmed else "pending",
            },
            hint=hint,
        )

"""The commands `pillarbox sending …`."""

from typing import Annotated

import boto3
import typer

from admin.confirm import confirm
from admin.connection import StackConnection, connected
from pillarbox.adapters.aws import operator_errors

app = typer.Typer(no_args_is_help=True, help="Stop and resume all sending of the stack.")


@app.command("pause")
def pause(
    ctx: typer.Context,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Stop all mail of the stack at SES, within a second.

    Requests are accepted, and the mail waits. What waits for 24 hours fails. Other stacks of the
    AWS account go on.

    Example: `pillarbox sending pause`
    """
    connection = connected(ctx)
    confirm(connection, "Stop all mail of this stack, codes too?", yes=yes)
    _set(connection, enabled=False)


@app.command("resume")
def resume(ctx: typer.Context) -> None:
    """Send again, and send what has waited.

    Example: `pillarbox sending resume`
    """
    _set(connected(ctx), enabled=True)


def _set(connection: StackConnection, *, enabled: bool) -> None:
    """Let SES take or refuse mail with the stack's configuration set, which all its mail has."""
    name = connection.wiring.settings.configuration_set
    with operator_errors("SES API"):
        boto3.client("sesv2").put_configuration_set_sending_options(
            ConfigurationSetName=name, SendingEnabled=enabled
        )
    connection.show({"configurationSet": name, "sending": enabled})

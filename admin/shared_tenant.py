"""The step of `pillarbox deploy` that makes the tenant of SES for accounts of strangers."""

import typer

from admin.connection import StackConnection
from pillarbox.domain.errors import ServiceError


def prepare(connection: StackConnection) -> None:
    """Make the tenant of SES in which the accounts of strangers begin. The service works without.

    SES refuses to make it before there is a configuration set, which the stack creates.
    """
    if not connection.wiring.settings.strangers:
        return
    try:
        connection.wiring.account_isolation.prepare_shared()
    except ServiceError as error:
        typer.echo(f"Could not make the tenant of strangers at SES: {error.message}", err=True)

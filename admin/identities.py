"""The commands `pillarbox identities …`."""

from typing import Final

import typer

from admin.aws import stacks
from admin.aws.function_versions import StackFunctions
from admin.progress import progress
from admin.session import connected
from pillarbox.domain.errors import ServiceError
from pillarbox.settings import Settings

_DEPLOY_FIRST: Final = "The stack has no table Credentials yet. First run `pillarbox deploy`."

app = typer.Typer(no_args_is_help=True, help="The table Credentials, which has the API keys.")


@app.command("migrate")
def migrate(ctx: typer.Context) -> None:
    """Move the API keys that an older release wrote to the table Credentials.

    Run it once, after the first deployment that has this table. Requests go on: each key works and
    each revocation takes effect at every moment. The command compares each copy before it deletes
    the original. Then it waits for two minutes until no request can have read the old place.

    If the command is interrupted, run it again. After it, `pillarbox rollback` cannot go back to a
    release without the table.

    Example: `pillarbox identities migrate`
    """
    session = connected(ctx)
    wiring = session.wiring
    if wiring.credentials.name == wiring.table.name:
        raise ServiceError("service_unavailable", _DEPLOY_FIRST)
    if session.stack_name is not None:
        _check_functions(session.stack_name)
    with progress("Moving keys; the end waits two minutes", "keys") as report:
        result = wiring.key_migration.run(report)
    session.show({"movedKeys": result.moved_keys, "markedAccounts": result.marked_accounts})


def _check_functions(stack_name: str) -> None:
    """Make sure that no function of an older release runs. It would refuse each key that moved.

    Raises:
        ServiceError: `service_unavailable`: one may run.
    """
    stack = stacks.require(stack_name)
    if not stack.stable:
        message = f"The stack {stack_name} changes now ({stack.status}). Try again after that."
        raise ServiceError("service_unavailable", message)
    older = StackFunctions(stack).live_without(Settings.credentials_table.variable)
    if older:
        message = (
            f"{', '.join(older)}: an older version runs, which reads keys in the first table only."
            " Run `pillarbox deploy`, then try again."
        )
        raise ServiceError("service_unavailable", message)

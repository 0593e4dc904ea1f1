"""What `pillarbox deploy` does with the versions of functions that earlier deployments made."""

import typer

from admin.aws import deployment, stacks
from admin.aws.function_versions import StackFunctions
from admin.use_cases import rollback
from pillarbox.domain.errors import ServiceError


def remove(stack_name: str) -> None:
    """Delete old versions of functions, but none to which `rollback` goes back.

    A version that was rolled back, and was deployed again now, counts as any other.
    """
    try:
        functions = StackFunctions(stacks.require(stack_name))
        found = functions.read()
        for function in found:
            if function.deployed_again:
                functions.forget(function)
        moves = rollback.plan(found, functions.events())
    except ServiceError:  # there is nothing to go back to
        moves = []
    kept = {move.function.name: move.after for move in moves}
    if removed := deployment.remove_old_versions(stack_name, kept):
        typer.echo(f"Deleted {removed} old versions of functions.", err=True)

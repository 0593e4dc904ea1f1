"""The command `pillarbox rollback`."""

from typing import Annotated, Final

import boto3
import typer

from admin.aws import stacks
from admin.aws.function_versions import StackFunctions
from admin.aws.stacks import StackDescription
from admin.confirm import confirm, require_aws
from admin.connection import StackConnection
from admin.dry_run import DryRun, dry_run
from admin.progress import progress
from admin.use_cases.rollback import Move, plan
from admin.use_cases.stack_states import read_state
from pillarbox.domain.errors import ServiceError

#: CloudFormation moves the aliases back itself.
_CANCELLED: Final = "The deployment does not go on: CloudFormation moves the functions back."
_UNDOING: Final = "CloudFormation is undoing the last update already. There is nothing to cancel."
_UNDONE: Final = "CloudFormation has undone the last update itself."


def rollback(
    ctx: typer.Context,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Move the functions without asking.")] = False,
    rehearse: DryRun = False,
) -> None:
    """Undo the last deployment: each function runs its previous version at once.

    Then it tells CloudFormation, so that the next deployment works. If the command is
    interrupted, run it again. A second run does not go back any further. If a deployment
    still runs, the command cancels that one. After CloudFormation itself has undone an
    update, --yes moves nothing; without it you can go back one deployment more.

    Only functions go back. Roles, queues, the edge and the containers stay as they are.

    Example: `pillarbox rollback`
    """
    connection: StackConnection = ctx.obj
    with dry_run(connection, wanted=rehearse):
        _roll_back(connection, yes=yes, asks=not rehearse)


def _roll_back(connection: StackConnection, *, yes: bool, asks: bool) -> None:
    """Move the functions; `yes` answers the questions, and without `asks` there are none."""
    stack = stacks.require(require_aws(connection))
    if _is_taken_back(connection, stack, yes=yes or not asks):
        return
    if not stack.stable:
        # A deployment that just ended cleans up, and then its events name what it replaced.
        with progress("Waiting for CloudFormation"):
            stack = stacks.wait(stack.stack_id, lambda _: None)
    _require_sound(stack)
    functions = StackFunctions(stack)
    moves = plan(functions.read(), functions.events())
    if all(move.done and move.function.fixed for move in moves):
        _show(connection, moves)
        connection.note("The last deployment is rolled back already.")
        return
    # After an update of this command that failed, the moves that it began are still to be made.
    undone = stack.status == "UPDATE_ROLLBACK_COMPLETE" and not any(move.begun for move in moves)
    if undone and yes:
        if connection.json:
            _show(connection, [])
        connection.note(f"{_UNDONE} Nothing was moved. Without --yes you can go back one more.")
        return
    functions.check(moves)
    if not connection.json:
        _show(connection, moves)
    if undone:
        connection.note(f"{_UNDONE} This is the deployment before it.")
    confirm(connection, "Move these functions now?", yes=yes or not asks)
    functions.move(moves)
    connection.note("The functions run these versions. Next, CloudFormation gets to know them.")
    _tell_cloudformation(connection, stack, functions, moves)
    connection.note("CloudFormation knows. Correct the error and deploy again.")
    if connection.json:
        _show(connection, moves)


def _require_sound(stack: StackDescription) -> None:
    """Make sure that CloudFormation accepts the update that follows the moves.

    Raises:
        ServiceError: `service_unavailable`: the stack first needs the operator.
    """
    state = read_state(stack.status)
    if state.meaning:
        said = [f"The stack {stack.name} is in {stack.status}.", state.meaning, state.remedy]
        message = " ".join(filter(None, [*said, "Nothing was moved."]))
        raise ServiceError("service_unavailable", message)


def _is_taken_back(connection: StackConnection, stack: StackDescription, *, yes: bool) -> bool:
    """Cancel a deployment that runs; return whether CloudFormation takes one back now."""
    runs = stack.status == "UPDATE_IN_PROGRESS"
    if runs:
        confirm(connection, "Cancel the deployment that runs?", yes=yes)
        boto3.client("cloudformation").cancel_update_stack(StackName=stack.stack_id)
    elif stack.stable or not stack.status.startswith("UPDATE_ROLLBACK"):
        return False
    connection.show({"stack": stack.name, "cancelled": runs}, hint=_CANCELLED if runs else _UNDOING)
    return True


def _tell_cloudformation(
    connection: StackConnection,
    stack: StackDescription,
    functions: StackFunctions,
    moves: list[Move],
) -> None:
    """Wait until CloudFormation knows the versions.

    Raises:
        ServiceError: `service_unavailable`: the update of the stack failed.
    """
    with progress("Waiting for CloudFormation"):
        for move in moves:
            if not move.function.fixed:
                functions.remember(move)
        if not functions.fix(moves):
            return
        stack = stacks.wait(stack.stack_id, lambda _: None)
    if stack.status != "UPDATE_COMPLETE":
        message = (
            f"CloudFormation did not take the update: {stack.status} {stack.reason}."
            f" It may have moved the functions forward again. Run `pillarbox --stack-name"
            f" {connection.stack_name} rollback` again."
        )
        raise ServiceError("service_unavailable", message)


def _show(connection: StackConnection, moves: list[Move]) -> None:
    connection.show_list(
        [
            {
                "function": move.function.logical_id,
                "live": move.function.live,
                "goesTo": move.after,
            }
            for move in moves
        ],
        ("function", "live", "goesTo"),
    )

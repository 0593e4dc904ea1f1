"""Ask before a command does something that cannot be undone."""

import typer

from admin.connection import StackConnection


def require_aws(connection: StackConnection) -> str:
    """Return the name of the stack in AWS; with --local the command line is wrong."""
    if connection.stack_name is None:
        raise typer.BadParameter("this command works on a stack in AWS", param_hint="--local")
    return connection.stack_name


def confirm(connection: StackConnection, question: str, *, yes: bool) -> None:
    """Ask on standard error, and end the command unless the answer is yes."""
    if not agrees(connection, question, yes=yes):
        raise typer.Abort


def agrees(connection: StackConnection, question: str, *, yes: bool) -> bool:
    """Ask on standard error, and return whether the answer is yes. Ctrl-C ends the command."""
    require_yes(connection, yes=yes)
    return yes or typer.confirm(question, err=True)


def require_yes(connection: StackConnection, *, yes: bool) -> None:
    """Require --yes with --json: a program cannot answer a question."""
    if connection.json and not yes:
        raise typer.BadParameter("with --json the command needs it", param_hint="--yes")

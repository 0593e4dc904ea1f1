"""Ask before a command does something that cannot be undone."""

import typer

from admin.session import StackSession


def require_aws(session: StackSession) -> str:
    """Return the name of the stack in AWS; with --local the command line is wrong."""
    if session.stack_name is None:
        raise typer.BadParameter("this command works on a stack in AWS", param_hint="--local")
    return session.stack_name


def confirm(session: StackSession, question: str, *, yes: bool) -> None:
    """Ask on standard error, and end the command unless the answer is yes."""
    if not agrees(session, question, yes=yes):
        raise typer.Abort


def agrees(session: StackSession, question: str, *, yes: bool) -> bool:
    """Ask on standard error, and return whether the answer is yes. Ctrl-C ends the command."""
    require_yes(session, yes=yes)
    return yes or typer.confirm(question, err=True)


def require_yes(session: StackSession, *, yes: bool) -> None:
    """Require --yes with --json: a program cannot answer a question."""
    if session.json and not yes:
        raise typer.BadParameter("with --json the command needs it", param_hint="--yes")

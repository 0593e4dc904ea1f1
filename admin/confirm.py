"""Ask before a command changes what cannot be changed back."""

import typer

from admin.session import StackSession


def require_aws(session: StackSession) -> str:
    """Return the name of the stack in AWS; with --local the command line is wrong."""
    if session.stack_name is None:
        raise typer.BadParameter("this command works on a stack in AWS", param_hint="--local")
    return session.stack_name


def confirm(session: StackSession, question: str, *, yes: bool) -> None:
    """Ask on standard error, and end the command unless the answer is yes.

    With --json nobody is there to answer, so --yes must be given.
    """
    if yes:
        return
    if session.json:
        raise typer.BadParameter("with --json the command needs --yes", param_hint="--yes")
    typer.confirm(question, abort=True, err=True)

"""Ask before a command changes what cannot be changed back."""

import typer

from admin.session import StackSession


def require_aws(session: StackSession) -> str:
    """Return the name of the stack in AWS; with --local the command line is wrong."""
    if session.stack_name is None:
        raise typer.BadParameter("this command works on a stack in AWS", param_hint="--local")
    return session.stack_name


def confirm(session: StackSession, question: str, *, yes: bool) -> None:
    """Ask on standard error, and end the command unless the answer is yes."""
    require_yes(session, yes=yes)
    if not yes:
        typer.confirm(question, abort=True, err=True)


def require_yes(session: StackSession, *, yes: bool) -> None:
    """End a command that will ask, before it begins, if nobody can answer."""
    if session.json and not yes:
        raise typer.BadParameter("with --json the command needs it", param_hint="--yes")

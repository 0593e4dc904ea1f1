"""The command `pillarbox policy`."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from admin.use_cases.policies import Duty, policy

if TYPE_CHECKING:
    from admin.connection import StackConnection


def show(
    ctx: typer.Context,
    duty: Annotated[Duty, typer.Argument(help="Who gets it.")],
) -> None:
    """Print an IAM policy: what somebody needs to deploy, to operate or to read a stack.

    `deploy` lets CloudFormation make and delete what the templates have, and roles only under the
    stack's name, with any rights. `operate` is for who is on call: all commands but `deploy`,
    `restore`, `teardown`, `edge` and `relay`. `read` changes nothing, but reads the tables; for
    commands that call the API it needs an operator's key in PILLARBOX_MANAGEMENT_KEY. A policy
    tells the stack's resources by how their names begin, so that of `pillarbox` covers
    `pillarbox-dev` too.

    Example: `pillarbox policy operate > policy.json`
    """
    connection: StackConnection = ctx.obj
    typer.echo(json.dumps(policy(duty, connection.stack_name or "pillarbox"), indent=2))

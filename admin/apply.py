"""The command `pillarbox apply`: accounts and what they have, from one file."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

import boto3
import typer
import yaml

from admin.aws.provisioning import LocalFiles, ValueStores, file_errors
from admin.connection import connected
from admin.local_stack import read_local_stack
from admin.use_cases.provision_file import parse_yaml, read_provision_file
from admin.use_cases.provisioning import Choices, Provisioning
from pillarbox.adapters.management_api import HttpApiProbe, HttpManagementApi
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.settings import Settings

#: Where the management key is: never on the command line, which others can read.
KEY_VARIABLE: Final = Settings.management_key.variable
_CHANGES: Final = 2


def apply(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A YAML file: see the guide.")],
    *,
    plan: Annotated[
        bool, typer.Option("--plan", help="Change nothing; exit with 2 if something would change.")
    ] = False,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune", help="Remove domains, senders, templates, webhooks and keys not in the file."
        ),
    ] = False,
    links: Annotated[
        bool,
        typer.Option(
            "--links", help="Make a link to the DNS records of each domain that waits for them."
        ),
    ] = False,
    wait: Annotated[
        int,
        typer.Option(
            metavar="MINUTES",
            min=0,
            help="Look again until DNS has what domains and senders wait for; exit with 1 if it"
            " has not in so many minutes.",
        ),
    ] = 0,
    url: Annotated[
        str | None, typer.Option(help="The service's address; without it, the stack's.")
    ] = None,
) -> None:
    """Make accounts have what a file says, with the management key of the environment.

    With `--local` the environment needs none: the stack's live key manages its account, Shop.

    The lines begin with + for what is added, ~ changed, - removed, and ? for what only you can do,
    such as the DNS records that a domain waits for. Run it again after an interruption.

    Example: `pillarbox apply customers.yaml --plan`
    """
    key = os.environ.get(KEY_VARIABLE, "")
    if not key and ctx.obj.local:
        key = read_local_stack()["keys"]["live"]
    if not key:
        # Not a usage error, whose exit code would mean that something would change.
        message = "is not set: put the management key there"
        raise ValidationFailed(FieldError(KEY_VARIABLE, message, "required"))
    try:
        with file_errors(str(file)):
            content = read_provision_file(parse_yaml(file.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise ValidationFailed(FieldError(str(file), f"is no YAML: {error}", "invalid")) from None
    base = url or connected(ctx).wiring.settings.api_url
    provisioning = Provisioning(
        api=HttpManagementApi(HttpApiProbe(base), key),
        values=ValueStores(file.parent, boto3.Session),
        files=LocalFiles(file.parent),
    )
    choices = Choices(plan=plan, prune=prune, links=links, wait=timedelta(minutes=wait))
    changes = 0
    for step in provisioning.run(content, choices):
        typer.echo(str(step))
        changes += step.changes
    typer.echo(f"{changes} {'changes planned' if plan else 'changes made'}", err=True)
    if plan and changes:
        raise typer.Exit(_CHANGES)
    if wait and provisioning.waiting:
        raise typer.Exit(1)

"""`pillarbox deploy`."""

import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Protocol

import boto3
import typer

from admin import doctor
from admin.operations.findings import Finding
from admin.operations.first_steps import FirstStepsResult
from admin.session import StackSession
from admin.views import View, issued_key_view, sender_view
from pillarbox.domain.errors import FieldFault, ServiceError, ValidationFailed

_ROOT: Final = Path(__file__).parents[1]
_SAM: Final = ".venv-sam/bin/sam"


class Environment(StrEnum):
    """The stacks of samconfig.toml."""

    DEV = "dev"
    PROD = "prod"


class Runner(Protocol):
    """Runs a program in the project's folder."""

    def __call__(self, words: Sequence[str]) -> int:
        """Run it to its end; gives its exit code."""
        ...


def deploy(
    ctx: typer.Context,
    *,
    environment: Annotated[
        Environment, typer.Option(help="Which stack of samconfig.toml.")
    ] = Environment.DEV,
    account_name: Annotated[
        str, typer.Option(help="The first account's, when there is none yet.")
    ] = "First",
    sender: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="An address that the account's mail comes from."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before the stack is changed.")
    ] = False,
) -> None:
    """Build the service, deploy it to AWS, and make what a first mail needs.

    What stands behind `--` is given to `sam deploy`. Each program that is run is
    shown. A second run changes nothing: no second account or key is made, and
    what is deployed already is not deployed again.

    The exit code is 1 when something failed, the doctor's checks at the end included.

    Example: `pillarbox deploy --environment prod --sender hello@shop.example`
    """
    session: StackSession = ctx.obj
    if session.local:
        raise typer.BadParameter("deploys to AWS; locally it is `make up`", param_hint="--local")
    found = roll_out(
        _run,
        environment,
        json=session.json,
        account_name=account_name,
        sender=sender,
        sam=[*(["--no-confirm-changeset"] if yes else []), *ctx.args],
    )
    if doctor.failures(found):
        raise typer.Exit(1)


def roll_out(  # noqa: PLR0913  as the command
    run: Runner,
    environment: Environment,
    *,
    json: bool,
    account_name: str = "First",
    sender: str | None = None,
    sam: Sequence[str] = (),
) -> list[Finding]:
    """Take every step of `deploy`, and give what the doctor found at the end.

    Raises:
        ValidationFailed: on `AWS_DEFAULT_REGION`, `account-name` or `sender`.
        ServiceError: `service_unavailable`: a program failed, or AWS did.
    """
    config, stack_name = _configured(environment)
    region = boto3.Session().region_name
    if region is None:
        message = "is not set: which region is the service to be in, such as eu-west-1?"
        raise ValidationFailed(FieldFault("AWS_DEFAULT_REGION", message, "required"))
    for words in (
        ["make", "build"],
        [_SAM, "deploy", "--config-env", config, "--no-fail-on-empty-changeset", *sam],
    ):
        typer.echo(f"$ {shlex.join(words)}", err=True)
        if code := run(words):
            said = f"{words[0]} {words[1]} ended with {code}; what it says is above."
            raise ServiceError("service_unavailable", said)
    session = StackSession(stack_name=stack_name, json=json)
    session.connect()
    api_url = session.wiring.settings.api_url
    begun = session.wiring.first_steps.run(account_name, sender)
    about = _view(stack_name, region, api_url, begun)
    if not json:
        session.show(about, hint=_hint(stack_name, begun))
    found = doctor.look(session)
    doctor.show(session, found, about)
    return found


def _configured(environment: Environment) -> tuple[str, str]:
    """The section of samconfig.toml, and its stack's name; dev is what sam does by default."""
    config = tomllib.loads((_ROOT / "samconfig.toml").read_text())
    section = environment.value if environment.value in config else "default"
    name: str = config[section]["global"]["parameters"]["stack_name"]
    return section, name


def _run(words: Sequence[str]) -> int:
    # Standard output is the command's own: a program may read it.
    environment = {**os.environ, "SAM_CLI_TELEMETRY": "0"}
    done = subprocess.run(  # noqa: S603  words of this file, and the operator's own
        words, cwd=_ROOT, env=environment, check=False, stdout=sys.stderr
    )
    return done.returncode


def _view(stack_name: str, region: str, api_url: str, begun: FirstStepsResult) -> View:
    key = begun.issued.text if begun.issued else "$PILLARBOX_KEY"
    body = (
        '{"to": "success@simulator.amazonses.com", "subject": "A first mail",'
        ' "html": "<p>It works.</p>"}'
    )
    return {
        "stack": stack_name,
        "region": region,
        "baseUrl": api_url,
        "accountId": begun.account.account_id,
        "key": issued_key_view(begun.issued) if begun.issued else None,
        "sender": sender_view(begun.sender) if begun.sender else begun.account.default_sender,
        "firstMail": (
            f"curl {api_url}/api/v1/emails -H 'X-API-Key: {key}'"
            f" -H 'Content-Type: application/json' -d '{body}'"
        ),
    }


def _hint(stack_name: str, begun: FirstStepsResult) -> str | None:
    hints = []
    if begun.issued:
        hints.append("Keep the key now: it cannot be shown a second time.")
    if begun.account.default_sender is None:
        command = f"pillarbox --stack-name {stack_name}"
        hints.append(
            "Before the first mail a sender must be verified:"
            f" {command} domain add DOMAIN, then"
            f" {command} sender add --account {begun.account.account_id} ADDRESS"
        )
    return "\n".join(hints) or None

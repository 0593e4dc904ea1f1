"""The command `pillarbox deploy`."""

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
from botocore.exceptions import ClientError

from admin import doctor
from admin.operations.checks import Finding
from admin.operations.first_steps import FirstStepsResult
from admin.session import StackSession
from admin.views import View, issued_key_view, sender_view
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

_ROOT: Final = Path(__file__).parents[1]
_SAM: Final = ".venv-sam/bin/sam"


class Environment(StrEnum):
    """The stacks of samconfig.toml."""

    DEV = "dev"
    PROD = "prod"


class Runner(Protocol):
    """Run a program in the project's folder."""

    def __call__(self, words: Sequence[str]) -> int:
        """Run it to its end and return its exit code."""
        ...


def deploy(
    ctx: typer.Context,
    *,
    environment: Annotated[
        Environment, typer.Option(help="The stack of samconfig.toml to deploy.")
    ] = Environment.DEV,
    account_name: Annotated[
        str, typer.Option(help="The name of the first account, if there is no account yet.")
    ] = "First",
    sender: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="An address that the account sends from."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Change the stack without asking first.")
    ] = False,
) -> None:
    """Build the service, deploy it to AWS, and create what a first email needs.

    Arguments after `--` go to `sam deploy`. The command shows each program that it runs.
    A second run changes nothing: it creates no second account or key, and deploys only
    changes.

    The command ends with the checks of the doctor. The exit code is 1 if a step or a check
    fails.

    Example: `pillarbox deploy --environment prod --sender hello@shop.example`
    """
    session: StackSession = ctx.obj
    if session.local:
        raise typer.BadParameter(
            "this command deploys to AWS; to start the local stack, use `make up`",
            param_hint="--local",
        )
    findings = roll_out(
        _run,
        environment,
        json=session.json,
        account_name=account_name,
        sender=sender,
        sam=[*(["--no-confirm-changeset"] if yes else []), *ctx.args],
    )
    if doctor.count_failures(findings):
        raise typer.Exit(1)


def roll_out(  # noqa: PLR0913  the same as the command
    run: Runner,
    environment: Environment,
    *,
    json: bool,
    account_name: str = "First",
    sender: str | None = None,
    sam: Sequence[str] = (),
) -> list[Finding]:
    """Run all steps of `deploy`, and return the findings of the doctor.

    Raises:
        ValidationFailed: on `AWS_DEFAULT_REGION`, `account-name` or `sender`.
        ServiceError: `service_unavailable`: a program or AWS failed, or the credentials are
            missing.
    """
    config, stack_name = _read_config(environment)
    region = boto3.Session().region_name
    if region is None:
        message = "is not set. Set it to the region of the service, such as eu-west-1."
        raise ValidationFailed(FieldError("AWS_DEFAULT_REGION", message, "required"))
    _check_credentials()
    _execute(run, ["make", "build"])
    # Before, so that the policy covers this update; after, because a new stack had none before.
    _protect(stack_name)
    _execute(run, [_SAM, "deploy", "--config-env", config, "--no-fail-on-empty-changeset", *sam])
    _protect(stack_name)
    session = StackSession(stack_name=stack_name, json=json)
    session.connect()
    api_url = session.wiring.settings.api_url
    result = session.wiring.first_steps.run(account_name, sender)
    summary = _view(stack_name, region, api_url, result)
    if not json:
        session.show(summary, hint=_hint(stack_name, result))
    findings = doctor.run_checks(session)
    doctor.show_findings(session, findings, summary)
    return findings


def _check_credentials() -> None:
    """Raise before anything is built if AWS would refuse the deployment for its credentials.

    Raises:
        ServiceError: `service_unavailable`: there are none.
        ClientError: AWS does not accept them.
    """
    if boto3.Session().get_credentials() is None:
        raise ServiceError(
            "service_unavailable",
            "There are no AWS credentials: run `aws sso login` or set AWS_PROFILE."
            " Nothing was built.",
        )
    boto3.client("sts").get_caller_identity()


def _execute(run: Runner, words: Sequence[str]) -> None:
    typer.echo(f"$ {shlex.join(words)}", err=True)
    if code := run(words):
        message = f"{words[0]} {words[1]} ended with {code}. Its output above says why."
        raise ServiceError("service_unavailable", message)


def _protect(stack_name: str) -> None:
    """Make CloudFormation refuse an update that would replace or delete stored data.

    A stack that does not exist, or whose first change set is not confirmed, has no data yet.
    """
    cloudformation = boto3.client("cloudformation")
    try:
        (stack,) = cloudformation.describe_stacks(StackName=stack_name)["Stacks"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationError":
            raise
        return
    if stack["StackStatus"] == "REVIEW_IN_PROGRESS":
        return
    policy = (_ROOT / "stack-policy.json").read_text()
    cloudformation.set_stack_policy(StackName=stack_name, StackPolicyBody=policy)


def _read_config(environment: Environment) -> tuple[str, str]:
    """Return the section of samconfig.toml and the stack's name; `default` is dev."""
    config = tomllib.loads((_ROOT / "samconfig.toml").read_text())
    section = environment.value if environment.value in config else "default"
    name: str = config[section]["global"]["parameters"]["stack_name"]
    return section, name


def _run(words: Sequence[str]) -> int:
    # Standard output is only for the command's own output, which a program may read.
    environment = {**os.environ, "SAM_CLI_TELEMETRY": "0"}
    process = subprocess.run(  # noqa: S603  words of this file, and the operator's own
        words, cwd=_ROOT, env=environment, check=False, stdout=sys.stderr
    )
    return process.returncode


def _view(stack_name: str, region: str, api_url: str, result: FirstStepsResult) -> View:
    key = result.new_key.text if result.new_key else "$PILLARBOX_KEY"
    body = (
        '{"to": "success@simulator.amazonses.com", "subject": "A first email",'
        ' "html": "<p>It works.</p>"}'
    )
    return {
        "stack": stack_name,
        "region": region,
        "baseUrl": api_url,
        "accountId": result.account.account_id,
        "key": issued_key_view(result.new_key) if result.new_key else None,
        "sender": sender_view(result.sender) if result.sender else result.account.default_sender,
        "firstMail": (
            f"curl {api_url}/api/v1/emails -H 'X-API-Key: {key}'"
            f" -H 'Content-Type: application/json' -d '{body}'"
        ),
    }


def _hint(stack_name: str, result: FirstStepsResult) -> str | None:
    hints = []
    if result.new_key:
        hints.append("Save the key now: it cannot be shown a second time.")
    if result.account.default_sender is None:
        command = f"pillarbox --stack-name {stack_name}"
        hints.append(
            "The account needs a verified sender before it can send:"
            f" {command} domain add DOMAIN, then"
            f" {command} sender add --account {result.account.account_id} ADDRESS"
        )
    return "\n".join(hints) or None

"""The command `pillarbox deploy`."""

import datetime as dt
import json as json_text
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Final

import boto3
import typer
import yaml
from botocore.exceptions import ClientError, CredentialRetrievalError, NoCredentialsError

from admin import (
    doctor,
    failed_stack,
    first_email,
    programs,
    ses_plan,
)
from admin.aws import certificate_secret, dashboard_files, deployment, edge_parts, release, stacks
from admin.aws.queue_policies import SqsQueuePolicies
from admin.aws.receipts import StackReceipts
from admin.aws.registry import RELAY_IMAGES, Repository
from admin.aws.ses_plan import SesAccountPlan
from admin.aws.stacks import StackDescription
from admin.confirm import agrees
from admin.connection import StackConnection
from admin.programs import IN_CLONE, ROOT, Runner, execute
from admin.use_cases import parameters, preflight
from admin.use_cases.preflight import AwsAccount
from admin.use_cases.scale import check_table
from admin.use_cases.ses_plans import SesPlan
from pillarbox.adapters.aws import refusal
from pillarbox.application.operator.checks import Finding, Verdict
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.wiring import utc_now

_DASHBOARD: Final = ROOT / "dashboard" / "dist"
#: What `make build` makes; an installed command has it already.
_RELEASE: Final = ROOT / ".aws-sam" / "release"
_COMPLETE: Final = {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
_run: Runner = programs.run

_Profile = Annotated[
    parameters.Profile | None,
    typer.Option(
        help="What the stack is for, which decides its bill; small, or what the stack has."
    ),
]
_Relay = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Have an SMTP relay, which clients connect to by this host name. Its image is the"
        " newest of `relay image`, its certificate that of `relay certificate`.",
    ),
]
_Express = Annotated[
    bool,
    typer.Option(
        "--express",
        help="Only for dev: do not wait until AWS has finished each resource.",
    ),
]


class Environment(StrEnum):
    """The stacks of samconfig.toml."""

    DEV = "dev"
    PROD = "prod"


@dataclass(frozen=True, slots=True)
class Config:
    """A section of samconfig.toml: the stack, its parameters and its tags."""

    stack_name: str
    overrides: parameters.Parameters
    tags: Mapping[str, str]


def deploy(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    *,
    environment: Annotated[
        Environment, typer.Option(help="The stack of samconfig.toml to deploy.")
    ] = Environment.DEV,
    profile: _Profile = None,
    relay: _Relay = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A parameter of the template; can be repeated."
        ),
    ] = None,
    account_name: Annotated[
        str, typer.Option(help="The name of the first account, if there is no account yet.")
    ] = "First",
    sender: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="An address that the account sends from."),
    ] = None,
    plan: Annotated[
        SesPlan | None,
        typer.Option(
            "--ses-plan", help="Change the AWS account's pricing plan at SES in this region."
        ),
    ] = None,
    express: _Express = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Ask nothing: change the stack and SES's plan, and remove a stack that failed and"
            " has no data.",
        ),
    ] = False,
) -> None:
    """Build the service, deploy it to AWS, and create what a first email needs.

    First it checks the AWS account, and builds nothing if a check fails. A parameter has its
    value on the command line, else that in samconfig.toml, else that of the profile, else the one
    that the stack has, else the template's default. The command shows what changes, and asks.

    A second run changes nothing: it creates no second account or key, and deploys only
    changes. After a first deployment that failed it removes what is left, if that has no data,
    and begins again.

    The command ends with the checks of the doctor. The exit code is 1 if a step or a check
    fails.

    Example: `pillarbox deploy --environment prod --sender hello@shop.example`
    """
    connection: StackConnection = ctx.obj
    if connection.local:
        raise typer.BadParameter(
            "this command deploys to AWS; `make up` or `pillarbox up` starts the local stack",
            param_hint="--local",
        )
    if express and environment is Environment.PROD:
        raise typer.BadParameter("only for --environment dev", param_hint="--express")
    findings = roll_out(
        _run,
        environment,
        profile=profile,
        relay=relay,
        json=connection.json,
        account_name=account_name,
        sender=sender,
        plan=plan,
        express=express,
        yes=yes,
        given=given or (),
    )
    if doctor.count_failures(findings):
        raise typer.Exit(1)


def roll_out(  # noqa: PLR0913  the same as the command
    run: Runner,
    environment: Environment,
    *,
    json: bool,
    profile: parameters.Profile | None = None,
    relay: str | None = None,
    account_name: str = "First",
    sender: str | None = None,
    plan: SesPlan | None = None,
    express: bool = False,
    yes: bool = False,
    given: Sequence[str] = (),
) -> list[Finding]:
    """Run all steps of `deploy`, and return the findings of the doctor."""
    config = _read_config(environment)
    stack_name = config.stack_name
    region = _region()
    own = {**config.overrides, **parameters.parse_overrides(given)}
    account = _read_account()
    if relay:
        image = own.get("RelayImage") or _newest_image()
        own = {**own, "RelayImage": image, "RelayName": relay}
    present = stacks.describe(stack_name)
    values = present.parameters if present else {}
    chosen = parameters.choose(_read_defaults(), values, profile, own)
    chosen = preflight.choose_scale(account, chosen, {**values, **own})
    _check_account(account, stack_name, chosen)
    connection = StackConnection(stack_name=stack_name, json=json)
    stack = failed_stack.make_way(connection, yes=yes)
    deployed = stack.parameters if stack else {}
    chosen = _complete(chosen)
    if stack:
        _check_update(stack, chosen)
    if plan:
        ses_plan.change(connection, SesAccountPlan(), plan, region, yes=yes)
    for line in parameters.differences(deployed or _read_defaults(), chosen):
        typer.echo(f"parameter {line}", err=True)
    _build(run, chosen)
    key = parameters.digest(chosen, stack.undone_update if stack else "")
    address = release.upload(_RELEASE, key)
    _change_stack(connection, address, chosen, config.tags, stack, express=express, yes=yes)
    connection.connect()
    api_url = connection.wiring.settings.api_url
    # CloudFormation cannot: the address exists only after the functions that need it.
    connection.wiring.service_address.store(api_url)
    result = connection.wiring.first_steps.run(account_name, sender)
    with first_email.show_key_on_failure(result):
        failed = list(_finish(connection, stack_name))
        summary = first_email.view(stack_name, region, api_url, result)
        if not json:
            connection.show(summary, hint=first_email.hint(stack_name, result))
        connection.connect()  # the stack's parameters have changed
        findings = [*failed, *doctor.run_checks(connection)]
        doctor.show_findings(connection, findings, summary)
    return findings


def _region() -> str:
    region = boto3.Session().region_name
    if region is None:
        message = "is not set. Set it to the region of the service, such as eu-west-1."
        raise ValidationFailed(FieldError("AWS_DEFAULT_REGION", message, "required"))
    return region


def _build(run: Runner, values: parameters.Parameters) -> None:
    """Build the service, and the dashboard unless there is no edge to serve it."""
    if IN_CLONE:
        what = ["dashboard"] if values["EdgeService"] != "none" else []
        execute(run, ["make", "build", *what])


def _change_stack(  # noqa: PLR0913  what a change set is made of
    connection: StackConnection,
    address: str,
    values: parameters.Parameters,
    tags: Mapping[str, str],
    stack: StackDescription | None,
    *,
    express: bool,
    yes: bool,
) -> None:
    """Create or update the stack under its policy, after the operator has seen the changes."""
    name = connection.stack_name or ""
    # A new stack can have no policy before it is created.
    protect(name)
    exists = stack is not None
    changes = release.prepare(name, address, values, tags, exists=exists, express=express)
    if changes is None:
        typer.echo("The stack has this release already.", err=True)
        return
    for line in changes.lines if stack else ():
        typer.echo(line, err=True)
    question = f"Make these {len(changes.lines)} changes?" if stack else f"Create {name}?"
    if not agrees(connection, question, yes=yes):
        release.discard(changes)
        message = "The changes were not confirmed, so nothing was deployed."
        raise ServiceError("service_unavailable", message)
    before = stacks.newest_event_at(changes.stack_id)
    release.execute(changes)
    ended = stacks.wait(changes.stack_id, lambda status: typer.echo(status, err=True))
    if ended.status not in _COMPLETE:
        failed_stack.explain(name)
        cause = stacks.first_failure(ended.stack_id, before) or ended.reason
        message = f"CloudFormation ended with {ended.status}. {cause}".rstrip()
        raise ServiceError("service_unavailable", message)
    if express:
        message = "AWS may need some more minutes, so steps and checks below may fail until then."
        typer.echo(message, err=True)
    protect(name)


def protect(stack_name: str) -> None:
    """Make CloudFormation refuse an update that would replace or delete stored data.

    A stack that does not exist, or whose first change set is not confirmed, has no data yet.
    """
    stack = stacks.describe(stack_name)
    if stack is None or stack.status == "REVIEW_IN_PROGRESS":
        return
    policy = (ROOT / "stack-policy.json").read_text()
    boto3.client("cloudformation").set_stack_policy(StackName=stack_name, StackPolicyBody=policy)


def _read_account() -> AwsAccount:
    """Read what the preflight compares with the parameters."""
    try:
        return deployment.read_account()
    except (NoCredentialsError, CredentialRetrievalError) as error:
        message = (
            "There are no AWS credentials: run `aws sso login` or set AWS_PROFILE."
            f" Nothing was built. ({error})"
        )
        raise ServiceError("service_unavailable", message) from None


def _check_account(account: AwsAccount, stack_name: str, chosen: parameters.Parameters) -> None:
    """Show what the preflight finds; a failed check raises as in `_show`."""
    findings = [
        *preflight.check_account(account),
        *preflight.check_stack_name(stack_name, account.region),
        *preflight.check_scale(account, chosen),
        *preflight.check_cloudfront(account, chosen),
    ]
    if account.region_has_ses:
        findings += ses_plan.check(SesAccountPlan())
        findings += preflight.check_receiving(receives=StackReceipts(stack_name).receives())
    if chosen["RelayImage"]:
        secret = certificate_secret.name_of(stack_name)
        needs = deployment.read_relay_needs(chosen["RelayImage"], secret)
        findings += preflight.check_relay(needs, chosen, secret, account, utc_now())
        findings.append(preflight.check_cluster_role(deployment.ensure_cluster_role()))
    _show(findings)


def _show(findings: Sequence[Finding]) -> None:
    for finding in findings:
        remedy = f" {finding.remedy}" if finding.remedy else ""
        typer.echo(f"{finding.verdict.value} {finding.check}: {finding.message}{remedy}", err=True)
    if failures := [finding for finding in findings if finding.verdict is Verdict.FAIL]:
        checks = ", ".join(finding.check for finding in failures)
        message = f"Nothing was built, because the deployment is not ready: {checks}. See above."
        raise ServiceError("service_unavailable", message)


def _check_update(stack: StackDescription, chosen: parameters.Parameters) -> None:
    """Check what the deployment would change in a stack that exists.

    It refuses while the edge's secret changes: CloudFormation would undo half of that.
    """
    if edge_parts.is_rotating(stack.stack_id):
        message = (
            "The edge's secret is being rotated. Finish that first:"
            f" pillarbox --stack-name {stack.name} edge rotate. Nothing was built."
        )
        raise ServiceError("service_unavailable", message)
    alarm_fires = deployment.rollout_alarm_fires(stack.stack_id)
    _show(
        [
            *check_table(*(int(each["EmailsPerSecond"]) for each in (stack.parameters, chosen))),
            *preflight.check_firewall(stack.parameters, chosen),
            *preflight.check_webhooks(stack.parameters, chosen),
            *preflight.check_rollout(chosen, alarm_fires=alarm_fires),
        ]
    )


def _newest_image() -> str:
    image = Repository(RELAY_IMAGES).newest()
    if image is None:
        message = f"ECR has no image {RELAY_IMAGES}. Push it first: pillarbox relay image."
        raise ServiceError("service_unavailable", f"{message} Nothing was built.")
    return image


def _complete(chosen: parameters.Parameters) -> parameters.Parameters:
    """Look up what AWS alone knows about a region with a relay, unless the stack has it.

    The zones of a relay that exists do not change, because that would replace its subnets. One
    that is removed forgets its zones.
    """
    if not chosen["RelayImage"]:
        return {**chosen, "RelayNetwork": ""}
    if chosen["RelayNetwork"]:
        return chosen
    front = chosen["EdgeService"] != "none" and chosen["LargeRequests"] != "off"
    zones = preflight.choose_zones(deployment.zones(), front=front)
    if zones is None:
        message = (
            "Fewer than two zones of this region can have a VPC origin of CloudFront. Deploy"
            " without RelayImage, or with LargeRequests=off."
        )
        raise ServiceError("service_unavailable", message)
    network = ",".join((*zones, deployment.look_up_prefix_list()))
    return {**chosen, "RelayNetwork": network}


def _finish(connection: StackConnection, stack_name: str) -> Iterator[Finding]:
    """Take the steps without which the service runs; yield a finding for each that fails.

    SES refuses to make the tenant of strangers before there is a configuration set, which the
    stack creates.
    """
    steps = {
        "tenant": lambda _: _prepare_tenant(connection),
        "dashboard": _upload_dashboard,
        "error page": _write_error_page,
        "sweep": deployment.start_sweep,
        "versions": _remove_old_versions,
        "policies": _repair_queue_policies,
    }
    for name, step in steps.items():
        try:
            step(stack_name)
        except (ClientError, OSError, ServiceError) as error:
            why = refusal(error) if isinstance(error, ClientError) else str(error)
            yield Finding(name, Verdict.FAIL, why, "Deploy again; the API works without it.")


def _prepare_tenant(connection: StackConnection) -> None:
    """Make the tenant of SES in which the accounts of strangers begin."""
    if connection.wiring.settings.strangers:
        connection.wiring.account_isolation.prepare_shared()


def _upload_dashboard(stack_name: str) -> None:
    new = dashboard_files.upload(stack_name, _DASHBOARD, dt.datetime.now(dt.UTC))
    if new is not None:
        typer.echo(f"Uploaded the dashboard: {new} new files.", err=True)


def _write_error_page(stack_name: str) -> None:
    """Write the page without which CloudFront answers 403 if no origin answers it."""
    message = "The service cannot be reached. Try again with the same Idempotency-Key."
    page = {"error": ServiceError("service_unavailable", message).envelope()}
    deployment.write_error_page(stack_name, json_text.dumps(page))


def _remove_old_versions(stack_name: str) -> None:
    if removed := deployment.remove_old_versions(stack_name):
        typer.echo(f"Deleted {removed} old versions of functions.", err=True)


def _repair_queue_policies(stack_name: str) -> None:
    """Write the policies of the queues for events again if they are not as they must be."""
    if repaired := SqsQueuePolicies(stack_name).repair():
        typer.echo(f"Wrote the policy of {' and '.join(repaired)} again.", err=True)


def _read_config(environment: Environment) -> Config:
    """Read the section of samconfig.toml; `default` is dev."""
    config = tomllib.loads((ROOT / "samconfig.toml").read_text())
    section = config[environment.value if environment.value in config else "default"]
    name: str = section["global"]["parameters"]["stack_name"]
    deployed = section["deploy"]["parameters"]
    configured = deployed.get("parameter_overrides", [])
    texts = [configured] if isinstance(configured, str) else configured
    overrides = parameters.parse_overrides(texts)
    return Config(name, overrides, parameters.parse_overrides([deployed.get("tags", "")]))


@cache  # to read the template takes longer than everything else here
def _read_defaults() -> parameters.Parameters:
    """Return the default of each parameter of the template."""
    template = yaml.load((ROOT / "template.yaml").read_text(), _TemplateLoader)  # noqa: S506  a SafeLoader
    return {name: str(item["Default"]) for name, item in template["Parameters"].items()}


class _TemplateLoader(yaml.CSafeLoader):
    """Reads CloudFormation's YAML. Functions such as `!Ref` are not resolved."""


_TemplateLoader.add_multi_constructor("!", lambda _loader, _suffix, _node: None)

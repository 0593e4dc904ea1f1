"""The checks before a deployment builds anything. Each problem comes with its remedy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from admin.use_cases import certificate
from admin.use_cases.parameters import Parameters
from admin.use_cases.scale import RATES, Scale, check_fit, choose_rate
from pillarbox.application.operator.checks import Finding, Verdict
from pillarbox.domain.errors import ValidationFailed

#: The zones in which CloudFront cannot reach a VPC origin, by id:
#: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-vpc-origins.html
_WITHOUT_VPC_ORIGINS: Final = frozenset({"use1-az3", "usw1-az2", "apne1-az3", "cac1-az3"})
#: The values of Firewall with which requests are refused.
_BLOCKING: Final = frozenset({"basic", "managed"})
#: The architecture of the relay's tasks (stacks/relay.yaml), as an image names it.
_ARCHITECTURE: Final = "arm64"
#: What the relay reads from the secret of its certificate.
_FIELDS: Final = ("certificate", "key")
#: The longest name of a function that CloudFront keeps for a stack, and the characters that it
#: allows (API_CreateFunction of its reference). `python -m tools.templates` compares every name.
_LONGEST_NAME: Final = "{stack}-{region}-edge-dashboard"
_MAX_NAME: Final = 64
#: The regions that lack a service; a rule in template.yaml has the same list, and
#: docs/operations.md the reasons.
REFUSED_REGIONS: Final = frozenset(
    {"ap-east-1", "cn-north-1", "cn-northwest-1", "mx-central-1", "us-gov-east-1", "us-gov-west-1"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsAccount:
    """The AWS account of the credentials, and what it allows in a region."""

    account_id: str
    #: The ARN of the user or role.
    identity: str
    region: str
    region_has_ses: bool
    concurrency: int
    #: None if the credentials may not list them.
    distributions: int | None


class ClusterRole(StrEnum):
    """The role of the account with which ECS manages clusters."""

    EXISTS = "exists"
    CREATED = "created"
    #: It does not exist, and the credentials may not create it.
    MISSING = "missing"
    #: The credentials may not look it up.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayNeeds:
    """The image and the secret in the relay's parameters."""

    #: None if it is not the name of an image in ECR.
    image: bool | None
    #: What the image runs on, such as arm64.
    architectures: frozenset[str] = frozenset()
    #: The fields of the secret; None if these credentials cannot read it.
    certificate: Mapping[str, str] | None = field(default=None, repr=False)


def check_account(account: AwsAccount) -> Iterator[Finding]:
    """Show the account, and check that its region has what the service needs."""
    message = f"AWS account {account.account_id} in {account.region}, as {account.identity}."
    yield Finding("account", Verdict.PASS, message)
    if not account.identity.startswith("arn:aws:"):
        message = "This account belongs to another partition of AWS (GovCloud or China)."
        remedy = "Use an account of the ordinary partition: CloudFront is not in the others."
        yield Finding("region", Verdict.FAIL, message, remedy)
    elif account.region in REFUSED_REGIONS:
        message = f"Pillarbox cannot run in {account.region}."
        remedy = "Set AWS_DEFAULT_REGION to another region: docs/operations.md names these."
        yield Finding("region", Verdict.FAIL, message, remedy)
    elif not account.region_has_ses:
        message = f"SES is not in {account.region}."
        remedy = "Set AWS_DEFAULT_REGION to a region that has SES, such as eu-west-1."
        yield Finding("region", Verdict.FAIL, message, remedy)
    else:
        yield Finding("region", Verdict.PASS, f"SES is in {account.region}.")


def check_receiving(*, receives: bool) -> Iterator[Finding]:
    """Say that answers cannot come back in a region in which SES receives no mail.

    Only SES knows: the list of its regions grows, so none is kept here.
    """
    if not receives:
        message = "SES receives no mail in this region, so answers to emails cannot come back."
        remedy = "If you need answers, deploy in another region; sending works in this one."
        yield Finding("receiving", Verdict.WARN, message, remedy)


def longest_stack_name(region: str) -> int:
    """Return how many characters the name of a stack may have."""
    return _MAX_NAME - len(_LONGEST_NAME.format(stack="", region=region))


def check_stack_name(name: str, region: str) -> Iterator[Finding]:
    """Check that CloudFront takes the names that begin with the stack's.

    A stack without an edge may get one later, and cannot be renamed.
    """
    if len(name) > (most := longest_stack_name(region)):
        longest = _LONGEST_NAME.format(stack=name, region=region)
        message = (
            f"The stack's name has {len(name)} characters, and may have {most} in {region}:"
            f" CloudFront allows {_MAX_NAME} for {longest}, which has {len(longest)}."
        )
        remedy = "Write a shorter stack_name in samconfig.toml."
        yield Finding("name", Verdict.FAIL, message, remedy)


def check_scale(account: AwsAccount, parameters: Parameters) -> Iterator[Finding]:
    """Check that the account can do what EmailsPerSecond asks of it."""
    text = parameters["EmailsPerSecond"]
    if text in map(str, RATES):
        yield from check_fit(account.concurrency, Scale(int(text), parameters["Webhooks"] == "on"))
    else:
        remedy = f"Set it to one of {', '.join(map(str, RATES))}."
        yield Finding("functions", Verdict.FAIL, f"EmailsPerSecond is {text}.", remedy)


def check_cluster_role(role: ClusterRole) -> Finding:
    """Say whether ECS can create a cluster in the account.

    ECS creates its role when it needs it first, and then does not wait for it.
    """
    match role:
        case ClusterRole.EXISTS:
            message = "The account has the role AWSServiceRoleForECS."
            return Finding("relay", Verdict.PASS, message)
        case ClusterRole.CREATED:
            message = "Created the role AWSServiceRoleForECS, which every cluster needs."
            return Finding("relay", Verdict.PASS, message)
        case ClusterRole.UNKNOWN:
            message = "iam:GetRole is not allowed, so the role AWSServiceRoleForECS may be missing."
            verdict = Verdict.WARN
        case ClusterRole.MISSING:
            message = "The account lacks the role AWSServiceRoleForECS, and"
            message += " iam:CreateServiceLinkedRole is not allowed."
            verdict = Verdict.FAIL
    remedy = "Attach the policy of `pillarbox policy deploy`, unless the account uses ECS already."
    return Finding("relay", verdict, message, remedy)


def choose_scale(account: AwsAccount, parameters: Parameters, own: Parameters) -> Parameters:
    """Return the parameters with the operator's own EmailsPerSecond, or what fits the account."""
    if "EmailsPerSecond" in own:
        return parameters
    return {**parameters, "EmailsPerSecond": str(choose_rate(account.concurrency))}


def check_cloudfront(account: AwsAccount, parameters: Parameters) -> Iterator[Finding]:
    """Check that the account may use CloudFront, as far as AWS says so in advance."""
    if parameters["EdgeService"] == "none":
        message = "CloudFront is not used: callers connect to API Gateway's own address."
        yield Finding("cloudfront", Verdict.PASS, message)
    elif account.distributions is None:
        message = f"cloudfront:ListDistributions is not allowed to {account.identity}."
        remedy = "Attach the policy of `pillarbox policy deploy`, or set EdgeService=none."
        yield Finding("cloudfront", Verdict.FAIL, message, remedy)
    elif account.distributions == 0:
        yield Finding(
            "cloudfront",
            Verdict.WARN,
            "The account has no distribution yet. AWS may ask to verify a new account first, and"
            " then the deployment fails with `must be verified`.",
            "Open a support case for it now. Until it is solved, deploy with EdgeService=none; a"
            " later deploy with EdgeService=cloudfront adds the distribution.",
        )
    else:
        yield Finding("cloudfront", Verdict.PASS, "The account uses CloudFront already.")


def check_firewall(deployed: Parameters, chosen: Parameters) -> Iterator[Finding]:
    """Check that no firewall asks for the edge's secret while the edge does not send it.

    A firewall that exists is changed before the edge is created. Until then it would refuse every
    request.
    """
    former = deployed.get("Firewall", "none")
    if former != "none" and chosen["Firewall"] in _BLOCKING and _adds_edge(deployed, chosen):
        yield Finding(
            "firewall",
            Verdict.FAIL,
            "The firewall would refuse every request until CloudFormation has created the edge.",
            "Deploy with Firewall=count first, which lets all requests pass, then with"
            f" Firewall={chosen['Firewall']}.",
        )


def _adds_edge(deployed: Parameters, chosen: Parameters) -> bool:
    return deployed.get("EdgeService") == "none" and chosen["EdgeService"] != "none"


def check_webhooks(deployed: Parameters, chosen: Parameters) -> Iterator[Finding]:
    """Say what ends if webhooks are switched off in a stack that has them."""
    if chosen["Webhooks"] == "off" and deployed.get("Webhooks") == "on":
        yield Finding(
            "webhooks",
            Verdict.WARN,
            "Webhooks=off: endpoints that exist receive nothing any more, and none can be created.",
            "Tell the owners of endpoints first (`pillarbox webhook list`). If you switch webhooks"
            " on again within a day, what happened in between is posted then.",
        )


def check_rollout(chosen: Parameters, *, alarm_fires: bool) -> Iterator[Finding]:
    """Check that the alarm of a rollout in steps does not fire: CodeDeploy would stop it at once.

    See https://docs.aws.amazon.com/codedeploy/latest/userguide/monitoring-create-alarms.html
    """
    if alarm_fires and chosen["Rollout"] != "AllAtOnce":
        yield Finding(
            "rollout",
            Verdict.FAIL,
            "The Rollout alarm fires, and CodeDeploy stops every rollout in steps until it ends.",
            "Wait until it ends. To deploy what mends the cause now, use Rollout=AllAtOnce: all"
            " traffic gets it at once, and no alarm takes it back.",
        )


def check_relay(
    needs: RelayNeeds, chosen: Parameters, secret: str, account: AwsAccount, now: datetime
) -> Iterator[Finding]:
    """Check that the relay may pull its image, and that clients can use its certificate."""
    image = chosen["RelayImage"]
    registry = f"{account.account_id}.dkr.ecr.{account.region}.amazonaws.com/"
    if needs.image is None:
        message = f"RelayImage is not an image in ECR: {image}"
        remedy = "Use the image that `pillarbox relay image` builds and pushes."
        yield Finding("relay", Verdict.FAIL, message, remedy)
    elif needs.image and not image.startswith(registry):
        message = f"The relay may pull images from {registry} only, and RelayImage is {image}"
        remedy = "Use the image that `pillarbox relay image` builds and pushes."
        yield Finding("relay", Verdict.FAIL, message, remedy)
    elif needs.image and _ARCHITECTURE in needs.architectures:
        yield Finding(
            "relay", Verdict.PASS, f"The image of the relay is in ECR, for {_ARCHITECTURE}."
        )
    elif needs.image:
        found = ", ".join(sorted(needs.architectures)) or "an unknown architecture"
        message = f"The image is for {found}, and the relay's tasks are {_ARCHITECTURE}."
        remedy = "Use the image that `pillarbox relay image` builds and pushes."
        yield Finding("relay", Verdict.FAIL, message, remedy)
    else:
        message = f"ECR has no image {image}"
        yield Finding("relay", Verdict.FAIL, message, "Push it first: pillarbox relay image.")
    if needs.certificate is None:
        message = (
            f"Secrets Manager has no secret {secret}, or secretsmanager:GetSecretValue is not"
            " allowed."
        )
        remedy = "Create it first: pillarbox relay certificate."
        yield Finding("relay", Verdict.FAIL, message, remedy)
        return
    try:
        chain, key = (str(needs.certificate.get(name, "")).encode() for name in _FIELDS)
        certificate.check(chain, key, chosen["RelayName"], now)
    except ValidationFailed as error:
        (wrong,) = error.errors
        part = "key" if wrong.field == "--key" else "certificate"
        message = f"The {part} in the secret {secret} {wrong.message}."
        remedy = "Write it again: pillarbox relay certificate."
        yield Finding("relay", Verdict.FAIL, message, remedy)
    else:
        message = f"The secret has a certificate for {chosen['RelayName']}."
        yield Finding("relay", Verdict.PASS, message)


def choose_zones(zones: Sequence[tuple[str, str]], *, front: bool) -> tuple[str, str] | None:
    """Return the names of the first two zones that fit; None if there are fewer.

    Zones that can have a VPC origin come first, since an edge may be added later.

    Args:
        zones: name and id of each zone. Each account has names of its own.
        front: whether CloudFront reaches the front there, so that others do not fit.
    """
    fitting = sorted(name for name, zone_id in zones if zone_id not in _WITHOUT_VPC_ORIGINS)
    if not front:
        fitting += sorted(name for name, zone_id in zones if zone_id in _WITHOUT_VPC_ORIGINS)
    return (fitting[0], fitting[1]) if len(fitting) > 1 else None

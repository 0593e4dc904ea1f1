"""What `pillarbox deploy` reads from AWS and changes beside CloudFormation's own work."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.request import urlopen

import boto3
from botocore.exceptions import ClientError

from admin.aws import stacks
from admin.use_cases.preflight import AwsAccount, ClusterRole, RelayNeeds

#: The alias to which all triggers of a function lead.
LIVE: Final = "live"
#: Where the distribution of template.yaml looks for the page.
ERROR_PAGE: Final = "errors/unavailable.json"
_DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException"})
_CLUSTER_ROLE: Final = "AWSServiceRoleForECS"
_PREFIX_LIST: Final = "com.amazonaws.global.cloudfront.origin-facing"
_IMAGE: Final = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[\w-]+)\.amazonaws\.com/(?P<repository>[\w./-]+)"
    r"(?::(?P<tag>[\w.-]+)|@(?P<digest>sha256:[0-9a-f]{64}))"
)
#: The forms of a manifest that ECR may return: of one image, and of an index of several.
_MANIFESTS: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
#: Seconds.
_TIMEOUT: Final = 30.0
_FUNCTION: Final = "AWS::Lambda::Function"
_KEPT_VERSIONS: Final = 3


def read_account() -> AwsAccount:
    """Read whose credentials these are, and what the account allows."""
    session = boto3.Session()
    region = session.region_name or ""
    identity = session.client("sts").get_caller_identity()
    limits = session.client("lambda").get_account_settings()["AccountLimit"]
    return AwsAccount(
        account_id=identity["Account"],
        identity=identity["Arn"],
        region=region,
        region_has_ses=region in session.get_available_regions("sesv2"),
        concurrency=limits["ConcurrentExecutions"],
        distributions=_count_distributions(session.client("cloudfront")),
    )


def _count_distributions(cloudfront: Any) -> int | None:  # noqa: ANN401  no type stubs
    """Return 0, or 1 for any number; None if the credentials may not list them."""
    try:
        page = cloudfront.list_distributions(MaxItems="1")["DistributionList"]
    except ClientError as error:
        if error.response["Error"]["Code"] in _DENIED:
            return None
        raise
    return len(page.get("Items", []))


def read_relay_needs(image: str, certificate: str) -> RelayNeeds:
    match = _IMAGE.fullmatch(image)
    architectures = _architectures(match) if match else None
    return RelayNeeds(
        image=architectures is not None if match else None,
        architectures=architectures or frozenset(),
        certificate=_fields(certificate),
    )


def ensure_cluster_role() -> ClusterRole:
    """Create the role with which ECS manages clusters, unless the account has it.

    ECS would create it with the first cluster, and then refuse that cluster, because it cannot
    assume the role yet.
    """
    iam = boto3.client("iam")
    try:
        iam.get_role(RoleName=_CLUSTER_ROLE)
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in _DENIED:
            return ClusterRole.UNKNOWN
        if code != "NoSuchEntity":
            raise
    else:
        return ClusterRole.EXISTS
    try:
        iam.create_service_linked_role(AWSServiceName="ecs.amazonaws.com")
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in _DENIED:
            return ClusterRole.MISSING
        if code != "InvalidInput":  # somebody created it in between
            raise
    return ClusterRole.CREATED


def _architectures(match: re.Match[str]) -> frozenset[str] | None:
    """Return what an image runs on; None if ECR has no such image."""
    image_id = (
        {"imageTag": match["tag"]} if match["tag"] is not None else {"imageDigest": match["digest"]}
    )
    place = {"registryId": match["account"], "repositoryName": match["repository"]}
    ecr = boto3.client("ecr", region_name=match["region"])
    try:
        images = ecr.batch_get_image(
            **place, imageIds=[image_id], acceptedMediaTypes=list(_MANIFESTS)
        )["images"]
    except ClientError as error:
        if error.response["Error"]["Code"] == "RepositoryNotFoundException":
            return None
        raise
    if not images:
        return None
    manifest = json.loads(images[0]["imageManifest"])
    if "manifests" in manifest:  # an index; buildx adds attestations for an unknown platform
        platforms = [entry.get("platform", {}) for entry in manifest["manifests"]]
        return frozenset(p["architecture"] for p in platforms if p.get("os") == "linux")
    layer = ecr.get_download_url_for_layer(**place, layerDigest=manifest["config"]["digest"])
    with urlopen(layer["downloadUrl"], timeout=_TIMEOUT) as response:  # noqa: S310  ECR's address
        return frozenset({json.loads(response.read())["architecture"]})


def _fields(name: str) -> dict[str, str] | None:
    """Return a secret's fields, or None if these credentials cannot read it."""
    try:
        answer = boto3.client("secretsmanager").get_secret_value(SecretId=name)
    except ClientError as error:
        if error.response["Error"]["Code"] in {
            "AccessDeniedException",
            "ResourceNotFoundException",
        }:
            return None
        raise
    try:
        content = json.loads(answer.get("SecretString", ""))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def look_up_prefix_list() -> str:
    """Return the id of the region's prefix list with CloudFront's addresses towards origins."""
    lists = boto3.client("ec2").describe_managed_prefix_lists(
        Filters=[{"Name": "prefix-list-name", "Values": [_PREFIX_LIST]}]
    )["PrefixLists"]
    found: str = lists[0]["PrefixListId"]
    return found


def zones() -> list[tuple[str, str]]:
    """Return the name and the id of each zone that every account of the region has."""
    answer = boto3.client("ec2").describe_availability_zones(
        Filters=[
            {"Name": "opt-in-status", "Values": ["opt-in-not-required"]},
            {"Name": "state", "Values": ["available"]},
        ]
    )
    return [(zone["ZoneName"], zone["ZoneId"]) for zone in answer["AvailabilityZones"]]


def write_error_page(stack_name: str, page: str) -> None:
    """Write the page that CloudFront shows if no origin answers.

    A stack without an edge has no bucket for it and needs none.
    """
    bucket = stacks.resources(stack_name).get("ErrorPages")
    if bucket is None:
        return
    boto3.client("s3").put_object(
        Bucket=bucket,
        Key=ERROR_PAGE,
        Body=page.encode(),
        ContentType="application/json",
        CacheControl="no-store",
    )


def rollout_alarm_fires(stack_name: str) -> bool:
    """Return whether the alarm fires at which a rollout in steps rolls back."""
    alarm = stacks.resources(stack_name).get("RolloutAlarm")
    if alarm is None:
        return False
    found = boto3.client("cloudwatch").describe_alarms(AlarmNames=[alarm])["MetricAlarms"]
    return any(item["StateValue"] == "ALARM" for item in found)


def start_sweep(stack_name: str) -> None:
    """Start a pass of the sweep now, so that its alarm has data."""
    boto3.client("lambda").invoke(
        FunctionName=stacks.resources(stack_name)["SweepMessages"],
        Qualifier=LIVE,
        InvocationType="Event",
    )


def remove_old_versions(stack_name: str) -> int:
    """Delete all but the last three versions of each function, and return how many.

    A version that gets traffic stays. CloudFormation keeps versions when it stops using them, also
    those of an update that failed, and Lambda keeps 75 GB of code in a region.
    """
    client = boto3.client("lambda")
    removed = 0
    for name in stacks.resources(stack_name, _FUNCTION).values():
        alias = client.get_alias(FunctionName=name, Name=LIVE)
        weights = alias.get("RoutingConfig", {}).get("AdditionalVersionWeights", {})
        numbers = sorted(_version_numbers(client, name))
        for number in numbers[:-_KEPT_VERSIONS]:
            if str(number) not in {alias["FunctionVersion"], *weights}:
                client.delete_function(FunctionName=name, Qualifier=str(number))
                removed += 1
    return removed


def _version_numbers(client: Any, name: str) -> Iterator[int]:  # noqa: ANN401  no type stubs
    for page in client.get_paginator("list_versions_by_function").paginate(FunctionName=name):
        for version in page["Versions"]:
            if version["Version"] != "$LATEST":
                yield int(version["Version"])

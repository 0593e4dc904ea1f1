"""Upload a packed release, and let CloudFormation change a stack to it."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from admin.aws import stacks
from pillarbox.domain.errors import ServiceError

_TEMPLATE: Final = "template.json"
#: What the template has in place of its release, in the settings and in the API's version.
_UNSTAMPED: Final = '"unbuilt"'
_PLACES: Final = 2
#: What CloudFormation says of a change set without changes.
_NO_CHANGES: Final = ("didn't contain changes", "No updates are to be performed")
_POLL_SECONDS: Final = 2.0
_EXPRESS: Final = {"Mode": "EXPRESS", "DisableRollback": False}


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What CloudFormation would change, a line for each resource."""

    change_set_id: str
    stack_id: str
    lines: tuple[str, ...]


def stamp(template: str, key: str) -> str:
    """Write the release into a template: another template or key makes it another one.

    SAM publishes a new version of a function only when its properties change, as the template
    writes them. A change of the layer does not change them, and neither does another value of a
    parameter that they refer to. The alias `live` would keep the old version, with the old
    settings. The release is a setting of every function, so a new release changes every function.
    It is the version of the API too: whether the API has some of its paths depends on a parameter,
    and a stage shows another API only after a new deployment.
    """
    if template.count(_UNSTAMPED) != _PLACES:
        raise ValueError(f"a template must have {_UNSTAMPED} as RELEASE and as the API's version")
    digest = hashlib.sha256(f"{len(template)}\0{template}{key}".encode()).hexdigest()[:16]
    return template.replace(_UNSTAMPED, f'"r-{digest}"')


def upload(folder: Path, key: str) -> str:
    """Upload what a stack does not have yet, and return the address of the template.

    Args:
        folder: what `tools/pack_release.py` made.
        key: what else makes another release of the same code (see `stamp`).
    """
    s3 = boto3.client("s3")
    account = boto3.client("sts").get_caller_identity()["Account"]
    bucket = f"pillarbox-releases-{account}-{s3.meta.region_name}"
    owned = {"Bucket": bucket, "ExpectedBucketOwner": account}
    template = stamp((folder / _TEMPLATE).read_text(), key)
    present = _present(s3, owned)
    address = f"{s3.meta.endpoint_url}/{bucket}"
    for path in sorted(folder.iterdir()):
        if path.name == _TEMPLATE:
            continue
        if path.name not in present:
            s3.put_object(**owned, Key=path.name, Body=path.read_bytes())
        # CloudFormation reads nested templates by HTTPS.
        place = address if path.suffix == ".json" else f"s3://{bucket}"
        template = template.replace(f'"{path.name}"', f'"{place}/{path.name}"')
    name = f"template-{hashlib.sha256(template.encode()).hexdigest()[:16]}.json"
    s3.put_object(**owned, Key=name, Body=template.encode())
    return f"{address}/{name}"


def _present(s3: Any, owned: Mapping[str, str]) -> set[str]:  # noqa: ANN401  no type stubs
    """Return what is in the bucket of all releases; make it if there is none."""
    pages = s3.get_paginator("list_objects_v2").paginate(**owned)
    try:
        return {item["Key"] for page in pages for item in page.get("Contents", ())}
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchBucket":
            raise
    region = s3.meta.region_name
    place = {"CreateBucketConfiguration": {"LocationConstraint": region}}
    # S3 refuses the name of its first region.
    s3.create_bucket(Bucket=owned["Bucket"], **({} if region == "us-east-1" else place))
    return set()


def prepare(  # noqa: PLR0913  what a change set is made of
    stack_name: str,
    address: str,
    parameters: Mapping[str, str],
    tags: Mapping[str, str],
    *,
    exists: bool,
    express: bool = False,
) -> ChangeSet | None:
    """Let CloudFormation compare a stack with a template; return None if nothing changes.

    The express mode does not wait until a resource works. It undoes no failure unless told to:
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-express-mode.html
    """
    formation = boto3.client("cloudformation")
    mode: dict[str, Any] = {"DeploymentConfig": _EXPRESS} if express else {}
    made = formation.create_change_set(
        StackName=stack_name,
        ChangeSetName=f"release-{time.time_ns()}",
        ChangeSetType="UPDATE" if exists else "CREATE",
        TemplateURL=address,
        Parameters=[
            {"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()
        ],
        Tags=[{"Key": name, "Value": value} for name, value in tags.items()],
        Capabilities=list(stacks.CAPABILITIES),
        **mode,
    )
    while True:
        described = formation.describe_change_set(ChangeSetName=made["Id"])
        if not described["Status"].endswith(("_PENDING", "_IN_PROGRESS")):
            break
        time.sleep(_POLL_SECONDS)
    if described["Status"] == "FAILED":
        formation.delete_change_set(ChangeSetName=made["Id"])
        reason = described.get("StatusReason", "")
        if any(text in reason for text in _NO_CHANGES):
            return None
        raise ServiceError("service_unavailable", f"CloudFormation refused the changes: {reason}")
    pages = formation.get_paginator("describe_change_set").paginate(ChangeSetName=made["Id"])
    lines = tuple(_line(each["ResourceChange"]) for page in pages for each in page["Changes"])
    return ChangeSet(made["Id"], made["StackId"], lines)


def execute(changes: ChangeSet) -> None:
    """Begin to make the changes, and return when the stack shows it."""
    formation, name = boto3.client("cloudformation"), changes.change_set_id
    formation.execute_change_set(ChangeSetName=name)
    while formation.describe_change_set(ChangeSetName=name)["ExecutionStatus"] == "AVAILABLE":
        time.sleep(_POLL_SECONDS)


def discard(changes: ChangeSet) -> None:
    boto3.client("cloudformation").delete_change_set(ChangeSetName=changes.change_set_id)


def _line(change: Mapping[str, Any]) -> str:
    replaced = " and replace it" if change.get("Replacement") == "True" else ""
    return f"{change['Action']}{replaced}: {change['LogicalResourceId']} {change['ResourceType']}"

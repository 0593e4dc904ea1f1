"""Event buses and buckets in the AWS accounts of tenants, to which events may go.

The service assumes a role that its tenants name, so a tenant must not lead it into an AWS account
of the operator or of another tenant (the confused deputy problem,
docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html). This module says which roles, buses
and buckets may be named. That the role trusts the service for this endpoint alone, the adapter
tries out.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC
from typing import Final

from pillarbox.domain.webhooks.endpoint import WebhookEvent

#: What the names of the roles begin with. The policy of the service allows no others: many roles
#: of an organization trust each other's accounts, and have other names.
ROLE_PREFIX: Final = "pillarbox-events"
#: In characters.
MAX_ROLE_ARN: Final = 128
_ROLE: Final = re.compile(
    rf"arn:(?P<partition>aws[a-z-]*):iam::(?P<account>[0-9]{{12}})"
    rf":role/{ROLE_PREFIX}[A-Za-z0-9+=,.@_-]{{0,48}}"
)
_BUS: Final = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):events:(?P<region>[a-z]{2,}(?:-[a-z]+)+-[0-9])"
    r":(?P<account>[0-9]{12}):event-bus/(?P<name>[A-Za-z0-9._/-]{1,256})"
)
#: The name, without those of directory buckets, and a prefix without characters that a policy
#: reads as a pattern and without parts that a URL would drop.
_BUCKET: Final = re.compile(
    r"s3://(?P<name>[a-z0-9](?!.*--x-s3/)[a-z0-9.-]{1,61}[a-z0-9])/"
    r"(?P<prefix>(?:(?!\.{1,2}/)[A-Za-z0-9_.=-]+/){0,20})"
)
_MAX_PREFIX: Final = 512


class AwsTargetError(ValueError):
    """Events cannot be put there; `field` is `url` or `roleArn`, and the text says `must …`."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.code = "invalid_url" if field == "url" else "invalid_role"


@dataclass(frozen=True, slots=True)
class AwsRole:
    """A role that the service assumes, in the AWS account that the events go to."""

    arn: str
    partition: str
    account: str


@dataclass(frozen=True, slots=True)
class EventBus:
    """An event bus of EventBridge."""

    arn: str
    region: str
    role: AwsRole
    action = "events:PutEvents"

    @property
    def resource(self) -> str:
        """What the service needs to reach."""
        return self.arn


@dataclass(frozen=True, slots=True)
class EventBucket:
    """A part of a bucket: the keys that begin with a prefix, which is empty or ends with `/`."""

    name: str
    prefix: str
    role: AwsRole
    action = "s3:PutObject"

    @property
    def resource(self) -> str:
        """What the service needs to reach."""
        return f"arn:{self.role.partition}:s3:::{self.name}/{self.prefix}*"

    def key(self, event: WebhookEvent) -> str:
        """Return the key of an event's object, in the folder of its hour.

        It follows from the event alone, so a repetition writes the same object.
        """
        return f"{self.prefix}{event.at.astimezone(UTC):%Y/%m/%d/%H}/{event.delivery_id}.ndjson"


type AwsTarget = EventBus | EventBucket


def is_in_aws(url: str) -> bool:
    """Return whether an endpoint's address is meant as that of a bus or a bucket."""
    return url.startswith(("arn:", "s3://"))


def parse_aws_target(url: str, role_arn: str, service_account: str) -> AwsTarget:
    """Return the bus or the bucket of an endpoint, with its role.

    Args:
        url: the ARN of an event bus, or `s3://BUCKET/PREFIX/`.
        service_account: the AWS account of the service, of which no role is accepted.
    """
    role = _ROLE.fullmatch(role_arn)
    if role is None:
        message = f"must be the ARN of a role without a path whose name begins with {ROLE_PREFIX}"
        raise AwsTargetError("roleArn", message)
    account = role["account"]
    if account == service_account:
        raise AwsTargetError("roleArn", "must not be of the AWS account that the service runs in")
    assumed = AwsRole(role_arn, role["partition"], account)
    if bus := _BUS.fullmatch(url):
        if (bus["partition"], bus["account"]) != (assumed.partition, account):
            raise AwsTargetError("url", "must be an event bus of the AWS account of the role")
        return EventBus(url, bus["region"], assumed)
    if (bucket := _BUCKET.fullmatch(url)) and len(bucket["prefix"]) <= _MAX_PREFIX:
        return EventBucket(bucket["name"], bucket["prefix"], assumed)
    raise AwsTargetError(
        "url",
        "must be the ARN of an event bus, or s3://BUCKET/PREFIX/ with a prefix of letters, digits"
        " and - _ . = that ends with / or is left out",
    )


def trust_policy(partition: str, service_account: str, endpoint_id: str) -> str:
    """Return the trust policy, as JSON, of a role that the service assumes for an endpoint alone.

    The external id is the endpoint's id: the service makes it, and no tenant can choose it.
    """
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:{partition}:iam::{service_account}:root"},
        "Action": "sts:AssumeRole",
        "Condition": {"StringEquals": {"sts:ExternalId": endpoint_id}},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def session_policy(target: AwsTarget) -> str:
    """Return the policy, as JSON, of a session: it may do one thing, on the bus or the prefix."""
    statement = {"Effect": "Allow", "Action": target.action, "Resource": target.resource}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})

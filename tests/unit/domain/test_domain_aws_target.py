"""Which event buses, buckets and roles of tenants the service accepts, and what it may do there."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from pillarbox.domain.webhooks.aws_target import (
    AwsTargetError,
    EventBucket,
    EventBus,
    parse_aws_target,
    session_policy,
    trust_policy,
)
from pillarbox.domain.webhooks.endpoint import WebhookEvent
from pillarbox.domain.webhooks.events import webhook_test
from tests.fakes.builders import ACCOUNT
from tests.loops import for_each

MAX_ROLE_ARN = 128

SERVICE, TENANT, OTHER = "999999999999", "111122223333", "444455556666"
ROLE = f"arn:aws:iam::{TENANT}:role/pillarbox-events"
BUS = f"arn:aws:events:eu-west-1:{TENANT}:event-bus/mail"
BUCKET = "s3://shop-events/mail/in/"

REFUSED_ROLES = [
    "",
    ROLE.replace(TENANT, SERVICE),
    ROLE.replace("pillarbox-events", "OrganizationAccountAccessRole"),
    ROLE.replace("role/", "role/pillarbox-events/"),
    ROLE.replace(TENANT, "*"),
    ROLE.replace(TENANT, "11112222333\N{FULLWIDTH DIGIT THREE}"),
    ROLE + "*",
    ROLE + "\n",
    ROLE + "x" * 49,
    ROLE.replace("iam", "sts"),
    f"arn:aws:iam::{TENANT}:user/pillarbox-events",
    "x" * MAX_ROLE_ARN,
]
REFUSED_URLS = [
    "",
    "arn:aws:events",
    BUS.replace(TENANT, SERVICE),
    BUS.replace(TENANT, OTHER),
    BUS.replace("arn:aws:", "arn:aws-cn:"),
    BUS.replace("eu-west-1", "evil.example/-west-1"),
    BUS.replace("eu-west-1", "*"),
    BUS + "*",
    BUS + "?",
    BUS + "\n",
    BUS.replace("event-bus", "rule"),
    f"arn:aws:sqs:eu-west-1:{TENANT}:mail",
    "s3://shop-events",
    "s3://shop-events/mail",
    "s3://shop-events//",
    "s3://shop-events/mail/*/",
    "s3://shop-events/${aws:username}/",
    "s3://shop-events/a?/",
    "s3://shop-events/../",
    "s3://shop-events/./",
    "s3://shop-events/a b/",
    "s3://shop-events/\N{LATIN SMALL LETTER E WITH ACUTE}/",
    "s3://shop-events/" + "a/" * 21,
    "s3://shop-events/" + "a" * 513 + "/",
    "s3://Shop/",
    "s3://ab/",
    "s3://*/",
    "s3://a@b/",
    "s3://shop--usw2-az1--x-s3/",
    "s3://arn:aws:s3:::shop-events/",
    "S3://shop-events/",
    "https://shop.example/hooks",
]


def event(at: datetime) -> WebhookEvent:
    return webhook_test(ACCOUNT, at).for_endpoint("019b7998-4c00-7000-8000-000000000003")


def test_a_bus_and_a_bucket_are_accepted() -> None:
    """A session may put events on the one bus, or objects below the one prefix, and no more."""
    bus = parse_aws_target(BUS, ROLE, SERVICE)
    assert isinstance(bus, EventBus)
    assert (bus.arn, bus.region, bus.role.account) == (BUS, "eu-west-1", TENANT)
    bucket = parse_aws_target(BUCKET, ROLE, SERVICE)
    assert isinstance(bucket, EventBucket)
    assert (bucket.name, bucket.prefix) == ("shop-events", "mail/in/")
    for target, action, resource in (
        (bus, "events:PutEvents", BUS),
        (bucket, "s3:PutObject", "arn:aws:s3:::shop-events/mail/in/*"),
        (
            parse_aws_target("s3://shop-events/", ROLE, SERVICE),
            "s3:PutObject",
            "arn:aws:s3:::shop-events/*",
        ),
    ):
        (statement,) = json.loads(session_policy(target))["Statement"]
        assert statement == {"Effect": "Allow", "Action": action, "Resource": resource}


def test_an_object_is_in_the_folder_of_its_hour() -> None:
    """The key has the hour in UTC and the delivery's id, so a repetition has the same key."""
    bucket = parse_aws_target(BUCKET, ROLE, SERVICE)
    assert isinstance(bucket, EventBucket)
    at = datetime(2026, 3, 1, 0, 59, 59, tzinfo=UTC)
    first = event(at)
    assert bucket.key(first) == f"mail/in/2026/03/01/00/{first.delivery_id}.ndjson"
    east = at.astimezone(timezone(timedelta(hours=14)))
    assert bucket.key(event(east)).startswith("mail/in/2026/03/01/00/")


def test_the_trust_policy_names_the_service_and_the_endpoint() -> None:
    """The role trusts the service's AWS account, with the endpoint's id as the external id."""
    (statement,) = json.loads(trust_policy("aws-cn", SERVICE, "the-id"))["Statement"]
    assert statement["Principal"] == {"AWS": f"arn:aws-cn:iam::{SERVICE}:root"}
    assert statement["Condition"] == {"StringEquals": {"sts:ExternalId": "the-id"}}


@for_each(
    ("url", "role", "field"),
    [
        *((BUS, role, "roleArn") for role in REFUSED_ROLES),
        *((url, ROLE, "url") for url in REFUSED_URLS),
    ],
)
def test_what_could_lead_elsewhere_is_refused(url: str, role: str, field: str) -> None:
    """No role of the service, of an organization or with a path; no pattern, no foreign bus."""
    with pytest.raises(AwsTargetError) as error:
        parse_aws_target(url, role, SERVICE)
    assert error.value.field == field
    assert str(error.value).startswith("must ")

"""The IAM policies that `pillarbox policy` prints."""

import json
import re

import pytest
from botocore.exceptions import ClientError

from admin.use_cases.policies import Duty, policy
from pillarbox.adapters.aws import refusal


@pytest.mark.parametrize("duty", Duty)
def test_a_policy_fits_into_iam(duty: Duty) -> None:
    """A managed policy has at most 6,144 characters (IAM's quotas)."""
    document = policy(duty, "a" * 33)
    assert len(re.sub(r"\s", "", json.dumps(document))) <= 6144
    resources = [statement["Resource"] for statement in document["Statement"]]
    assert resources[0] == "*"
    assert all(
        "a" * 33 in place or ":iam:" in place or ":s3:" in place or ":EdgeSecret-" in place
        for places in resources[1:]
        for place in places
    )


def test_a_policy_has_the_names_that_cloudformation_makes() -> None:
    """Those of buckets are in lower case, and those of roles begin with 24 characters."""
    own = policy(Duty.DEPLOY, f"Shop{'a' * 21}")["Statement"][1:]
    places = {place for each in own for place in each["Resource"]}
    assert f"arn:aws:iam::*:role/Shop{'a' * 20}*" in places
    assert f"arn:aws:s3:::shop{'a' * 21}-*" in places
    assert f"arn:aws:sqs:*:*:Shop{'a' * 21}-*" in places


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            (
                "User: arn:aws:iam::1:user/ann is not authorized to perform: dynamodb:Query on"
                " resource: arn:aws:dynamodb:eu-west-1:1:table/t with an explicit deny in a service"
                " control policy"
            ),
            (
                "dynamodb:Query is not allowed on arn:aws:dynamodb:eu-west-1:1:table/t with an"
                " explicit deny in a service control policy."
            ),
        ),
        (
            (
                "User `arn:aws:iam::1:user/ann' is not authorized to perform `ses:SendEmail' on"
                " resource `arn:aws:ses:eu-west-1:1:identity/a.example'"
            ),
            "ses:SendEmail is not allowed on arn:aws:ses:eu-west-1:1:identity/a.example.",
        ),
        ("Access Denied", "AWS refused Query: AccessDenied: Access Denied"),
    ],
)
def test_a_refusal_names_the_action(message: str, said: str) -> None:
    """The messages are those of DynamoDB and SES in AWS's troubleshooting pages, and S3's old."""
    error = ClientError({"Error": {"Code": "AccessDenied", "Message": message}}, "Query")
    assert refusal(error).startswith(said)

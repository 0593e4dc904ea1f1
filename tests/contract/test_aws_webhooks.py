"""Endpoints in AWS accounts of tenants, from the route to the bucket and the log of deliveries."""

import json
from collections.abc import Iterator
from typing import Any
from unittest import mock

import boto3
import pytest

from pillarbox import wiring
from pillarbox.adapters.aws_poster import AwsSessionPoster
from pillarbox.domain.accounts.key import WEBHOOKS_READ, WEBHOOKS_WRITE, Preset
from tests.contract.client import Api
from tests.contract.service import Service
from tests.contract.test_webhooks import call, create
from tests.contract.webhook_path import ROLE, WebhookPath
from tests.trusting_sts import TrustingSts

BUCKET = "shop-events"
URL = f"s3://{BUCKET}/mail/"
BOTH = frozenset({WEBHOOKS_READ, WEBHOOKS_WRITE})


@pytest.fixture
def api(service: Service, account: str) -> Api:
    """A client with a key of the account that may do everything with webhooks."""
    return Api(service.key(account, Preset.CUSTOM, scopes=BOTH))


@pytest.fixture
def sts() -> Iterator[TrustingSts]:
    trusting = TrustingSts()
    poster = AwsSessionPoster("999999999999")
    vars(poster)["_sts"] = trusting
    with mock.patch.dict(vars(wiring.services()), {"aws_poster": poster}):
        yield trusting


def objects() -> list[Any]:
    s3 = boto3.client("s3")
    keys = [one["Key"] for one in s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])]
    return [json.loads(s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()) for key in keys]


def test_an_account_has_its_events_in_its_bucket(
    service: Service, api: Api, sts: TrustingSts
) -> None:
    """Until the role trusts the endpoint a test says what to paste; then the event is an object."""
    boto3.client("s3").create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )
    made = create(api, url=URL, roleArn=ROLE)
    assert (made["url"], made["roleArn"], made["secret"]) == (URL, ROLE, None)
    assert "arn:aws:iam::999999999999:root" in made["trustPolicy"]
    assert create(api, url="https://shop.example/")["trustPolicy"] is None
    path = WebhookPath(service)
    call(api, "POST", f"/{made['id']}/test")
    path.work()
    (failed,) = call(api, "GET", f"/{made['id']}/deliveries").json["items"]
    assert made["trustPolicy"] in failed["attempts"][0]["error"]
    assert objects() == []

    (statement,) = json.loads(made["trustPolicy"])["Statement"]
    sts.trusts[ROLE] = statement["Condition"]["StringEquals"]["sts:ExternalId"]
    queued = call(api, "POST", f"/{made['id']}/test").json
    path.work()
    deliveries = call(api, "GET", f"/{made['id']}/deliveries").json["items"]
    (delivered,) = [one for one in deliveries if one["id"] == queued["id"]]
    assert [one["statusCode"] for one in delivered["attempts"]] == [200]
    (stored,) = objects()
    assert (stored["id"], stored["type"]) == (queued["eventId"], "webhook.test")

    bounced = WebhookPath(service, url=URL, role_arn=ROLE)
    bounced.announce("ann@example.com")
    bounced.work()
    owner = Api(service.key(bounced.account, Preset.CUSTOM, scopes=BOTH))
    refused = call(owner, "GET", f"/{bounced.endpoint.endpoint_id}/deliveries").json["items"]
    assert {one["status"] for one in refused} == {"waiting"}
    sts.trusts[ROLE] = bounced.endpoint.endpoint_id
    bounced.announce("ann@example.com")
    bounced.work()
    (event,) = [one["data"] for one in objects() if one["type"] == "email.bounced"]
    assert event["messageIdHeader"] == "<0102-1@eu-west-1.amazonses.com>"


def test_another_tenant_cannot_use_the_role(service: Service, sts: TrustingSts) -> None:
    """Who knows bucket and role of a tenant gets a failed delivery, and nothing is written."""
    sts.trusts[ROLE] = "an endpoint of somebody else"
    thief = Api(service.key(service.account(), Preset.CUSTOM, scopes=BOTH))
    made = create(thief, url="s3://shop-other/", roleArn=ROLE)
    call(thief, "POST", f"/{made['id']}/test")
    WebhookPath(service).work()
    (failed,) = call(thief, "GET", f"/{made['id']}/deliveries").json["items"]
    assert (failed["status"], failed["attempts"][0]["statusCode"]) == ("failed", 403)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"url": URL}, {"roleArn": "invalid_role"}),
        (
            {"url": URL, "roleArn": ROLE.replace("123456789012", "999999999999")},
            {"roleArn": "invalid_role"},
        ),
        ({"url": "s3://shop-events/*/", "roleArn": ROLE}, {"url": "invalid_url"}),
        (
            {"url": "arn:aws:events:eu-west-1:999999999999:event-bus/mail", "roleArn": ROLE},
            {"url": "invalid_url"},
        ),
        ({"url": "https://shop.example/", "roleArn": ROLE}, {"roleArn": "not_allowed"}),
    ],
)
def test_a_wrong_place_is_refused(api: Api, body: Any, errors: dict[str, str]) -> None:
    response = call(api, "POST", body={"types": ["*"]} | body)
    assert (response.status, response.errors) == (422, errors)
    assert call(api, "GET").json == {"items": []}


def test_an_endpoint_in_aws_has_no_secret(api: Api) -> None:
    """A rotation is 422; the role alone can change, and its answer has the same external id."""
    made = create(api, url=URL, roleArn=ROLE)
    refused = call(api, "POST", f"/{made['id']}/rotate")
    assert (refused.status, refused.errors) == (422, {"endpoint_id": "not_allowed"})
    changed = call(api, "PATCH", f"/{made['id']}", {"roleArn": f"{ROLE}-2"}).json
    assert (changed["roleArn"], changed["trustPolicy"]) == (f"{ROLE}-2", made["trustPolicy"])
    assert made["id"] in changed["trustPolicy"]

"""Events in buses and buckets of tenants, on emulated AWS."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest import mock
from uuid import UUID

import boto3
import pytest
from botocore.exceptions import ConnectionClosedError, ConnectTimeoutError

from pillarbox.adapters.aws_poster import AwsSessionPoster
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.webhooks.endpoint import WebhookEndpoint, WebhookEvent
from pillarbox.domain.webhooks.events import webhook_test
from tests.aws import REGION, Aws
from tests.fakes.builders import ACCOUNT, NOW
from tests.fakes.webhooks import endpoint
from tests.trusting_sts import TrustingSts, refusal

SERVICE, TENANT = "999999999999", "123456789012"
ROLE = f"arn:aws:iam::{TENANT}:role/pillarbox-events"
BUS = f"arn:aws:events:{REGION}:{TENANT}:event-bus/mail"
BODY = b'{"type":"webhook.test","data":{}}'


class Tenant:
    """A tenant with an endpoint for each kind, and what arrived there."""

    def __init__(self) -> None:
        self.sts = TrustingSts()
        self.now = 0.0
        self.poster = AwsSessionPoster(SERVICE, clock=lambda: self.now)
        vars(self.poster)["_sts"] = self.sts
        self.bucket = endpoint(url="s3://shop-events/mail/", role_arn=ROLE, secrets=())
        self.bus = endpoint(url=BUS, role_arn=ROLE, secrets=())
        s3, events, sqs = boto3.client("s3"), boto3.client("events"), boto3.client("sqs")
        s3.create_bucket(
            Bucket="shop-events", CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        events.create_event_bus(Name="mail")
        events.put_rule(Name="all", EventBusName="mail", EventPattern='{"source":["pillarbox"]}')
        self._queue = sqs.create_queue(QueueName="of-tenant")["QueueUrl"]
        arn = f"arn:aws:sqs:{REGION}:{TENANT}:of-tenant"
        events.put_targets(Rule="all", EventBusName="mail", Targets=[{"Id": "q", "Arn": arn}])

    def trust(self, one: WebhookEndpoint) -> None:
        self.sts.trusts[ROLE] = one.endpoint_id

    def put(self, one: WebhookEndpoint, event: WebhookEvent | None = None) -> PostResult:
        return self.poster.put(one, event or event_of(one), BODY)

    def objects(self) -> dict[str, bytes]:
        s3 = boto3.client("s3")
        listed = s3.list_objects_v2(Bucket="shop-events").get("Contents", [])
        read = {one["Key"]: s3.get_object(Bucket="shop-events", Key=one["Key"]) for one in listed}
        return {key: got["Body"].read() for key, got in read.items()}

    def received(self) -> list[Any]:
        found = boto3.client("sqs").receive_message(QueueUrl=self._queue, MaxNumberOfMessages=10)
        return [json.loads(one["Body"]) for one in found.get("Messages", [])]


def event_of(one: WebhookEndpoint) -> WebhookEvent:
    return webhook_test(ACCOUNT, NOW).for_endpoint(one.endpoint_id)


@pytest.fixture
def tenant(aws: Aws) -> Iterator[Tenant]:
    del aws
    # The emulator needs one more package to change an event for a target, and none is changed.
    unchanged = staticmethod(lambda event, **_: event)
    with mock.patch("moto.events.models.EventTemplateParser.parse", unchanged):
        yield Tenant()


def test_a_role_that_does_not_trust_the_endpoint_is_a_failure(tenant: Tenant) -> None:
    """The result is a failure with a reason; no exception ends the batch of the worker."""
    one = endpoint(url=BUS, role_arn=ROLE, secrets=())
    result = tenant.put(one)
    assert result.status_code == 403
    assert "AWS refused AssumeRole" in (result.error or "")


def test_an_event_is_an_object_in_the_folder_of_its_hour(tenant: Tenant) -> None:
    """One line of JSON with the event's id; a repetition writes the same object."""
    tenant.trust(tenant.bucket)
    event = event_of(tenant.bucket)
    for _ in range(2):
        assert tenant.put(tenant.bucket, event) == PostResult(status_code=200)
    ((key, content),) = tenant.objects().items()
    assert key == f"mail/{NOW:%Y/%m/%d/%H}/{event.delivery_id}.ndjson"
    assert content.endswith(b"}\n")
    assert content.count(b"\n") == 1
    assert json.loads(content) == {"id": str(event.event_id), "type": "webhook.test", "data": {}}


def test_an_event_is_put_on_the_bus(tenant: Tenant) -> None:
    """The detail is the payload with the event's id, which a repetition has too."""
    tenant.trust(tenant.bus)
    event = event_of(tenant.bus)
    for _ in range(2):
        assert tenant.put(tenant.bus, event) == PostResult(status_code=200)
    received = tenant.received()
    assert [one["source"] for one in received] == ["pillarbox"] * 2
    assert {one["detail-type"] for one in received} == {"webhook.test"}
    for one in received:
        assert one["detail"] == {"id": str(event.event_id)} | json.loads(BODY)


def test_a_session_may_do_one_thing_and_is_used_again(tenant: Tenant) -> None:
    """STS gets the external id and the narrow policy; another session follows in ten minutes."""
    tenant.trust(tenant.bucket)
    for moment in (0, 599, 600):
        tenant.now = moment
        assert tenant.put(tenant.bucket).status_code == 200
        if moment == 599:
            wrong, right = tenant.sts.calls
            tenant.sts.calls.clear()
            assert right["ExternalId"] == tenant.bucket.endpoint_id
            assert UUID(wrong["ExternalId"]) != UUID(right["ExternalId"])
            (statement,) = json.loads(right["Policy"])["Statement"]
            assert statement["Action"] == "s3:PutObject"
            assert statement["Resource"] == "arn:aws:s3:::shop-events/mail/*"
            assert right["DurationSeconds"] == 900
    assert len(tenant.sts.calls) == 2


def test_a_session_of_another_endpoint_is_not_used(tenant: Tenant) -> None:
    """A tenant who names another's role gets nothing, although its session is at hand."""
    tenant.trust(tenant.bucket)
    assert tenant.put(tenant.bucket).status_code == 200
    thief = endpoint(url=tenant.bucket.url, role_arn=ROLE, secrets=(), account_id="acct00000002")
    other = replace(tenant.bucket, url="s3://shop-events/other/")
    assert tenant.put(thief).status_code == 403
    assert tenant.put(other).status_code == 200
    assert [*tenant.objects()][-1].startswith("other/")
    policies = [json.loads(call["Policy"])["Statement"][0] for call in tenant.sts.calls]
    assert policies[-1]["Resource"] == "arn:aws:s3:::shop-events/other/*"


def test_a_role_that_trusts_everybody_is_not_used(tenant: Tenant) -> None:
    """Such as an operator's role in another AWS account: nothing is put, and the entry says why."""
    tenant.sts.trusts[ROLE] = "*"
    result = tenant.put(tenant.bucket)
    assert result.status_code is None
    assert "with the external id of this endpoint alone" in (result.error or "")
    assert tenant.objects() == {}


def test_the_owner_reads_what_to_do(tenant: Tenant) -> None:
    """A role that refuses the service is shown with the trust policy, and no name of ours."""
    error = tenant.put(tenant.bus).error or ""
    policy = json.loads(error[error.index("{") :])
    assert policy["Statement"][0]["Principal"]["AWS"] == f"arn:aws:iam::{SERVICE}:root"
    assert tenant.bus.endpoint_id in error
    assert "the-service" not in error


def test_refusals_of_the_bus_and_the_bucket_are_shown(tenant: Tenant) -> None:
    """What AWS refuses has its code, and a missing permission the statement that is missing."""
    tenant.trust(tenant.bucket)
    missing = replace(tenant.bucket, url="s3://no-such-bucket/")
    shown = tenant.put(missing)
    assert shown.status_code == 404
    assert (shown.error or "").startswith("AWS refused s3:PutObject: NoSuchBucket: ")
    for error, text in (
        (refusal("AccessDenied", "PutObject"), "the role must allow s3:PutObject on arn:aws:s3:::"),
        (ConnectTimeoutError(endpoint_url="x"), "no response of AWS to s3:PutObject: Connect"),
        (refusal("PermanentRedirect", "PutObject", status=301), "AWS refused s3:PutObject: Perm"),
    ):
        with mock.patch("pillarbox.adapters.aws_poster._put_object", side_effect=error):
            result = tenant.put(tenant.bucket)
        assert (result.error or "").startswith(text)
        assert result.status_code in {None, 403}
    tenant.sts.error = ConnectTimeoutError(endpoint_url="x")
    tenant.now = 1000
    assert (tenant.put(tenant.bucket).error or "").startswith("no response of AWS to AssumeRole")
    tenant.sts.error = refusal("RegionDisabledException", "AssumeRole")
    assert tenant.put(tenant.bucket).error == "AWS refused AssumeRole: RegionDisabledException"


def test_a_refused_entry_is_a_failure(tenant: Tenant) -> None:
    """EventBridge answers 200 with an entry that it did not take: that is no success."""
    tenant.trust(tenant.bus)
    assert tenant.put(tenant.bus).status_code == 200
    ((_, client),) = tenant.poster._sessions.values()
    refused = {"ErrorCode": "InternalFailure", "ErrorMessage": "later"}
    answer = {"FailedEntryCount": 1, "Entries": [refused]}
    with mock.patch.object(client, "put_events", return_value=answer):
        result = tenant.put(tenant.bus)
    assert result == PostResult(
        status_code=None, error="AWS refused the event: InternalFailure: later"
    )


def test_nothing_is_put_once_the_operator_switched_it_off(tenant: Tenant) -> None:
    """Without the service's AWS account no role is assumed, and the owner reads why."""
    poster = AwsSessionPoster("")
    vars(poster)["_sts"] = tenant.sts
    tenant.trust(tenant.bus)
    assert "no events into AWS" in (poster.put(tenant.bus, event_of(tenant.bus), BODY).error or "")
    own = AwsSessionPoster(TENANT)
    vars(own)["_sts"] = tenant.sts
    refused = own.put(tenant.bus, event_of(tenant.bus), BODY)
    assert refused.error == "roleArn must not be of the AWS account that the service runs in"
    assert tenant.sts.calls == []


def test_a_closed_connection_is_replaced(tenant: Tenant) -> None:
    """AWS closes it while the function is frozen: the second try is the same attempt."""
    tenant.trust(tenant.bucket)
    assert tenant.put(tenant.bucket).status_code == 200
    ((_, client),) = tenant.poster._sessions.values()
    closed = [ConnectionClosedError(endpoint_url="x")]

    def close(**_: object) -> None:
        if closed:
            raise closed.pop()

    client.meta.events.register_first("before-send.s3.PutObject", close)
    with mock.patch("botocore.endpoint.time.sleep"):
        assert tenant.put(tenant.bucket) == PostResult(status_code=200)
    assert not closed


def test_sessions_are_not_kept_without_end(tenant: Tenant) -> None:
    """The worker keeps twenty sessions at most; the oldest ends."""
    for number in range(25):
        one = replace(tenant.bucket, url=f"s3://shop-events/{number}/")
        tenant.trust(one)
        assert tenant.put(one).status_code == 200
    assert len(tenant.poster._sessions) == 20

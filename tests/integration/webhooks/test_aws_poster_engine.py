"""Events for AWS accounts of tenants, with an engine that evaluates every policy over HTTP."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final
from unittest import mock

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from pillarbox.adapters import aws_poster
from pillarbox.adapters.aws import make_client
from pillarbox.adapters.aws_poster import AwsSessionPoster
from pillarbox.adapters.direct import CallLimits
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.webhooks.aws_target import trust_policy
from pillarbox.domain.webhooks.endpoint import WebhookEndpoint
from pillarbox.domain.webhooks.events import webhook_test
from tests.aws import forget_sessions
from tests.fakes.builders import ACCOUNT, NOW
from tests.fakes.webhooks import endpoint
from tests.stack import free_port, wait_for

SERVICE: Final = "999999999999"
TENANT: Final = "111122223333"
NAME: Final = "pillarbox-events"
ROLE: Final = f"arn:aws:iam::{TENANT}:role/{NAME}"
BUCKET: Final = "shop-events"
#: The engine shares this machine with other tests.
PATIENT: Final = CallLimits(connect_timeout=60, read_timeout=60, attempts=1)
BODY: Final = b'{"type":"webhook.test","data":{}}'
#: The tenant was careless: only the session's own policy limits what the service may do.
EVERYTHING: Final = {"Effect": "Allow", "Action": "*", "Resource": "*"}


@dataclass(frozen=True)
class Engine:
    """AWS with two accounts; the root user of each has the account's number as its key id."""

    url: str

    def client(self, service: str) -> Any:
        """Return a client of the tenant's root user."""
        session: Any = boto3.Session(TENANT, "secret", region_name="eu-west-1")
        return session.client(service, endpoint_url=self.url)

    def trust(self, policy: str) -> None:
        self.client("iam").update_assume_role_policy(RoleName=NAME, PolicyDocument=policy)

    def keys(self) -> list[str]:
        listed = self.client("s3").list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return [one["Key"] for one in listed]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Start the engine, with a role that may do everything in the tenant's account."""
    folder = tmp_path_factory.mktemp("engine")
    port = str(free_port())
    own = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    settings = {
        "AUTH": "true",
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": port,
        "SFTP_ENABLED": "0",
        "MINISTACK_HOST": "127.0.0.1",
        "MINISTACK_REGION": "eu-west-1",
        "IOT_MTLS_ENABLED": "0",
        "AWS_SECRET_ACCESS_KEY": "secret",
        **{name: str(folder) for name in ("S3_DATA_DIR", "STATE_DIR", "TMPDIR")},
    }
    program = [sys.executable, "-m", "ministack.app"]
    with subprocess.Popen(program, env=own | settings, stderr=subprocess.DEVNULL) as process:
        engine = Engine(f"http://127.0.0.1:{port}")
        service = {"AWS_ACCESS_KEY_ID": SERVICE, "AWS_SECRET_ACCESS_KEY": "secret"}
        region = {"AWS_DEFAULT_REGION": "eu-west-1", "AWS_ENDPOINT_URL": engine.url}
        try:
            wait_for(lambda: _answers(engine))
            engine.client("iam").create_role(
                RoleName=NAME, AssumeRolePolicyDocument=trust_policy("aws", SERVICE, "nobody")
            )
            allowed = json.dumps({"Version": "2012-10-17", "Statement": [EVERYTHING]})
            engine.client("iam").put_role_policy(
                RoleName=NAME, PolicyName="everything", PolicyDocument=allowed
            )
            engine.client("s3").create_bucket(
                Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
            )
            engine.client("events").create_event_bus(Name="mail")
            with mock.patch.dict(os.environ, service | region):
                forget_sessions()
                yield engine
            forget_sessions()
        finally:
            process.terminate()


def _answers(engine: Engine) -> bool:
    with suppress(EndpointConnectionError):
        engine.client("sts").get_caller_identity()
        return True
    return False


def put(one: WebhookEndpoint) -> tuple[PostResult, AwsSessionPoster]:
    poster = AwsSessionPoster(SERVICE)
    event = webhook_test(ACCOUNT, NOW).for_endpoint(one.endpoint_id)
    with mock.patch.object(aws_poster, "_LIMITS", PATIENT):
        vars(poster)["_sts"] = make_client("sts", PATIENT)
        return poster.put(one, event, BODY), poster


def policy_for(one: WebhookEndpoint) -> str:
    return trust_policy("aws", SERVICE, one.endpoint_id)


def test_the_service_reaches_what_its_session_allows_and_no_more(engine: Engine) -> None:
    """A repetition is one object. Beside the prefix the session may write and read nothing."""
    bucket = endpoint(url=f"s3://{BUCKET}/mail/", role_arn=ROLE, secrets=())
    bus = f"arn:aws:events:eu-west-1:{TENANT}:event-bus/mail"
    engine.trust(policy_for(bucket))
    assert put(bucket)[0] == PostResult(status_code=200)
    result, poster = put(bucket)
    assert result == PostResult(status_code=200)
    (key,) = engine.keys()
    assert key.startswith(f"mail/{NOW:%Y/%m/%d/%H}/")
    ((_, client),) = poster._sessions.values()
    for operation, parameters in (
        ("put_object", {"Key": "other/x", "Body": b"x"}),
        ("get_object", {"Key": key}),
        ("delete_object", {"Key": key}),
        ("list_objects_v2", {}),
    ):
        with pytest.raises(ClientError, match="AccessDenied"):
            getattr(client, operation)(Bucket=BUCKET, **parameters)
    assert put(replace(bucket, url=bus))[0] == PostResult(status_code=200)
    assert engine.keys() == [key]


def test_nobody_else_gets_to_the_role(engine: Engine) -> None:
    """Not another endpoint; and the service uses no role that trusts its whole AWS account."""
    before = engine.keys()
    own, thief = (endpoint(url=f"s3://{BUCKET}/", role_arn=ROLE, secrets=()) for _ in range(2))
    engine.trust(policy_for(own))
    result, _ = put(thief)
    assert result.status_code == 403
    assert "give the role this trust policy" in (result.error or "")
    trusting = json.loads(policy_for(own))
    del trusting["Statement"][0]["Condition"]
    engine.trust(json.dumps(trusting))
    for one in (own, thief):
        result, _ = put(one)
        assert "external id of this endpoint alone" in (result.error or "")
    assert engine.keys() == before

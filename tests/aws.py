"""Emulated AWS in this process (moto), with the resources that the functions use.

To use the fixture, a conftest.py contains `from tests.aws import aws, running_aws`.
"""

import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from unittest import mock
from urllib.parse import urlparse

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest
from moto import mock_aws
from moto.backends import get_backend
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.core.responses import EmptyResult
from moto.core.utils import unix_time
from moto.dynamodb.models import DynamoDBBackend
from moto.ses.responses import EmailResponse
from moto.sqs.models import SQSBackend

from local import template
from pillarbox.adapters import sdk
from pillarbox.adapters.aws import use_direct_client
from pillarbox.settings import Settings
from pillarbox.wiring import services
from tests import sdk_caches
from tests.direct_dynamodb import direct_dynamodb, insert_all, transact
from tests.fakes import quick_table
from tests.fakes.builders import PREVIEW_SENDER, UPGRADE_URL

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

REGION: Final = "eu-west-1"
#: The variable that names another DynamoDB for the tests (verification/dynamodb_local).
DYNAMODB_URL: Final = "TESTS_DYNAMODB_URL"
sdk_caches.install()


@dataclass(frozen=True)
class Aws:
    """The names of the resources."""

    table: str
    credentials: str
    queue_url: str
    urgent_queue_url: str
    bucket: str


@cache
def declared(resource_type: str) -> dict[str, Any]:
    """Return the properties of the first resource of a type in the template."""
    resources = template.load()["Resources"].values()
    matches = (resource for resource in resources if resource["Type"] == resource_type)
    properties: dict[str, Any] = next(matches)["Properties"]
    return properties


def shared_client(service: str) -> Any:
    """Return a client that the tests of this process share: to make one takes 4 ms."""
    endpoints = map(os.environ.get, (f"AWS_ENDPOINT_URL_{service.upper()}", "AWS_ENDPOINT_URL"))
    endpoint = next(filter(None, endpoints), None)
    return _client(service, os.environ["AWS_DEFAULT_REGION"], endpoint)


@cache
def _client(service: str, region: str, endpoint: str | None) -> Any:
    make: Any = boto3.client  # mypy would try its 400 overloads
    return make(service, region, endpoint_url=endpoint)


def create_table(name: str) -> None:
    """Create an empty table with the keys of the template's table."""
    table = declared("AWS::DynamoDB::Table")
    shared_client("dynamodb").create_table(
        TableName=name,
        **{part: table[part] for part in ("AttributeDefinitions", "KeySchema", "BillingMode")},
    )


@contextmanager
def emulated_aws(*, wire: bool = False) -> Iterator[None]:
    """Emulate AWS in this process, one request at a time.

    All tests share one session, so that the SDK reads its service data only once.

    The service makes calls in several threads. moto copies and changes its stores without
    locks, so two calls at once end in errors that AWS does not have.

    With `wire` each call of DynamoDB is sent as HTTP, as in AWS, at twenty times the price.

    The service calls with botocore here, where moto and the faults of tests strike. `tests/ports`
    compares the direct client with it; the local engine and the faults of `verification` use it.
    """
    alone = threading.RLock()
    process_request = BotocoreStubber.process_request

    def process_alone(stubber: BotocoreStubber, request: AWSPreparedRequest) -> Any:
        with alone:
            return process_request(stubber, request)

    with (
        mock.patch.dict(os.environ, {Settings.aws_client.variable: "botocore"}),
        mock.patch.object(BotocoreStubber, "process_request", process_alone),
        mock.patch.object(sdk, "CHECKS_PARAMETERS", new=True),
        mock.patch.object(SQSBackend, "receive_message", _receive_at_once),
        mock.patch.object(SQSBackend, "is_message_valid_based_on_retention_period", _is_kept),
        mock.patch.object(EmailResponse, "delete_receipt_rule", _delete_rule, create=True),
        _fast_tables(),
        mock_aws(config={"core": {"reset_boto3_session": False}}),
        nullcontext() if wire or DYNAMODB_URL in os.environ else direct_dynamodb(alone),
        _other_dynamodb(),
    ):
        yield


_receive_message = SQSBackend.receive_message


def _receive_at_once(
    backend: SQSBackend, queue: str, count: int, _seconds: int, *more: Any, **named: Any
) -> Any:
    """Receive without a long poll: no other process puts messages that it could wait for."""
    return _receive_message(backend, queue, count, 0, *more, **named)


def _is_kept(backend: SQSBackend, queue: str, message: Any) -> bool:
    """Say whether a queue still keeps a message, without moto's count of all its messages."""
    kept: float = vars(backend.get_queue(queue))["message_retention_period"]
    sent: float = message.sent_timestamp
    return bool(kept + sent / 1000 > unix_time())


def _delete_rule(response: EmailResponse) -> EmptyResult:
    """Delete a receipt rule of SES, which moto lacks. SES says nothing of one that is gone."""
    of_set = response.backend.describe_receipt_rule_set(response._get_param("RuleSetName"))
    name = response._get_param("RuleName")
    of_set.rules = [rule for rule in of_set.rules if rule["Name"] != name]
    return EmptyResult()


@contextmanager
def _fast_tables() -> Iterator[None]:
    """Let moto copy no table for a write: by itself it does for each part of a transaction."""
    with (
        mock.patch.object(DynamoDBBackend, "transact_write_items", transact),
        mock.patch.object(DynamoDBBackend, "batch_execute_statement", insert_all),
    ):
        yield


@contextmanager
def _other_dynamodb() -> Iterator[None]:
    """Call the DynamoDB that the environment names, if any; delete its tables at the end."""
    if DYNAMODB_URL not in os.environ:
        yield
        return
    with mock.patch.dict(os.environ, {"AWS_ENDPOINT_URL_DYNAMODB": os.environ[DYNAMODB_URL]}):
        dynamodb = boto3.client("dynamodb")
        try:
            yield
        finally:
            for name in dynamodb.list_tables()["TableNames"]:
                dynamodb.delete_table(TableName=name)


@pytest.fixture(scope="module")
def running_aws(request: pytest.FixtureRequest) -> Iterator[pytest.MonkeyPatch]:
    """Emulate AWS for the tests of a module, with the environment of a function.

    A module with `OVER_HTTP` has the SDK's own tries, and what is below them.
    """
    with pytest.MonkeyPatch.context() as environment:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            environment.setenv(name, "testing")
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
            environment.delenv(name, raising=False)
        environment.setenv("AWS_DEFAULT_REGION", REGION)
        for name, value in {
            "PILLARBOX_CONFIGURATION_SET": "pillarbox",
            "PILLARBOX_PREVIEW_SENDER": PREVIEW_SENDER,
            "PILLARBOX_STACK": "pillarbox",
            "PILLARBOX_UPGRADE_URL": UPGRADE_URL,
            "POWERTOOLS_SERVICE_NAME": "test",
            "POWERTOOLS_METRICS_NAMESPACE": "Pillarbox",
        }.items():
            environment.setenv(name, value)
        with emulated_aws(wire=hasattr(request.module, "OVER_HTTP")):
            yield environment


@pytest.fixture
def aws(running_aws: pytest.MonkeyPatch) -> Iterator[Aws]:
    """Return an empty table, queue and bucket, named by the settings."""
    forget_wiring()
    engines: dict[str, Any] = {name: get_backend(name) for name in ("dynamodb", "s3", "sqs")}
    for engine in engines.values():
        engine.reset()
    # Calls of the engines themselves: over HTTP they took a quarter of the time of these tests.
    tables = ("pillarbox", "pillarbox-credentials")
    if DYNAMODB_URL in os.environ:
        _recreate(tables)
    else:
        for name in tables:
            quick_table.create_table(engines["dynamodb"][DEFAULT_ACCOUNT_ID][REGION], name)
    address = urlparse(shared_client("sqs").meta.endpoint_url)
    sqs = engines["sqs"][DEFAULT_ACCOUNT_ID][REGION]
    queue_url, urgent_url, events_url, events_dead_url = (
        sqs.create_queue(name).url(address) for name in ("jobs", "urgent", "events", "events_dead")
    )
    engines["s3"][DEFAULT_ACCOUNT_ID]["aws"].create_bucket("pillarbox-spool", REGION)
    names = Aws(
        table="pillarbox",
        credentials="pillarbox-credentials",
        queue_url=queue_url,
        urgent_queue_url=urgent_url,
        bucket="pillarbox-spool",
    )
    for name, value in {
        "PILLARBOX_TABLE": names.table,
        "PILLARBOX_CREDENTIALS_TABLE": names.credentials,
        "PILLARBOX_JOBS_QUEUE_URL": names.queue_url,
        "PILLARBOX_URGENT_JOBS_QUEUE_URL": names.urgent_queue_url,
        "PILLARBOX_SPOOL_BUCKET": names.bucket,
        "PILLARBOX_EVENTS_QUEUE_URL": events_url,
        "PILLARBOX_EVENTS_DEAD_LETTERS_URL": events_dead_url,
    }.items():
        running_aws.setenv(name, value)
    yield names
    forget_wiring()


def create_queues(sqs: "SQSClient") -> dict[str, str]:
    """Create the queues of the template, and return the URL of each by its logical id."""
    declared = {
        name: one["Properties"]
        for name, one in template.load()["Resources"].items()
        if one["Type"] == "AWS::SQS::Queue"
    }
    urls = dict[str, str]()
    for name, properties in sorted(declared.items(), key=lambda one: "RedrivePolicy" in one[1]):
        attributes: Any = {}
        if policy := properties.get("RedrivePolicy"):
            target = urls[policy["deadLetterTargetArn"]["Fn::GetAtt"][0]]
            found = sqs.get_queue_attributes(QueueUrl=target, AttributeNames=["QueueArn"])
            policy = {**policy, "deadLetterTargetArn": found["Attributes"]["QueueArn"]}
            attributes["RedrivePolicy"] = json.dumps(policy)
        urls[name] = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    return urls


def _recreate(tables: Iterable[str]) -> None:
    """Let another DynamoDB have these tables alone, and nothing in them."""
    for name in shared_client("dynamodb").list_tables()["TableNames"]:
        shared_client("dynamodb").delete_table(TableName=name)
    for name in tables:
        create_table(name)


def forget_sessions() -> None:
    """Discard the sessions, so that no credentials of this environment are used in the next."""
    boto3.DEFAULT_SESSION = None
    _client.cache_clear()
    sdk.sdk_session.cache_clear()


def forget_wiring() -> None:
    """Let the next use cases and clients read the environment again."""
    services.cache_clear()
    use_direct_client(on=False)

"""What promises rest on in AWS: the template says it, and the engine of the local stack has it.

Where the engine does not, the table says so, so that no test on the stack is read as a proof.
"""

import json
from collections.abc import Callable
from typing import Any, Final

import boto3
import pytest

from local import template
from local.engine import STACK_NAME

pytestmark = pytest.mark.stack

_RESOURCES: Final[dict[str, Any]] = template.load()["Resources"]
_DAY: Final = 86_400  # seconds
#: Queues with how long they keep a message, hide a received one, and how often they deliver it.
_QUEUES: Final = {
    "JobsQueue": (4 * _DAY, 90, 1000),
    "UrgentJobsQueue": (4 * _DAY, 90, 1000),
    "EventsQueue": (4 * _DAY, 60, 30),
    "SweepQueue": (4 * _DAY, 1800, 5),
    "WebhooksQueue": (4 * _DAY, 180, 100),
    "ReceivedQueue": (4 * _DAY, 360, 30),
    "JobsDeadLetters": (14 * _DAY, 30, None),
    "EventsDeadLetters": (14 * _DAY, 30, None),
    "SweepDeadLetters": (14 * _DAY, 30, None),
    "WebhooksDeadLetters": (14 * _DAY, 30, None),
    "ReceivedDeadLetters": (14 * _DAY, 30, None),
    "ChangesDeadLetters": (14 * _DAY, 30, None),
}
#: Readers of the table's stream: where they begin, and the age at which they give a record up.
_READERS: Final = {
    "AggregateStats": ("TRIM_HORIZON", 72_000),
    "AnnounceEvents": ("TRIM_HORIZON", 72_000),
}


@pytest.fixture
def engine(stack: dict[str, Any]) -> Callable[[str], Any]:
    """Return a function that makes a client of the engine."""
    environment = stack["environment"]
    make: Any = boto3.client
    return lambda service: make(
        service,
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        region_name=environment["AWS_DEFAULT_REGION"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )


@pytest.fixture
def names(engine: Callable[[str], Any]) -> dict[str, str]:
    """Return what the engine calls each resource of the template."""
    pages = engine("cloudformation").get_paginator("list_stack_resources")
    return {
        found["LogicalResourceId"]: found["PhysicalResourceId"]
        for page in pages.paginate(StackName=STACK_NAME)
        for found in page["StackResourceSummaries"]
    }


def properties(name: str) -> dict[str, Any]:
    found: dict[str, Any] = _RESOURCES[name]["Properties"]
    return found


def test_queues_keep_hide_and_deliver(engine: Callable[[str], Any], names: dict[str, str]) -> None:
    """Waiting mail lives for four days, a dead letter for fourteen; each queue has its own."""
    queues = {name for name, one in _RESOURCES.items() if one["Type"] == "AWS::SQS::Queue"}
    assert queues == _QUEUES.keys()
    for name, (retention, hidden, receives) in _QUEUES.items():
        declared = properties(name)
        assert declared["MessageRetentionPeriod"] == retention, name
        # 30 s is SQS's own (AWSSimpleQueueService APIReference, CreateQueue, read on 2026-11-28).
        assert declared.get("VisibilityTimeout", 30) == hidden, name
        assert declared.get("RedrivePolicy", {}).get("maxReceiveCount") == receives, name
        shown = engine("sqs").get_queue_attributes(QueueUrl=names[name], AttributeNames=["All"])
        found = shown["Attributes"]
        assert int(found["MessageRetentionPeriod"]) == retention, name
        assert int(found["VisibilityTimeout"]) == hidden, name
        policy = json.loads(found.get("RedrivePolicy", "{}"))
        assert policy.get("maxReceiveCount") == receives, name


def test_the_stream_has_both_images(engine: Callable[[str], Any], names: dict[str, str]) -> None:
    for name, view in (("Table", "NEW_AND_OLD_IMAGES"), ("Credentials", None)):
        assert properties(name).get("StreamSpecification", {}).get("StreamViewType") == view
        table = engine("dynamodb").describe_table(TableName=names[name])["Table"]
        assert table.get("StreamSpecification", {}).get("StreamViewType") == view


def test_readers_begin_at_the_oldest_record(
    engine: Callable[[str], Any], names: dict[str, str]
) -> None:
    """A new reader misses nothing that the stream still has, and gives up before it is gone."""
    readers = {
        each["FunctionArn"].rpartition(":")[2]: each
        for each in engine("lambda").list_event_source_mappings()["EventSourceMappings"]
        if ":dynamodb:" in each["EventSourceArn"]
    }
    assert len(readers) == len(_READERS)
    for name, (start, age) in _READERS.items():
        (event,) = (
            one["Properties"]
            for one in properties(name)["Events"].values()
            if one["Type"] == "DynamoDB"
        )
        assert (event["StartingPosition"], event["MaximumRecordAgeInSeconds"]) == (start, age)
        found = readers[names[name]]
        assert (found["StartingPosition"], found["MaximumRecordAgeInSeconds"]) == (start, age)


def test_what_the_engine_leaves_out(engine: Callable[[str], Any], names: dict[str, str]) -> None:
    """In AWS records and objects expire and tables can be recovered; in the engine nothing is."""
    for name in ("Table", "Credentials"):
        declared = properties(name)
        expiry = {"AttributeName": "expires_at", "Enabled": True}
        assert declared["TimeToLiveSpecification"] == expiry
        assert declared["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]
        dynamodb = engine("dynamodb")
        shown = dynamodb.describe_time_to_live(TableName=names[name])["TimeToLiveDescription"]
        assert shown["TimeToLiveStatus"] == "DISABLED"
        backups = dynamodb.describe_continuous_backups(TableName=names[name])
        recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        assert recovery["PointInTimeRecoveryStatus"] == "DISABLED"
    rules = properties("SpoolBucket")["LifecycleConfiguration"]["Rules"]
    assert {rule["Id"]: rule["ExpirationInDays"] for rule in rules} == {
        "expire": 91,
        "kept-1": 1,
        "kept-7": 7,
        "kept-30": 30,
        "kept-90": 90,
        "answers-1": 1,
        "answers-7": 7,
        "answers-30": 30,
        "answers-90": 90,
        "received": 15,
    }
    s3 = engine("s3")
    with pytest.raises(s3.exceptions.ClientError, match="NoSuchLifecycleConfiguration"):
        s3.get_bucket_lifecycle_configuration(Bucket=names["SpoolBucket"])

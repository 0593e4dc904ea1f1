"""What the template promises an operator: encryption, TLS, alarms, bounds."""

import json
from typing import Any, Final

import pytest

from local import template

_SOURCE: Final = template.inlined(template.load())
_RESOURCES: Final[dict[str, Any]] = _SOURCE["Resources"]


def _of_type(kind: str) -> dict[str, Any]:
    return {
        name: resource["Properties"]
        for name, resource in _RESOURCES.items()
        if resource["Type"] == kind
    }


_QUEUES: Final = _of_type("AWS::SQS::Queue")
_ALARMS: Final = _of_type("AWS::CloudWatch::Alarm")


def test_the_table_can_be_had_back() -> None:
    """Point-in-time recovery, encryption, and no deletion but by an operator who switches it on."""
    table = _RESOURCES["Table"]["Properties"]
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert table["DeletionProtectionEnabled"] == {"Ref": "DeletionProtection"}
    assert _SOURCE["Parameters"]["DeletionProtection"]["Default"] == "true"


@pytest.mark.parametrize("name", _QUEUES)
def test_queues_are_encrypted_and_take_tls_alone(name: str) -> None:
    """Each queue is encrypted at rest, and a policy denies what comes in the clear."""
    assert _QUEUES[name]["SqsManagedSseEnabled"] is True
    denied = [
        statement
        for policy in _of_type("AWS::SQS::QueuePolicy").values()
        if {"Ref": name} in policy["Queues"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
    ]
    assert [each["Condition"] for each in denied] == [{"Bool": {"aws:SecureTransport": "false"}}]


def test_the_bucket_is_closed() -> None:
    """The spool is encrypted, nothing in it is public, and its policy demands TLS."""
    (bucket,) = _of_type("AWS::S3::Bucket").values()
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["BucketEncryption"]
    (policy,) = _of_type("AWS::S3::BucketPolicy").values()
    assert "aws:SecureTransport" in json.dumps(policy)


@pytest.mark.parametrize("name", [name for name in _QUEUES if name.endswith("DeadLetters")])
def test_somebody_is_told_of_dead_letters(name: str) -> None:
    """The first message in a dead-letter queue raises an alarm."""
    (alarm,) = (
        alarm
        for alarm in _ALARMS.values()
        if alarm.get("MetricName") == "ApproximateNumberOfMessagesVisible"
        and alarm["Dimensions"][0]["Value"] == {"Fn::GetAtt": [name, "QueueName"]}
    )
    assert (alarm["Threshold"], alarm["ComparisonOperator"]) == (0, "GreaterThanThreshold")


@pytest.mark.parametrize("name", _ALARMS)
def test_alarms_reach_the_topic(name: str) -> None:
    """Each alarm says what it is about and tells whoever subscribed."""
    assert _ALARMS[name]["AlarmActions"] == [{"Ref": "AlarmTopic"}]
    assert _ALARMS[name]["AlarmDescription"]


@pytest.mark.parametrize("name", _of_type("AWS::Logs::LogGroup"))
def test_logs_end(name: str) -> None:
    """Every log is kept as long as the parameter says, none forever."""
    assert _RESOURCES[name]["Properties"]["RetentionInDays"] == {"Ref": "LogRetention"}


def test_the_api_is_bounded() -> None:
    """All paths are throttled, so that one flood does not take the account's concurrency."""
    (setting,) = _RESOURCES["Api"]["Properties"]["MethodSettings"]
    assert (setting["ResourcePath"], setting["HttpMethod"]) == ("/*", "*")
    assert setting["ThrottlingRateLimit"] == {"Ref": "RequestsPerSecond"}

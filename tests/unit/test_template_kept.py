"""An update keeps what cannot be made again: the template says so, and the stack's policy."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from local import template

_RESOURCES: Final[dict[str, Any]] = template.load()["Resources"]
_POLICY: Final = json.loads((template.ROOT / "stack-policy.json").read_text())
#: What holds data, or is known outside by a name or address that AWS gave, and the properties
#: for whose change CloudFormation would make it anew under another name.
_KEPT: Final = {
    "AWS::CloudFront::Distribution": set[str](),
    "AWS::DynamoDB::Table": {"TableName", "ImportSourceSpecification"},
    "AWS::S3::Bucket": {"BucketName", "BucketNamePrefix", "ObjectLockEnabled"},
    "AWS::SES::ConfigurationSet": {"Name"},
    "AWS::SNS::Topic": {"TopicName", "FifoTopic"},
    "AWS::SQS::Queue": {"QueueName", "FifoQueue"},
    "AWS::SecretsManager::Secret": {"Name"},
}
_NAMES: Final = [
    "AlarmTopic",
    "ConfigurationSet",
    "Edge",
    "EdgeSecret",
    "EventsDeadLetters",
    "EventsQueue",
    "JobsDeadLetters",
    "JobsQueue",
    "SpoolBucket",
    "Table",
]


def test_what_is_kept_has_its_name() -> None:
    """A resource under another logical id is a new one, and the old one goes: these stay."""
    found = [name for name, resource in _RESOURCES.items() if resource["Type"] in _KEPT]
    assert sorted(found) == _NAMES


@pytest.mark.parametrize("path", sorted(template.ROOT.glob("stacks/*.yaml")))
def test_no_nested_stack_has_what_is_kept(path: Path) -> None:
    """A resource that moves to another stack is made anew: only what may be is nested."""
    nested = template.load(path)["Resources"].values()
    assert not {resource["Type"] for resource in nested} & _KEPT.keys()


def test_the_policy_refuses_to_replace_or_delete_what_is_kept() -> None:
    """Every update is allowed, except one that replaces or deletes exactly these resources."""
    allowed, denied = _POLICY["Statement"]
    assert allowed == {
        "Effect": "Allow",
        "Principal": "*",
        "Action": "Update:*",
        "Resource": "*",
    }
    assert (denied["Effect"], denied["Principal"]) == ("Deny", "*")
    assert sorted(denied["Action"]) == ["Update:Delete", "Update:Replace"]
    assert sorted(denied["Resource"]) == [f"LogicalResourceId/{name}" for name in _NAMES]


@pytest.mark.parametrize("name", _NAMES)
def test_what_is_kept_is_always_there_under_a_name_of_aws(name: str) -> None:
    """No condition removes it, and no property is set whose change would replace it."""
    resource = _RESOURCES[name]
    assert "Condition" not in resource
    assert not resource["Properties"].keys() & _KEPT[resource["Type"]]


@pytest.mark.parametrize("name", ["Table", "SpoolBucket"])
def test_what_holds_data_outlives_the_stack(name: str) -> None:
    """Deleting or replacing the stack leaves the table and the spool."""
    resource = _RESOURCES[name]
    assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"


def test_the_table_keeps_its_keys_and_its_past() -> None:
    """Keys, stream, expiry, recovery and encryption are those that the stored items rely on."""
    table = _RESOURCES["Table"]["Properties"]
    assert table["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    assert {
        each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]
    } == {
        "pk": "S",
        "sk": "S",
    }
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert table["DeletionProtectionEnabled"] == {"Ref": "DeletionProtection"}


def test_the_spool_keeps_a_mail_for_two_days() -> None:
    """A body outlives the 24 hours in which its mail is tried, and nothing keeps versions."""
    spool = _RESOURCES["SpoolBucket"]["Properties"]
    (rule,) = spool["LifecycleConfiguration"]["Rules"]
    assert (rule["Status"], rule["ExpirationInDays"]) == ("Enabled", 2)
    assert "VersioningConfiguration" not in spool


@pytest.mark.parametrize(
    ("queue", "days", "dead_letters", "receipts"),
    [
        ("JobsQueue", 4, "JobsDeadLetters", 600),
        ("EventsQueue", 4, "EventsDeadLetters", 10),
        ("JobsDeadLetters", 14, None, None),
        ("EventsDeadLetters", 14, None, None),
    ],
)
def test_the_queues_keep_what_is_in_them(
    queue: str, days: int, dead_letters: str | None, receipts: int | None
) -> None:
    """Messages stay for days, then with the dead letters, whose queue keeps them longest."""
    properties = _RESOURCES[queue]["Properties"]
    assert properties["MessageRetentionPeriod"] == days * 24 * 60 * 60
    assert properties.get("RedrivePolicy") == (
        dead_letters
        and {
            "deadLetterTargetArn": {"Fn::GetAtt": [dead_letters, "Arn"]},
            "maxReceiveCount": receipts,
        }
    )

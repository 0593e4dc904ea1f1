"""An update keeps resources that cannot be recreated: the template and the stack policy."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from local import template
from pillarbox.adapters.s3 import KEPT
from pillarbox.domain.messages.kept import CLASSES
from pillarbox.domain.messages.mail import MAX_DELIVERY_TIME
from pillarbox.domain.messages.schedule import MAX_AHEAD
from tests.loops import for_each

_RESOURCES: Final[dict[str, Any]] = template.load()["Resources"]
_POLICY: Final = json.loads((template.ROOT / "stack-policy.json").read_text())
#: Resource types that hold data, or whose name or address is known outside of the stack; with the
#: properties whose change would make CloudFormation replace the resource.
_PROTECTED: Final = {
    "AWS::CloudFront::Distribution": set[str](),
    "AWS::DynamoDB::Table": {"TableName", "ImportSourceSpecification"},
    "AWS::S3::Bucket": {"BucketName", "BucketNamePrefix", "ObjectLockEnabled"},
    "AWS::SES::ConfigurationSet": {"Name"},
    "AWS::SNS::Topic": {"TopicName", "FifoTopic"},
    "AWS::SQS::Queue": {"QueueName", "FifoQueue"},
}
#: By hand: a rename in both the template and the policy would replace what has data.
_NAMES: Final = [
    "AlarmTopic",
    "ChangesDeadLetters",
    "ConfigurationSet",
    "Credentials",
    "DashboardFiles",
    "Edge",
    "ErrorPages",
    "EventsDeadLetters",
    "EventsQueue",
    "JobsDeadLetters",
    "JobsQueue",
    "ReceivedDeadLetters",
    "ReceivedQueue",
    "SpoolBucket",
    "SweepDeadLetters",
    "SweepQueue",
    "Table",
    "UrgentJobsQueue",
    "WebhooksDeadLetters",
    "WebhooksQueue",
]


def test_protected_resources_keep_their_logical_ids() -> None:
    """The logical ids do not change, because a new logical id replaces the resource."""
    names = [name for name, resource in _RESOURCES.items() if resource["Type"] in _PROTECTED]
    assert sorted(names) == _NAMES


@for_each("path", sorted(template.ROOT.glob("stacks/*.yaml")))
def test_no_nested_stack_has_a_protected_resource(path: Path) -> None:
    """No protected resource is in a nested stack, because a move replaces the resource."""
    nested = template.load(path)["Resources"].values()
    assert not {resource["Type"] for resource in nested} & _PROTECTED.keys()


def test_the_policy_denies_replacing_or_deleting_protected_resources() -> None:
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


@for_each("name", _NAMES)
def test_protected_resources_are_unconditional_and_named_by_aws(name: str) -> None:
    """A protected resource has no property whose change replaces it, and no condition.

    Only the distribution and its files have one: the policy refuses to delete them again.
    """
    resource = _RESOURCES[name]
    edge = name in {"DashboardFiles", "Edge", "ErrorPages"}
    assert resource.get("Condition") == ("WithEdge" if edge else None)
    assert not resource["Properties"].keys() & _PROTECTED[resource["Type"]]


@for_each("name", ["Table", "Credentials", "SpoolBucket"])
def test_data_outlives_the_stack(name: str) -> None:
    """Tables and spool remain when the stack is deleted or replaces them.

    A first deploy that fails leaves neither behind, because nothing is in them yet.
    """
    resource = _RESOURCES[name]
    assert resource["DeletionPolicy"] == "RetainExceptOnCreate"
    assert resource["UpdateReplacePolicy"] == "Retain"


@for_each(
    ("name", "stream"), [("Table", {"StreamViewType": "NEW_AND_OLD_IMAGES"}), ("Credentials", None)]
)
def test_a_table_keeps_its_schema(name: str, stream: dict[str, str] | None) -> None:
    table = _RESOURCES[name]["Properties"]
    assert table["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    assert {one["AttributeType"] for one in table["AttributeDefinitions"]} == {"S"}
    assert table.get("StreamSpecification") == stream
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}


def test_the_spool_keeps_a_mail_until_it_was_due() -> None:
    """An email waits for 30 days and retries for one; the sweep deletes what nobody needs."""
    spool = _RESOURCES["SpoolBucket"]["Properties"]
    rule, *_ = spool["LifecycleConfiguration"]["Rules"]
    assert (rule["Status"], rule["ExpirationInDays"]) == ("Enabled", 91)
    assert timedelta(days=rule["ExpirationInDays"] - 1) >= MAX_AHEAD + MAX_DELIVERY_TIME
    assert "VersioningConfiguration" not in spool


def test_the_spool_deletes_kept_content_after_the_days_in_its_key() -> None:
    """Each class has its rule, and the rule of all objects, which S3 obeys too, is no shorter."""
    first, *rules = _RESOURCES["SpoolBucket"]["Properties"]["LifecycleConfiguration"]["Rules"]
    kept = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules}
    # Nothing reads what SES stored once its message and its dead letter are gone, after 14 days.
    assert kept.pop("received/") == 15
    assert kept == {f"{start}{days}/": days for start in (KEPT, "answers/") for days in CLASSES}
    assert {rule["Status"] for rule in rules} == {"Enabled"}
    assert first["ExpirationInDays"] > max(CLASSES)


@for_each(
    ("queue", "days", "dead_letters", "receipts"),
    [
        ("JobsQueue", 4, "JobsDeadLetters", 1000),
        ("EventsQueue", 4, "EventsDeadLetters", 30),
        ("ReceivedQueue", 4, "ReceivedDeadLetters", 30),
        ("SweepQueue", 4, "SweepDeadLetters", 5),
        ("WebhooksQueue", 4, "WebhooksDeadLetters", 100),
        ("JobsDeadLetters", 14, None, None),
        ("EventsDeadLetters", 14, None, None),
        ("SweepDeadLetters", 14, None, None),
        ("WebhooksDeadLetters", 14, None, None),
        ("ChangesDeadLetters", 14, None, None),
        ("ReceivedDeadLetters", 14, None, None),
    ],
)
def test_the_queues_keep_their_messages(
    queue: str, days: int, dead_letters: str | None, receipts: int | None
) -> None:
    properties = _RESOURCES[queue]["Properties"]
    assert properties["MessageRetentionPeriod"] == days * 24 * 60 * 60
    assert properties.get("RedrivePolicy") == (
        dead_letters
        and {
            "deadLetterTargetArn": {"Fn::GetAtt": [dead_letters, "Arn"]},
            "maxReceiveCount": receipts,
        }
    )

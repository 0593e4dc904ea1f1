"""The check of an upgrade finds what would lose data, a policy or a name."""

import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests.integration.templates.planting import GONE, Templates, texts
from tests.loops import for_each
from tools.templates.defects import Defect
from tools.templates.translate import Sources
from tools.templates.upgrade import (
    check_upgrade,
    compare,
    extract,
    known_parameters,
    newest_release,
    report,
)

type Changes = dict[str, Any]

_QUEUE: Final = {"Type": "AWS::SQS::Queue"}


def _policy(*queues: str) -> dict[str, Any]:
    listed = [{"Ref": queue} for queue in queues]
    return {"Type": "AWS::SQS::QueuePolicy", "Properties": {"Queues": listed, "PolicyDocument": {}}}


def _topic(name: str, **properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": name, **properties}}


def _permissions(name: str) -> Changes:
    permission = {
        "Type": "AWS::Lambda::Permission",
        "Properties": {
            "Action": "lambda:InvokeFunction",
            "Principal": "apigateway.amazonaws.com",
            "FunctionName": {"Ref": "SendEmailAliaslive"},
            "SourceArn": {"Fn::Sub": "arn:aws:execute-api:x:x:${Api}/api/GET/x"},
        },
    }
    return {f"Resources {name}{number}": permission for number in range(25)}


#: What the check must say, and what is changed in the former templates and in those of now.
_PLANTS: Final[list[tuple[str, Changes, Changes]]] = [
    (
        "Table: The upgrade replaces it",
        {},
        {"Table KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]},
    ),
    ("JobsQueue: The upgrade replaces it", {}, {"JobsQueue QueueName": "jobs"}),
    (
        "SpoolBucket: The upgrade removes it",
        {},
        {"Resources SpoolBucket": GONE, "Resources MailBucket": {"Type": "AWS::S3::Bucket"}},
    ),
    (
        "SweepQueue: The upgrade removes it",
        {},
        {"Resources SweepQueue": GONE, "stacks/relay.yaml:Resources SweepQueue": _QUEUE},
    ),
    (
        "Credentials: The upgrade removes it",
        {},
        {
            "Conditions Never": {"Fn::Equals": [{"Ref": "Webhooks"}, "never"]},
            "Resources Credentials Condition": "Never",
        },
    ),
    (
        "Held: Its policy moves from Both to Second. CloudFormation updates or deletes Both",
        {"Resources Held": _QUEUE, "Resources Both": _policy("Held", "SweepQueue")},
        {
            "Resources Held": _QUEUE,
            "Resources Both": _policy("SweepQueue"),
            "Resources Second": _policy("Held"),
        },
    ),
    (
        "Held: Its policy moves from First to Second",
        {"Resources Held": _QUEUE, "Resources First": _policy("Held")},
        {"Resources Held": _QUEUE, "Resources Second": _policy("Held")},
    ),
    (
        "Held: It had a policy by First, and has none",
        {"Resources Held": _QUEUE, "Resources First": _policy("Held")},
        {"Resources Held": _QUEUE},
    ),
    (
        "SendEmailRole: Its type changes from AWS::IAM::Role to AWS::SNS::Topic",
        {},
        {"Resources SendEmailRole": _topic("role")},
    ),
    (
        "Named: The upgrade replaces it, but its name fixed stays",
        {"Resources Named": _topic("fixed", FifoTopic=False)},
        {"Resources Named": _topic("fixed", FifoTopic=True)},
    ),
    (
        "Moved: It takes the name fixed from Named of template.yaml",
        {"Resources Named": _topic("fixed")},
        {"stacks/alarms.yaml:Resources Moved": _topic("fixed")},
    ),
    (
        r"SendEmailAliaslive: Its resource policy has [\d,]+ bytes during the upgrade",
        _permissions("Former"),
        _permissions("Later"),
    ),
]


def _problems(old: Templates, new: Templates) -> list[Defect]:
    former, stack = old.build(), new.build()
    return list(check_upgrade(former, stack, compare(former, stack)))


def test_an_upgrade_without_changes_loses_nothing() -> None:
    assert not _problems(Templates(), Templates())


@for_each(("message", "before", "after"), _PLANTS)
def test_an_upgrade_that_loses_something_is_found(
    message: str, before: Changes, after: Changes
) -> None:
    old, new = Templates(), Templates()
    old.plant(before)
    new.plant(after)
    assert [text for text in texts(_problems(old, new)) if re.match(message, text)]


def test_the_report_says_what_changes() -> None:
    """The lines list what is added, changed in place, replaced and removed, by type.

    What refers to a replaced resource in a fixed property is replaced too.
    """
    subscription = {"TopicArn": {"Ref": "Named"}, "Protocol": "sqs"}
    subscribed = {"Type": "AWS::SNS::Subscription", "Properties": subscription}
    old, new = Templates(), Templates()
    for templates, name in ((old, "former"), (new, "later")):
        templates.plant({"Resources Named": _topic(name), "Resources Subscription": subscribed})
    new.plant(
        {
            "Resources NewQueue": _QUEUE,
            "JobsQueue VisibilityTimeout": 1200,
            "Resources RolloutAlarm": GONE,
        }
    )
    root, *_ = compare(old.build(), new.build())
    assert list(report([root])) == [
        "template.yaml:",
        "  added: 1",
        "    1 AWS::SQS::Queue: NewQueue",
        "  changed: 1",
        "    1 AWS::SQS::Queue: JobsQueue",
        "  replaced: 2",
        "    1 AWS::SNS::Subscription: Subscription",
        "    1 AWS::SNS::Topic: Named",
        "  removed: 1",
        "    1 AWS::CloudWatch::Alarm: RolloutAlarm",
    ]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit of small templates."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "template.yaml").write_text(
        "Parameters: {Size: {Type: String, Default: small}}\n"
        "Globals: {Function: {Environment: {Variables: {}}}}\n"
        "Resources:\n  Queue: {Type: AWS::SQS::Queue, Properties: {}}\n"
        "  Nested: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: stacks/one.yaml}}\n"
    )
    (tmp_path / "stacks" / "one.yaml").write_text("Resources: {Topic: {Type: AWS::SNS::Topic}}\n")
    for words in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=x", "-c", "user.email=x@y.example", "commit", "--quiet", "-m", "one"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def test_a_revision_is_read_with_its_nested_stacks(repository: Path, tmp_path: Path) -> None:
    (repository / "template.yaml").write_text("changed")
    target = tmp_path / "former"
    extract("HEAD", target, repository)
    former = Sources(target)
    assert former.read("stacks/one.yaml")["Resources"].keys() == {"Topic"}
    chosen = Templates().chosen
    assert known_parameters(former, chosen).parameters == {}


def test_the_newest_release_is_a_tag(repository: Path) -> None:
    assert newest_release(repository) is None
    for tag in ("v0.9.0", "v0.10.0"):
        subprocess.run(["git", "tag", tag], cwd=repository, check=True)
    assert newest_release(repository) == "v0.10.0"

"""The check of an upgrade finds what would lose data, a policy or a name."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.integration.templates.planting import ALARMS, RELAY, Templates, texts
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

type Plant = Callable[[Templates, Templates], object]

_PLANTS: Final[dict[str, tuple[Plant, str]]] = {}


def _plants(message: str) -> Callable[[Plant], Plant]:
    """Declare what the check must say about an upgrade; its name is the function's."""

    def declare(plant: Plant) -> Plant:
        _PLANTS[plant.__name__] = (plant, message)
        return plant

    return declare


def _problems(old: Templates, new: Templates) -> list[Defect]:
    former, stack = old.build(), new.build()
    return list(check_upgrade(former, stack, compare(former, stack)))


@_plants("Table: The upgrade replaces it")
def table_with_another_key(_old: Templates, new: Templates) -> None:
    new.properties("Table")["KeySchema"] = [{"AttributeName": "id", "KeyType": "HASH"}]


@_plants("JobsQueue: The upgrade replaces it")
def queue_with_a_name(_old: Templates, new: Templates) -> None:
    new.properties("JobsQueue")["QueueName"] = "jobs"


@_plants("SpoolBucket: The upgrade removes it")
def bucket_with_another_logical_id(_old: Templates, new: Templates) -> None:
    new.resources["MailBucket"] = new.resources.pop("SpoolBucket")


@_plants("SweepQueue: The upgrade removes it")
def queue_that_moves_to_a_nested_stack(_old: Templates, new: Templates) -> None:
    new.nested[RELAY]["Resources"]["SweepQueue"] = new.resources.pop("SweepQueue")


@_plants("Credentials: The upgrade removes it")
def table_with_a_condition_that_is_false(_old: Templates, new: Templates) -> None:
    new.root["Conditions"]["Never"] = {"Fn::Equals": [{"Ref": "Tracing"}, "never"]}
    new.resources["Credentials"]["Condition"] = "Never"


def _policy(*queues: str) -> dict[str, Any]:
    listed = [{"Ref": queue} for queue in queues]
    return {"Type": "AWS::SQS::QueuePolicy", "Properties": {"Queues": listed, "PolicyDocument": {}}}


@_plants("Held: Its policy moves from Both to Second. CloudFormation updates or deletes Both")
def policy_that_another_resource_takes_over(old: Templates, new: Templates) -> None:
    for templates in (old, new):
        templates.resources["Held"] = {"Type": "AWS::SQS::Queue"}
        templates.resources["Both"] = _policy("Held", "SweepQueue")
    new.resources["Both"] = _policy("SweepQueue")
    new.resources["Second"] = _policy("Held")


@_plants("Held: Its policy moves from First to Second")
def policy_with_another_logical_id(old: Templates, new: Templates) -> None:
    for templates in (old, new):
        templates.resources["Held"] = {"Type": "AWS::SQS::Queue"}
    old.resources["First"] = _policy("Held")
    new.resources["Second"] = _policy("Held")


@_plants("Held: It had a policy by First, and has none")
def policy_that_goes(old: Templates, new: Templates) -> None:
    for templates in (old, new):
        templates.resources["Held"] = {"Type": "AWS::SQS::Queue"}
    old.resources["First"] = _policy("Held")


@_plants("SendEmailRole: Its type changes from AWS::IAM::Role to AWS::SNS::Topic")
def resource_with_another_type(_old: Templates, new: Templates) -> None:
    new.resources["SendEmailRole"] = {"Type": "AWS::SNS::Topic", "Properties": {}}


def _topic(name: str, **properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": name, **properties}}


@_plants("Named: The upgrade replaces it, but its name fixed stays")
def replacement_with_the_same_name(old: Templates, new: Templates) -> None:
    for templates, is_ordered in ((old, False), (new, True)):
        templates.resources["Named"] = _topic("fixed", FifoTopic=is_ordered)


@_plants("Moved: It takes the name fixed from Named of template.yaml")
def name_that_moves_to_a_nested_stack(old: Templates, new: Templates) -> None:
    old.resources["Named"] = _topic("fixed")
    new.nested[ALARMS]["Resources"]["Moved"] = _topic("fixed")


@_plants(r"SendEmailAliaslive: Its resource policy has [\d,]+ bytes during the upgrade")
def permissions_that_do_not_fit_together(old: Templates, new: Templates) -> None:
    for templates, name in ((old, "Former"), (new, "Later")):
        for number in range(25):
            templates.resources[f"{name}{number}"] = {
                "Type": "AWS::Lambda::Permission",
                "Properties": {
                    "Action": "lambda:InvokeFunction",
                    "Principal": "apigateway.amazonaws.com",
                    "FunctionName": {"Ref": "SendEmailAliaslive"},
                    "SourceArn": {"Fn::Sub": "arn:aws:execute-api:x:x:${Api}/api/GET/x"},
                },
            }


@pytest.mark.parametrize("error", _PLANTS)
def test_an_upgrade_that_loses_something_is_found(error: str) -> None:
    """The check names what an upgrade would lose; without the change it finds nothing."""
    plant, message = _PLANTS[error]
    old, new = Templates(), Templates()
    assert not _problems(old, new)
    plant(old, new)
    assert [text for text in texts(_problems(old, new)) if re.match(message, text)]


def test_the_report_says_what_changes() -> None:
    """The lines list what is added, changed in place, replaced and removed, by type.

    What refers to a replaced resource in a fixed property is replaced too.
    """
    old, new = Templates(), Templates()
    new.resources["NewQueue"] = {"Type": "AWS::SQS::Queue"}
    new.properties("JobsQueue")["VisibilityTimeout"] = 1200
    for templates, name in ((old, "former"), (new, "later")):
        templates.resources["Named"] = _topic(name)
        subscription = {"TopicArn": {"Ref": "Named"}, "Protocol": "sqs"}
        templates.resources["Subscription"] = {
            "Type": "AWS::SNS::Subscription",
            "Properties": subscription,
        }
    del new.resources["RolloutAlarm"]
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
    """The templates of a revision are the committed ones, and so are its parameters."""
    (repository / "template.yaml").write_text("changed")
    target = tmp_path / "former"
    extract("HEAD", target, repository)
    former = Sources(target)
    assert former.read("stacks/one.yaml")["Resources"].keys() == {"Topic"}
    chosen = Templates().chosen
    assert known_parameters(former, chosen).parameters == {}


def test_the_newest_release_is_a_tag(repository: Path) -> None:
    """Without a tag there is no release; of several tags the highest version counts."""
    assert newest_release(repository) is None
    for tag in ("v0.9.0", "v0.10.0"):
        subprocess.run(["git", "tag", tag], cwd=repository, check=True)
    assert newest_release(repository) == "v0.10.0"

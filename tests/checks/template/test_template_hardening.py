"""The template provides encryption, alarms and limits."""

import re
from typing import Any, Final

from local import template
from tests.conditions import all_met
from tests.loops import for_each

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


@for_each("name", _of_type("AWS::DynamoDB::Table"))
def test_a_table_can_be_restored(name: str) -> None:
    table = _RESOURCES[name]["Properties"]
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["DeletionProtectionEnabled"] is True


@for_each("name", _QUEUES)
def test_queues_are_encrypted(name: str) -> None:
    assert _QUEUES[name]["SqsManagedSseEnabled"] is True


@for_each("name", [name for name in _QUEUES if name.endswith("DeadLetters")])
def test_dead_letters_raise_an_alarm(name: str) -> None:
    (alarm,) = (
        alarm
        for alarm in _ALARMS.values()
        if alarm.get("MetricName") == "ApproximateNumberOfMessagesVisible"
        and alarm["Dimensions"][0]["Value"] == {"Fn::GetAtt": [name, "QueueName"]}
    )
    assert (alarm["Threshold"], alarm["ComparisonOperator"]) == (0, "GreaterThanThreshold")


@for_each("name", _ALARMS)
def test_alarms_notify_the_topic(name: str) -> None:
    assert _ALARMS[name]["AlarmActions"] == [{"Ref": "AlarmTopic"}]
    assert _ALARMS[name]["AlarmDescription"]


def test_the_api_is_throttled() -> None:
    """All paths are throttled, so that a flood cannot use up the account's concurrency."""
    (setting,) = _RESOURCES["Api"]["Properties"]["MethodSettings"]
    assert (setting["ResourcePath"], setting["HttpMethod"]) == ("/*", "*")
    assert setting["ThrottlingRateLimit"] == {
        "Fn::FindInMap": ["Scales", {"Ref": "EmailsPerSecond"}, "Requests"]
    }


@for_each("name", _of_type("AWS::EC2::SecurityGroup"))
def test_ec2_accepts_the_descriptions_of_security_groups(name: str) -> None:
    """Descriptions have only the characters that EC2 accepts, so no apostrophe."""
    group = all_met(_of_type("AWS::EC2::SecurityGroup")[name])
    rules = group["SecurityGroupIngress"] + group["SecurityGroupEgress"]
    for description in (group["GroupDescription"], *(rule["Description"] for rule in rules)):
        assert re.fullmatch(r"[a-zA-Z0-9 ._:/()#,@\[\]+=&;{}!$*-]{1,255}", description)


def test_throttling_raises_an_alarm() -> None:
    table = _ALARMS["TableThrottledAlarm"]["Metrics"]
    metrics = [item["MetricStat"]["Metric"] for item in table if "MetricStat" in item]
    assert [metric["MetricName"] for metric in metrics] == [
        "ReadThrottleEvents",
        "WriteThrottleEvents",
    ]
    assert all(metric["Dimensions"][0]["Value"] == {"Ref": "Table"} for metric in metrics)
    functions = _ALARMS["FunctionsThrottledAlarm"]
    assert (functions["Namespace"], functions["MetricName"]) == ("AWS/Lambda", "Throttles")
    assert "Dimensions" not in functions
    share, requests = _ALARMS["ApiThrottledAlarm"]["Metrics"]
    expression, values = share["Expression"]["Fn::Sub"]
    assert expression == "requests / 60 / ${RequestsPerSecond}"
    assert values["RequestsPerSecond"]["Fn::FindInMap"][2] == "Requests"
    assert requests["MetricStat"]["Period"] == 60
    assert _ALARMS["ApiThrottledAlarm"]["Threshold"] < 1

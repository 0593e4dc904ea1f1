"""Each error that the checks of the templates are for, planted in the project's own templates."""

import re
from functools import cache
from typing import Any, Final

import pytest

from tests.integration.templates.planting import GONE, Templates, texts


def _of(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def _topic(**properties: Any) -> dict[str, Any]:
    """Return a topic, which needs no other resource."""
    return _of("SNS::Topic", **properties)


def _many(path: str, count: int, value: Any) -> dict[str, Any]:
    return {f"{path}{number}": value for number in range(count)}


_TABLE: Final = "SendEmail Environment Variables PILLARBOX_TABLE"
#: A resource that does not exist with these parameters.
_ABSENT: Final = {
    "Conditions Never": {"Fn::Equals": [{"Ref": "Tracing"}, "never"]},
    "Resources Absent": _topic() | {"Condition": "Never"},
}
_NAMES_ABSENT: Final = "It names Absent, which does not exist if Never is false"
_STATEMENTS: Final = "SendEmailRole Policies 0 PolicyDocument Statement"
_SEND: Final = {"Effect": "Allow", "Action": "sqs:SendMessage"}
_PERMISSION: Final = _of(
    "Lambda::Permission",
    Action="lambda:InvokeFunction",
    Principal="apigateway.amazonaws.com",
    FunctionName={"Ref": "SendEmailAliaslive"},
    SourceArn={"Fn::Sub": "arn:${AWS::Partition}:execute-api:x:x:${Api}/api/GET/x"},
)
_MAPPING: Final = {
    "FunctionName": {"Ref": "DeliverMessageAliaslive"},
    "EventSourceArn": {"Fn::GetAtt": ["JobsQueue", "Arn"]},
}
_STREAM: Final = _MAPPING | {
    "EventSourceArn": {"Fn::GetAtt": ["Table", "StreamArn"]},
    "StartingPosition": "LATEST",
}
_ALARM: Final = _of(
    "CloudWatch::Alarm",
    AlarmActions=[{"Ref": "AlarmTopic"}],
    Namespace="Pillarbox",
    MetricName="lost",
    Dimensions=[{"Name": "service", "Value": "mail"}],
    EvaluationPeriods=1,
    ComparisonOperator="GreaterThanThreshold",
)
_BOARD: Final = (
    '{"widgets": [{"properties": {"metrics": [["AWS/SQS", "Sent", "QueueName", "x"],'
    ' ["Pillarbox", "found", "service", "${AWS::StackName}"], [".", "lost", ".", "mail"]]}}]}'
)

#: What the checks must say, and what is planted.
_PLANTS: Final[dict[str, dict[str, Any]]] = {
    r"need each other; the shortest circle is .*Edge -> Api -> .*MailCode|MailCode -> Edge": {
        "MailCode Environment Variables URL": {"Fn::Sub": "https://${Edge.DomainName}"}
    },
    r"shortest circle is (Table -> TableReader|TableReader -> Table)": {
        "Resources TableReader": _topic(TopicName={"Ref": "Table"}),
        "Resources Table DependsOn": "TableReader",
    },
    r"shortest circle is (Relay -> Table|Table -> Relay)": {
        "Table Tags": [{"Value": {"Fn::GetAtt": ["Relay", "Outputs.RelayAddress"]}}]
    },
    f"SendEmail: {_NAMES_ABSENT}": _ABSENT | {_TABLE: {"Ref": "Absent"}},
    f"First: {_NAMES_ABSENT}": _ABSENT
    | {"Resources First": _topic(TopicName={"Fn::Sub": "topic/${Absent.TopicName}"})},
    f"RecordFeedback: {_NAMES_ABSENT}": _ABSENT
    | {"Resources RecordFeedback DependsOn": ["Table", "Absent"]},
    f"Address: {_NAMES_ABSENT}": _ABSENT | {"Outputs Address": {"Value": {"Ref": "Absent"}}},
    "SendEmail: It names Tabel, which is not declared": {_TABLE: {"Ref": "Tabel"}},
    "SendEmail: It reads Table.Url, but AWS::DynamoDB::Table has no such attribute": {
        _TABLE: {"Fn::GetAtt": ["Table", "Url"]}
    },
    "DeliverMessageJobs: It has no FunctionName": {"DeliverMessageJobs FunctionName": GONE},
    "SendEmailAliaslive: It names SendEmail, which is not declared": {"Resources SendEmail": GONE},
    "SendEmail: The condition WithTable is not declared": {
        _TABLE: {"Fn::If": ["WithTable", {"Ref": "Table"}, ""]}
    },
    "SendEmail: The mapping Sizes / small / Memory is not declared": {
        "SendEmail MemorySize": {"Fn::FindInMap": ["Sizes", {"Ref": "RelaySize"}, "Memory"]}
    },
    "RelayAddress: It reads Relay.Outputs.Host, which stacks/relay.yaml does not give": {
        "Outputs RelayAddress Value": {"Fn::GetAtt": ["Relay", "Outputs.Host"]}
    },
    "Relay: It passes Colour, which stacks/relay.yaml does not declare": {
        "Relay Parameters Colour": "red"
    },
    "TableArn: It has neither a value nor a default": {"Relay Parameters TableArn": GONE},
    "Relay: It passes TableArn, which is not a text": {
        "Relay Parameters TableArn": [{"Ref": "Table"}]
    },
    "FrontFirewallAssociation: WebACLArn gets JobsQueue, which is not an ARN": {
        "Relay Parameters FrontFirewall": {"Ref": "JobsQueue"}
    },
    "Names: Its value is not a text": {
        "Resources Zone": _of("Route53::HostedZone", Name="mail.example"),
        "Outputs Names": {"Value": {"Fn::GetAtt": ["Zone", "NameServers"]}},
    },
    "Relay: none.yaml is missing": {"Relay TemplateURL": "stacks/none.yaml"},
    r"Resources: It has \d+ resources, more than 400": _many("Resources Topic", 401, _topic()),
    r"Parameters: It has \d+ parameters, more than 200": _many(
        "Parameters Extra", 201, {"Type": "String", "Default": ""}
    ),
    r"Outputs: It has \d+ outputs, more than 200": _many("Outputs Extra", 201, {"Value": "x"}),
    r"template: It has [\d,]+ bytes, more than 1,000,000": {
        "Resources Large": _topic(DisplayName="x" * 900_000)
    },
    r"template: It has \d+ dynamic references": {
        "Resources Secrets": _topic(DisplayName="{{resolve:secretsmanager:x}}" * 61)
    },
    "Description: It has 1,025 bytes": {"Description": "x" * 1025},
    r"Api: It has [3-9]\d\d resources of the API": _many("Api Body paths /v1/extra", 300, {}),
    r"Api: /v1/emails has the variables {\w+} and {\w+} below it": {
        "Api Body paths /v1/emails/{key}/again": {}
    },
    "Api: It calls SendEmailAliaslive, but apigateway.amazonaws.com has no permission": {
        "Resources SendEmailFromApi": GONE
    },
    "SweepMessagesHourly: It calls .*, but events.amazonaws.com has no permission": {
        "Resources SweepMessagesHourlyPermission": GONE
    },
    r"SendEmailAliaslive: Its resource policy has [\d,]+ bytes, more than 16,384": _many(
        "Resources Permission", 60, _PERMISSION
    ),
    r"SendEmailRole: It has [\d,]+ characters of inline policies, more than 10,240": {
        _STATEMENTS: [_SEND | {"Resource": ["arn:aws:sqs:us-east-1:123456789012:queue"] * 240}]
    },
    r"SendEmailRole: Statement \d+ of .* has no Resource": {
        _STATEMENTS: [_SEND | {"Resource": [{"Fn::If": ["WithRelay", {"Ref": "AWS::NoValue"}, 1]}]}]
    },
    r"SendEmail: It has [\d,]+ bytes of variables, more than 4,096": {_TABLE: "x" * 4000},
    "JobsQueue: .*Policy and .*Policy each write its policy": {
        "Resources SecondPolicy": _of(
            "SQS::QueuePolicy", Queues=[{"Ref": "JobsQueue"}], PolicyDocument={}
        )
    },
    "SpoolBucket: .*Policy and .*Policy each write its policy": {
        "Resources SecondPolicy": _of(
            "S3::BucketPolicy", Bucket={"Ref": "SpoolBucket"}, PolicyDocument={}
        )
    },
    r"JobsQueue: It hides a message for \d+ s; DeliverMessage needs 1350 s": {
        "DeliverMessage Timeout": 900
    },
    "DeliverMessage: It may run 800 times of the account's 1000": {"DeliveryConcurrency": "400"},
    r"Resources: Workers may use [89]\d\d functions \(.*DeliverMessage 400.*, more than 800": {
        "DeliveryConcurrency": "200",
        "WebhookConcurrency": "300",
    },
    "JobsNew: Its queue may take every function of the account": {
        "Resources JobsNew": _of("Lambda::EventSourceMapping", **_MAPPING)
    },
    "Resources: DeliverMessage and .* reserve .* 100 must stay unreserved": {
        "DeliveryReserve": "895"
    },
    "ThirdReader: It is one of 3 readers of a stream, which allows 2": {
        "Resources ThirdReader": _of("Lambda::EventSourceMapping", **_STREAM)
    },
    "DeliverMessageJobs: The function's role may not .*sqs:ReceiveMessage": {
        "DeliverMessageRole Policies 0 PolicyDocument Statement": []
    },
    "EdgeRoute2: It has 10,241 bytes of code, more than 10,240": {
        "Resources EdgeRoute2": _of(
            "CloudFront::Function", FunctionCode="x" * 10_241, Name="second", FunctionConfig={}
        )
    },
    "LostAlarm: The dimension service of lost is not the stack": {"Resources LostAlarm": _ALARM},
    "Board: The dimension service of lost is not the stack": {
        "Resources Board": _of("CloudWatch::Dashboard", DashboardBody={"Fn::Sub": _BOARD})
    },
    "JobsDeadAlarm: It has no action": {"stacks/alarms.yaml:JobsDeadAlarm AlarmActions": GONE},
    "Second: It has the name same, and so has First": {
        "Resources First": _topic(TopicName="same"),
        "Resources Second": _topic(TopicName="same"),
    },
    "RelayTopic: It has the name same, and so has First": {
        "Resources First": _topic(TopicName="same"),
        "stacks/relay.yaml:Resources RelayTopic": _topic(TopicName="same"),
    },
    "Firewall: It is 'blocking', which is not one of": {"Firewall": "blocking"},
    "RelaySize: It is 'huge', which does not match": {
        "stacks/relay.yaml:Parameters RelaySize AllowedPattern": "small|large",
        "Relay Parameters RelaySize": "huge",
    },
    "RelayTasks: It is 11, which is not between 1 and 10": {"RelayTasks": "11"},
    "RelayTasks: It is 'few', which is not a number": {"RelayTasks": "few"},
    "SignUpDomains: It has more than 4,096 bytes": {"SignUpDomains": "x" * 4097},
    "Colour: A set of parameters has it, but the template does not declare it": {"Colour": "red"},
    "DomainHasItsCertificate: It refuses the parameters: ApiDomain requires ApiCertificate": {
        "ApiCertificate": ""
    },
}


@pytest.mark.parametrize(("message", "changes"), _PLANTS.items())
def test_a_planted_error_is_found(message: str, changes: dict[str, Any]) -> None:
    """The checks name each error with its resource, and the templates are free of it without."""
    templates = Templates()
    templates.plant(changes)
    found = texts(templates.problems())
    assert [text for text in found - _found_without() if re.search(message, text)]


@cache
def _found_without() -> set[str]:
    return texts(Templates().problems())

"""Each error that the checks of the templates are for, planted in the project's own templates."""

import re
from dataclasses import replace
from functools import cache
from typing import Any, Final

import pytest
from cfnlint.rules import Rules

from tests.integration.templates.planting import ALL, GONE, Templates, texts
from tests.loops import for_each
from tools.templates import lint

_ALL_RULES: Final = lint._rules


def _of(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def _topic(**properties: Any) -> dict[str, Any]:
    return _of("SNS::Topic", **properties)


def _firewall(group: str, *counted: str) -> list[Any]:
    """Return the rules of a firewall: a group of AWS, of which some rules only count."""
    overrides = [{"Name": rule, "ActionToUse": {"Count": {}}} for rule in counted]
    statement = {"VendorName": "AWS", "Name": group, "RuleActionOverrides": overrides}
    return [{"Name": "group", "Statement": {"ManagedRuleGroupStatement": statement}}]


def _many(path: str, count: int, value: Any) -> dict[str, Any]:
    return {f"{path}{number}": value for number in range(count)}


_TABLE: Final = "SendEmail Environment Variables PILLARBOX_TABLE"
_TRUST: Final = "AssumeRolePolicyDocument Statement 0 Condition"
_BEHAVIOR: Final = "Edge DistributionConfig DefaultCacheBehavior"
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
    "DeliverMessageJobs: It has no FunctionName": {"DeliverMessageJobs FunctionName": GONE},
    "SendEmail: The condition WithTable is not declared": {
        _TABLE: {"Fn::If": ["WithTable", {"Ref": "Table"}, ""]}
    },
    "SendEmail: The mapping Sizes / on / Memory is not declared": {
        "SendEmail MemorySize": {"Fn::FindInMap": ["Sizes", {"Ref": "Webhooks"}, "Memory"]}
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
    r"template: It has [\d,]+ bytes, more than 1,000,000": {
        "Resources Large": _topic(DisplayName="x" * 900_000)
    },
    r"template: It has \d+ dynamic references": {
        "Resources Secrets": _topic(DisplayName="{{resolve:secretsmanager:x}}" * 61)
    },
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
    "DeliverMessage: It may run 800 times of the account's 1000": {
        f"DeliverMessage{name} ScalingConfig": {"MaximumConcurrency": 400}
        for name in ("Jobs", "UrgentJobs")
    },
    r"Resources: Workers may use [89]\d\d functions \(.*DeliverMessage 400.*, more than 800": {
        f"{name} ScalingConfig": {"MaximumConcurrency": most}
        for name, most in (
            ("DeliverMessageJobs", 200),
            ("DeliverMessageUrgentJobs", 200),
            ("PostWebhooksTasks", 400),
        )
    },
    "JobsNew: Its queue may take every function of the account": {
        "Resources JobsNew": _of("Lambda::EventSourceMapping", **_MAPPING)
    },
    "Resources: DeliverMessage and .* reserve .* 100 must stay unreserved": {
        "DeliverMessage ReservedConcurrentExecutions": 895
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
    "RelayRole: Condition has aws:SourceAccountId, which AWS": {
        f"stacks/relay.yaml:RelayRole {_TRUST} StringEquals": {"aws:SourceAccountId": "1"}
    },
    "ErrorPagesPolicy: Condition has aws:SourceARNs, which AWS": {
        "ErrorPagesPolicy PolicyDocument Statement 1 Condition StringEquals": {"aws:SourceARNs": ""}
    },
    "SendEmailRole: Condition has dynamodb:LeadingKey, which AWS": {
        _STATEMENTS: [
            _SEND | {"Resource": "*", "Condition": {"StringLike": {"dynamodb:LeadingKey": ["a"]}}}
        ]
    },
    "Edge: CachePolicyId has 4135ea2d-6df8-44a3-9df3-4b5a84be39ae, which AWS": {
        f"{_BEHAVIOR} CachePolicyId": "4135ea2d-6df8-44a3-9df3-4b5a84be39ae"
    },
    "Edge: OriginRequestPolicyId has 4135ea2d-6df8-44a3-9df3-4b5a84be39ad, which AWS": {
        f"{_BEHAVIOR} OriginRequestPolicyId": "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
    },
    "Edge: ResponseHeadersPolicyId has x, which AWS": {f"{_BEHAVIOR} ResponseHeadersPolicyId": "x"},
    "EventDestination: MatchingEventTypes has rendering_failure, which AWS": {
        "EventDestination EventDestination MatchingEventTypes": ["send", "rendering_failure"]
    },
    "ApiFirewall: ManagedRuleGroupStatement has GenericLFI_BODIES, which AWS": {
        "stacks/edge.yaml:ApiFirewall Rules": _firewall(
            "AWSManagedRulesCommonRuleSet", "GenericLFI_BODY", "GenericLFI_BODIES"
        )
    },
    "ApiFirewall: ManagedRuleGroupStatement has AWSManagedRulesCommon, which AWS": {
        "stacks/edge.yaml:ApiFirewall Rules": _firewall("AWSManagedRulesCommon")
    },
    "BounceRateAlarm: AWS has no metric AWS/SES Reputation.BounceRates": {
        "stacks/alarms.yaml:BounceRateAlarm MetricName": "Reputation.BounceRates"
    },
    "AnnouncementsBehindAlarm: AWS has no metric AWS/Lambda IteratorAgeMs FunctionName": {
        "stacks/alarms.yaml:AnnouncementsBehindAlarm MetricName": "IteratorAgeMs"
    },
    "JobsDeadAlarm: AWS has no metric AWS/SQS ApproximateNumberOfMessagesVisible Queue": {
        "stacks/alarms.yaml:JobsDeadAlarm Dimensions": [{"Name": "Queue", "Value": "x"}]
    },
    "ServerErrorsAlarm: AWS has no metric AWS/ApiGateway 5xxError ApiName": {
        "stacks/alarms.yaml:ServerErrorsAlarm Metrics 1 MetricStat Metric MetricName": "5xxError"
    },
    "Board: AWS has no metric AWS/SQS Sent QueueName": {
        "Resources Board": _of("CloudWatch::Dashboard", DashboardBody={"Fn::Sub": _BOARD})
    },
    "RelayRouteOut: It does not wait for RelayGatewayAttachment": {
        "stacks/relay.yaml:Resources RelayRouteOut DependsOn": GONE
    },
    "RelayBalancer: It does not wait for RelayGatewayAttachment": {
        "stacks/relay.yaml:Resources RelayBalancer DependsOn": GONE
    },
    "FrontSubnetA: It does not wait for FrontBlock": {
        "stacks/relay.yaml:Resources FrontSubnetA DependsOn": GONE
    },
    "RelayService: It does not wait for RelayRouteOut": {
        "stacks/relay.yaml:Resources RelayService DependsOn": ["RelayListener"]
    },
    "RelayService: It does not wait for FrontListener": {"stacks/relay.yaml:RelayService Tags": []},
    "AnnounceEventsChanges: It begins at LATEST": {
        "AnnounceEventsChanges StartingPosition": "LATEST"
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
    "RelayName: It is 'huge', which does not match": {
        "stacks/relay.yaml:Parameters RelayName AllowedPattern": "small|large",
        "Relay Parameters RelayName": "huge",
    },
    "RelayTasks: It is 11, which is not between 1 and 10": {"RelayTasks": "11"},
    "RelayTasks: It is 'few', which is not a number": {"RelayTasks": "few"},
    "SignUpDomains: It has more than 4,096 bytes": {"SignUpDomains": "x" * 4097},
    "Colour: A set of parameters has it, but the template does not declare it": {"Colour": "red"},
    "DomainHasItsCertificate: It refuses the parameters: ApiDomain requires ApiCertificate": {
        "ApiCertificate": ""
    },
}


@for_each(("message", "changes"), _PLANTS.items())
def test_a_planted_error_is_found(message: str, changes: dict[str, Any]) -> None:
    templates = Templates()
    templates.plant(changes)
    found = texts(templates.problems())
    assert [text for text in found - _found_without() if re.search(message, text)]


def test_a_longer_name_of_the_stack_is_found() -> None:
    for characters, found in ((34, False), (35, True)):
        templates = Templates()
        templates.chosen = replace(ALL, stack="x" * characters, region="ap-southeast-2")
        too_long = [text for text in texts(templates.problems()) if "characters, more than" in text]
        assert bool(too_long) is found


#: What cfn-lint must say, which knows conditions, parameters and nested stacks by itself.
_LINTED: Final[dict[str, dict[str, Any]]] = {
    r"Resources/MailCode: Circular Dependencies.* \[Edge\]": {
        "MailCode Environment Variables URL": {"Fn::Sub": "https://${Edge.DomainName}"}
    },
    r"Resources/Table: Circular Dependencies.* \[TableReader\]": {
        "Resources TableReader": _topic(TopicName={"Ref": "Table"}),
        "Resources Table DependsOn": "TableReader",
    },
    r"Resources/Table: Circular Dependencies.* \[Relay\]": {
        "Table Tags": [{"Value": {"Fn::GetAtt": ["Relay", "Outputs.RelayAddress"]}}]
    },
}


@pytest.mark.parametrize(("message", "changes"), _LINTED.items())
def test_cfn_lint_finds_circles(
    message: str, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resources that need each other are found, by its rule alone: all rules take seconds."""
    monkeypatch.setattr(lint, "_rules", lambda: Rules({"E3004": _ALL_RULES()["E3004"]}))
    templates = Templates()
    templates.plant(changes)
    assert [text for text in texts(lint.check_lint(templates.build())) if re.search(message, text)]


@cache
def _found_without() -> set[str]:
    return texts(Templates().problems())

"""What costs money without any mail is off, unless an operator turns it on."""

import json
from typing import Any, Final

from local import template
from pillarbox.consumer import METRICS
from tests.conditions import conditions
from tests.loops import for_each

_SOURCE: Final = template.inlined(template.load())
_RESOURCES: Final[dict[str, Any]] = _SOURCE["Resources"]


def _condition(name: str) -> Any:
    return _SOURCE["Conditions"][name]


def test_the_firewall_is_optional() -> None:
    """Without `Firewall` no web ACL exists, and nothing refers to one."""
    assert _SOURCE["Parameters"]["Firewall"]["Default"] == "none"
    assert conditions(_RESOURCES, "AWS::WAFv2::") == {
        "ApiFirewall": "WithFirewall",
        "FirewallAssociation": "WithFirewall",
        "EdgeFirewall": "WithEdgeFirewall",
        "FrontFirewall": "WithFrontFirewall",
        "FrontFirewallAssociation": "WithFrontFirewall",
    }
    assert _condition("WithFirewall") == {
        "Fn::Not": [{"Fn::Equals": [{"Ref": "Firewall"}, "none"]}]
    }


def test_basic_has_no_managed_rules() -> None:
    """AWS's rule sets come only with `Firewall: managed`, and so does the edge's firewall."""
    assert _condition("WithManagedRules") == {"Fn::Equals": [{"Ref": "Firewall"}, "managed"]}
    rules: dict[str, str | None] = {}
    for rule in _RESOURCES["ApiFirewall"]["Properties"]["Rules"]:
        condition, content, nothing = rule.get("Fn::If", [None, rule, {"Ref": "AWS::NoValue"}])
        assert nothing == {"Ref": "AWS::NoValue"}
        rules[content["Name"]] = condition
        managed = "ManagedRuleGroupStatement" in content["Statement"]
        assert managed == (condition in {"WithManagedRules", "WithReputationAtApi"})
    assert rules == {
        "edge-only": "WithEdge",
        "address-rate": None,
        "key-rate": None,
        "common": "WithManagedRules",
        "known-bad-inputs": "WithManagedRules",
        "reputation": "WithReputationAtApi",
    }
    for name in ("WithEdgeFirewall", "WithReputationAtApi"):
        assert {"Condition": "WithManagedRules"} in _condition(name)["Fn::And"]


#: Each of these notices that mail is lost or late, or that requests fail, or that SES may stop.
_ESSENTIAL: Final = {
    "ApiThrottledAlarm",
    "BounceRateAlarm",
    "ComplaintRateAlarm",
    "EventsDeadAlarm",
    "FunctionsThrottledAlarm",
    "JobsDeadAlarm",
    "JobsBehindAlarm",
    "OverdueAlarm",
    "RolloutAlarm",
    "TableThrottledAlarm",
    "UrgentJobsBehindAlarm",
}


def test_alarms_of_detail_are_optional() -> None:
    """Each alarm costs by the month, so by default only the essential ones exist."""
    alarms = {
        name: resource.get("Condition")
        for name, resource in _RESOURCES.items()
        if resource["Type"] == "AWS::CloudWatch::Alarm" and name != "FrontErrorsAlarm"
    }
    assert {name for name, condition in alarms.items() if condition is None} == _ESSENTIAL
    assert {alarms[name] for name in alarms.keys() - _ESSENTIAL} == {"WithAllAlarms"}
    assert _condition("WithAllAlarms") == {"Fn::Equals": [{"Ref": "AlarmSet"}, "all"]}
    assert _SOURCE["Parameters"]["AlarmSet"]["Default"] == "essential"
    assert _RESOURCES["Dashboard"]["Condition"] == "WithAllAlarms"


@for_each("table", ["Table", "Credentials"])
def test_tables_have_a_key_that_costs_nothing(table: str) -> None:
    """DynamoDB encrypts them with its own key, and the property stays, as an update needs it."""
    assert _RESOURCES[table]["Properties"]["SSESpecification"] == {"SSEEnabled": False}


def test_each_metric_is_shown_by_an_alarm_or_the_dashboard() -> None:
    """The functions emit the metrics that something shows, and no alarm waits for another one."""
    alarms = [r["Properties"] for r in _RESOURCES.values() if r["Type"] == "AWS::CloudWatch::Alarm"]
    measured = [
        part["MetricStat"]["Metric"]
        for alarm in alarms
        for part in alarm.get("Metrics", [])
        if "MetricStat" in part
    ]
    shown = {
        metric["MetricName"]
        for metric in [*alarms, *measured]
        if metric.get("Namespace") == "Pillarbox"
    }
    board = json.loads(_RESOURCES["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"])
    for widget in board["widgets"]:
        namespace = ""
        for metric in widget["properties"]["metrics"]:
            namespace = namespace if metric[0] in {".", "..."} else metric[0]
            if namespace == "Pillarbox" and metric[0] != "...":
                shown.add(metric[1])
    assert shown == METRICS


def test_webhooks_can_be_switched_off() -> None:
    """Without them Lambda polls no queue and no stream for them, and no timer runs."""
    assert _SOURCE["Parameters"]["Webhooks"]["Default"] == "on"
    assert _condition("WithWebhooks") == {"Fn::Equals": [{"Ref": "Webhooks"}, "on"]}
    sources = {
        f"{function}.{name}": event["Properties"]
        for function, resource in _SOURCE["Resources"].items()
        if resource["Type"] == "AWS::Serverless::Function"
        for name, event in resource["Properties"].get("Events", {}).items()
    }
    switch = {"Fn::If": ["WithWebhooks", True, False]}
    switched = {name for name, properties in sources.items() if properties.get("Enabled") == switch}
    assert switched == {"AnnounceEvents.Changes", "PostWebhooks.Tasks"}
    # SAM takes any text for true in `Enabled` of a schedule, and passes `State` on.
    timer = sources["EnqueueDue.EachMinute"]
    assert timer["State"] == {"Fn::If": ["WithWebhooks", "ENABLED", "DISABLED"]}
    assert "Enabled" not in timer
    variables = _SOURCE["Resources"]["WriteWebhooks"]["Properties"]["Environment"]["Variables"]
    assert variables["PILLARBOX_WEBHOOKS"] == {"Ref": "Webhooks"}


def test_traces_are_off() -> None:
    """X-Ray traces nothing unless `Tracing` is on."""
    assert _SOURCE["Parameters"]["Tracing"]["Default"] == "off"
    assert _condition("WithTracing") == {"Fn::Equals": [{"Ref": "Tracing"}, "on"]}
    tracing = _SOURCE["Globals"]["Function"]["Tracing"]
    assert tracing == {"Fn::If": ["WithTracing", "Active", "PassThrough"]}
    enabled = _RESOURCES["Api"]["Properties"]["TracingEnabled"]
    assert enabled == {"Fn::If": ["WithTracing", True, False]}


def test_the_gateway_has_no_metrics_of_each_method() -> None:
    """The API's own metrics are free, and no alarm uses those of a method."""
    (setting,) = _RESOURCES["Api"]["Properties"]["MethodSettings"]
    assert setting["MetricsEnabled"] is False


@for_each(
    ("level", "name"),
    [("DEBUG", "DEBUG"), ("INFO", "INFO"), ("WARNING", "WARN"), ("ERROR", "ERROR")],
)
def test_lambda_keeps_the_lines_of_the_log_level(level: str, name: str) -> None:
    """Lambda drops what is below its own level (INFO by default), so it has the same one."""
    assert _SOURCE["Mappings"]["LambdaLogLevels"][level] == {"Name": name}
    assert level in _SOURCE["Parameters"]["LogLevel"]["AllowedValues"]
    assert _SOURCE["Globals"]["Function"]["LoggingConfig"]["ApplicationLogLevel"] == {
        "Fn::FindInMap": ["LambdaLogLevels", {"Ref": "LogLevel"}, "Name"]
    }

"""What costs money without any mail is off, unless an operator turns it on."""

from typing import Final

from local import template
from pillarbox.consumer import METRICS
from tests.deployed import of_type, properties, resources
from tests.loops import for_each
from tools.templates.services import listed, measured

_SOURCE: Final = template.load()


@for_each(
    ("chosen", "firewalls"),
    [
        ("prod", set[str]()),
        ("basic", {"ApiFirewall", "FirewallAssociation"}),
        ("managed", {"ApiFirewall", "FirewallAssociation", "EdgeFirewall"}),
        ("europe", {"ApiFirewall", "FirewallAssociation"}),
        (
            "everything",
            {
                *("ApiFirewall", "FirewallAssociation", "EdgeFirewall"),
                *("FrontFirewall", "FrontFirewallAssociation"),
            },
        ),
    ],
)
def test_the_firewall_is_optional(chosen: str, firewalls: set[str]) -> None:
    """By default no web ACL exists; CloudFront's exists with managed rules, in us-east-1 only."""
    assert of_type("AWS::WAFv2::", chosen).keys() == firewalls


@for_each(
    ("chosen", "rules"),
    [
        ("basic", ["edge-only", "address-rate", "key-rate"]),
        ("managed", ["edge-only", "address-rate", "key-rate", "common", "known-bad-inputs"]),
        (
            "no-edge-managed",
            ["address-rate", "key-rate", "common", "known-bad-inputs", "reputation"],
        ),
    ],
)
def test_rules_follow_from_firewall_and_edge(chosen: str, rules: list[str]) -> None:
    """AWS's rule sets come only with `Firewall: managed`.

    Without an edge callers have no secret, and only then the stage sees whose address it is.
    """
    found = properties("ApiFirewall", chosen)["Rules"]
    assert [rule["Name"] for rule in found] == rules
    for rule in found:
        managed = "ManagedRuleGroupStatement" in rule["Statement"]
        assert managed == (rule["Name"] in {"common", "known-bad-inputs", "reputation"})


#: Each of these notices that mail is lost or late, or that requests fail, or that SES may stop.
_ESSENTIAL: Final = {
    "ApiThrottledAlarm",
    "BounceRateAlarm",
    "ComplaintRateAlarm",
    "EventsDeadAlarm",
    "FunctionsThrottledAlarm",
    "JobsDeadAlarm",
    "JobsBehindAlarm",
    "LateAlarm",
    "OverdueAlarm",
    "ServerErrorsAlarm",
    "UrgentJobsBehindAlarm",
}


def test_alarms_of_detail_are_optional() -> None:
    """Each alarm and dashboard costs by the month, so by default only the essential ones exist."""
    assert of_type("AWS::CloudWatch::", "prod").keys() == _ESSENTIAL
    assert of_type("AWS::CloudWatch::", "all-alarms").keys() > {*_ESSENTIAL, "Dashboard"}
    assert "RolloutAlarm" in of_type("AWS::CloudWatch::", "production")


@for_each("table", ["Table", "Credentials"])
def test_tables_have_a_key_that_costs_nothing(table: str) -> None:
    """DynamoDB encrypts them with its own key, and the property stays, as an update needs it."""
    assert properties(table, "prod")["SSESpecification"] == {"SSEEnabled": False}


def test_each_metric_is_shown_by_an_alarm_or_the_dashboard() -> None:
    alarms = of_type("AWS::CloudWatch::Alarm", "everything").values()
    board = properties("Dashboard", "everything")["DashboardBody"]
    shown = [metric[:2] for alarm in alarms for metric in measured(alarm)]
    shown += [(metric[0], metric[1]) for metric in listed(board)]
    assert {name for namespace, name in shown if namespace == "Pillarbox"} == METRICS


@for_each(("chosen", "is_on"), [("prod", True), ("no-webhooks", False)])
def test_webhooks_can_be_switched_off(chosen: str, *, is_on: bool) -> None:
    """Without them Lambda polls no queue and no stream for them; the timer stays."""
    sources = {
        f"{function}.{name}": event["Properties"]
        for function, found in of_type("AWS::Serverless::Function", chosen).items()
        for name, event in found.get("Events", {}).items()
    }
    switched = {name: it["Enabled"] for name, it in sources.items() if "Enabled" in it}
    # The first domain that receives enables the queue of received mail.
    received = {"ReceiveEmail.Received": False}
    assert switched == received | {"AnnounceEvents.Changes": is_on, "PostWebhooks.Tasks": is_on}
    assert sources["EnqueueDue.EachMinute"] == {"Schedule": "rate(1 minute)"}
    assert ("WebhooksBehindAlarm" in resources(chosen, AlarmSet="all")) is is_on
    for function in ("WriteWebhooks", "EnqueueDue", "Operate"):
        variables = properties(function, chosen)["Environment"]["Variables"]
        assert variables["PILLARBOX_WEBHOOKS"] == ("on" if is_on else "off")


def test_the_gateway_has_no_metrics_of_each_method() -> None:
    (setting,) = properties("Api", "prod")["MethodSettings"]
    assert setting["MetricsEnabled"] is False


def test_lambda_drops_no_line_of_metrics() -> None:
    """It drops what is below its own level, and a line without a level counts as INFO.

    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
    """
    assert _SOURCE["Globals"]["Function"]["LoggingConfig"]["ApplicationLogLevel"] == "INFO"

"""The adapters of the doctor: SES, the table, CloudWatch, the API and the relay."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import boto3
import pytest

from admin.aws.cloudwatch import CloudWatchMonitoring
from admin.aws.readings import read_certificate_expiry, read_protection, read_shares
from admin.use_cases.ports import TableProtectionState
from local.ses.store import EVENT_TYPES, MailStore
from pillarbox import wiring
from pillarbox.adapters.aws import make_client
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.management_api import HttpApiProbe
from pillarbox.adapters.ses.account import SesAccount
from pillarbox.adapters.sqs.event_queue import SqsQueueAges
from pillarbox.application.operator.ports import ConfigurationSet
from pillarbox.domain.errors import ServiceError
from tests.integration.admin.aws_stubs import Stubs
from tests.integration.admin.conftest import create_stack
from tests.integration.admin.stand_in_servers import Api, relay
from tests.servers import running, serving

ALARM: Final[dict[str, Any]] = {
    "Namespace": "A",
    "MetricName": "b",
    "Statistic": "Sum",
    "Period": 60,
    "EvaluationPeriods": 1,
    "Threshold": 1.0,
    "ComparisonOperator": "GreaterThanThreshold",
}


def test_ses_returns_status_and_configuration_sets(
    ses: tuple[str, MailStore], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert table.name
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", ses[0])
    account = SesAccount(wiring.utc_now)
    status = account.sending_status()
    assert (status.sandbox, status.sending, status.enforcement) == (False, True, "HEALTHY")
    assert (status.daily_quota, status.sent_last_24_hours, status.max_rate) == (
        50_000.0,
        0.0,
        14.0,
    )
    assert status.provider_time is not None
    assert abs(status.provider_time - status.local_time) < timedelta(seconds=30)
    assert account.configuration_set("set") is None
    ses[1].create_configuration_set("set")
    assert status.suppresses == {"BOUNCE", "COMPLAINT"}
    assert account.configuration_set("set") == ConfigurationSet(sending=True, published=EVENT_TYPES)
    ses[1].configuration_sets["set"].suppression.reasons = ("BOUNCE",)
    named = account.configuration_set("set")
    assert named is not None
    assert named.suppresses == frozenset({"BOUNCE"})
    ses[1].configuration_sets["set"].event_destinations["events"] = {
        "Enabled": False,
        "MatchingEventTypes": ["SEND"],
        "EventBridgeDestination": {"EventBusArn": "arn"},
    }
    configuration_set = account.configuration_set("set")
    assert configuration_set is not None
    assert configuration_set.published == frozenset()


def test_the_protection_of_the_table_is_read(table: Table) -> None:
    assert read_protection(table) == TableProtectionState(
        point_in_time_recovery=False, deletion_protection=False, expiry_attribute=None
    )
    dynamodb = boto3.client("dynamodb")
    dynamodb.update_table(TableName=table.name, DeletionProtectionEnabled=True)
    dynamodb.update_continuous_backups(
        TableName=table.name,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )
    dynamodb.update_time_to_live(
        TableName=table.name,
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires_at"},
    )
    assert read_protection(table) == TableProtectionState(
        point_in_time_recovery=True, deletion_protection=True, expiry_attribute="expires_at"
    )


def test_alarms_are_those_of_the_stacks_topic(topic: str) -> None:
    cloudwatch = make_client("cloudwatch")
    for name, action in (("late", topic), ("well", topic), ("other", f"{topic[:-1]}x")):
        cloudwatch.put_metric_alarm(AlarmName=name, AlarmActions=[action], **ALARM)
    for name in ("late", "other"):
        cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="test")
    monitoring = CloudWatchMonitoring("pillarbox-dev")
    assert monitoring.firing_alarms() == ["late"]
    assert monitoring.silent_alarms() == {}
    assert monitoring.alarm_subscribers() == 0
    make_client("sns").subscribe(TopicArn=topic, Protocol="email", Endpoint="ops@shop.example")
    assert monitoring.alarm_subscribers() == 1


def test_alarms_that_need_data_and_have_none(topic: str) -> None:
    cloudwatch = make_client("cloudwatch")
    before = wiring.utc_now()
    for name, actions in (("sweep", [topic]), ("mail", [])):
        cloudwatch.put_metric_alarm(
            AlarmName=name, AlarmActions=[topic], InsufficientDataActions=actions, **ALARM
        )
        cloudwatch.set_alarm_state(
            AlarmName=name, StateValue="INSUFFICIENT_DATA", StateReason="test"
        )
    monitoring = CloudWatchMonitoring("pillarbox-dev")
    ((name, since),) = monitoring.silent_alarms().items()
    assert name == "sweep"
    assert timedelta() <= since - before < timedelta(minutes=1)
    assert monitoring.firing_alarms() == []


@pytest.mark.usefixtures("table")
def test_the_age_of_a_queue_is_its_newest_value() -> None:
    now = datetime(2026, 3, 14, 15, 9, tzinfo=UTC)
    cloudwatch = make_client("cloudwatch")
    for minutes, queue, value in ((20, "jobs", 1), (9, "jobs", 2), (3, "jobs", 3), (1, "other", 4)):
        cloudwatch.put_metric_data(
            Namespace="AWS/SQS",
            MetricData=[
                {
                    "MetricName": "ApproximateAgeOfOldestMessage",
                    "Dimensions": [{"Name": "QueueName", "Value": queue}],
                    "Timestamp": now - timedelta(minutes=minutes),
                    "Value": value,
                }
            ],
        )
    ages = SqsQueueAges(lambda: now)
    assert ages.oldest_message_age("https://sqs.us-east-1.amazonaws.com/1/jobs") == 3.0
    assert ages.oldest_message_age("https://sqs.us-east-1.amazonaws.com/1/events") is None


@pytest.mark.usefixtures("table")
def test_the_shares_of_all_stacks_are_read() -> None:
    outputs = {"TableName": "table", "ConfigurationSetName": "set"}
    for name, share in (("pillarbox", 75), ("pillarbox-2", 100)):
        create_stack(name, {"SesRateShare": {"Type": "Number", "Default": share}}, **outputs)
    create_stack("pillarbox-Alarms-1")
    create_stack("shop", TableName="orders")
    assert read_shares() == {"pillarbox": 75, "pillarbox-2": 100}


def test_another_stack_may_have_a_parameter_without_a_value(stubs: Stubs) -> None:
    """The model of DescribeStacks does not promise one, and LocalStack leaves it out."""
    stubs.stack("shop", Parameters=[{"ParameterKey": "Size"}])
    assert read_shares() == {}


def test_a_missing_right_to_see_stacks_is_an_error(stubs: Stubs) -> None:
    """The doctor shows AWS's reason and goes on with the next check."""
    stubs.refuse("cloudformation", "describe_stacks", "AccessDenied", "no")
    with pytest.raises(ServiceError, match="AWS refused DescribeStacks: AccessDenied: no"):
        read_shares()


def test_the_api_probe() -> None:
    with serving(Api) as url:
        probe = HttpApiProbe(f"{url}/")
        assert probe.request("GET", "/v1/emails") == (401, {"error": {"code": "missing_api_key"}})
        accepted = probe.request("POST", "/v1/emails", key="k", body={"to": "a"})
        assert accepted == (200, {"messageId": "m1", "status": "delivered"})
        assert probe.request("GET", "/broken") == (502, None)
    with pytest.raises(ServiceError, match="cannot be reached"):
        probe.request("GET", "/v1/emails")


def test_the_certificate_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, chain = relay(tmp_path)
    with running(server) as (_, port):
        with pytest.raises(ServiceError, match="CERTIFICATE_VERIFY_FAILED"):
            read_certificate_expiry("127.0.0.1", port)
        monkeypatch.setenv("SSL_CERT_FILE", str(chain))
        left = read_certificate_expiry("127.0.0.1", port) - datetime.now(UTC)
        assert timedelta(days=364) < left < timedelta(days=366)
    with pytest.raises(ServiceError, match="cannot use the relay"):
        read_certificate_expiry("127.0.0.1", port)

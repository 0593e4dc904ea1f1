"""How many functions queues and stream use, compared with the template."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from admin.use_cases.capacity import Capacity, check_capacity, parameters_for
from admin.use_cases.workers import WorkerMaximums, check_maximums, choose_webhook_workers
from local import template
from pillarbox.application.operator.checks import Verdict
from tests.conditions import all_met


def maximum(event: dict[str, Any], parameters: dict[str, str]) -> int:
    """The most invocations of an event source at a time."""
    properties = event["Properties"]
    if event["Type"] == "DynamoDB":
        assert "ParallelizationFactor" not in properties
        return 4  # the shards of a new table
    most = all_met(properties["ScalingConfig"])["MaximumConcurrency"]
    return int(parameters[most["Ref"]] if isinstance(most, dict) else most)


@pytest.mark.parametrize("limited", [True, False])
@pytest.mark.parametrize("webhooks", [50, None])
def test_the_sum_has_every_event_source_of_the_template(
    webhooks: int | None,
    limited: bool,  # noqa: FBT001  a row of the table
) -> None:
    parameters = {"DeliveryConcurrency": "10", "WebhookConcurrency": "50"}
    sums: dict[str, int] = {}
    unlimited = set()
    for name, resource in template.load()["Resources"].items():
        for event in resource.get("Properties", {}).get("Events", {}).values():
            switched = event["Properties"].get("Enabled")
            if event["Type"] not in {"SQS", "DynamoDB"} or (switched and not webhooks):
                continue
            if not limited and "Fn::If" in event["Properties"].get("ScalingConfig", {}):
                unlimited.add(name)
            else:
                sums[name] = sums.get(name, 0) + maximum(event, parameters)
    workers = WorkerMaximums(10, webhooks, limited=limited)
    assert workers.of_functions == sums
    assert workers.total == sum(sums.values())
    assert set(workers.without_maximum) == unlimited


@pytest.mark.parametrize(("limit", "warnings"), [(10, 1), (999, 1), (1000, 0)])
def test_a_small_account_needs_every_maximum(limit: int, warnings: int) -> None:
    """A queue without a maximum could take all functions of it, and the remedy is a parameter."""
    findings = list(check_maximums(limit, WorkerMaximums(2, 2, limited=False)))
    assert len(findings) == warnings
    for finding in findings:
        assert finding.message.startswith("RecordFeedback, SweepAccount, PostWebhooks have no")
        assert "WorkerLimits=on" in finding.remedy
    assert list(check_maximums(limit, WorkerMaximums(2, 2))) == []


@pytest.mark.parametrize(
    ("limit", "workers"), [(10, 2), (29, 2), (30, 3), (100, 10), (500, 50), (1000, 50)]
)
def test_webhooks_get_a_tenth_of_the_account(limit: int, workers: int) -> None:
    """At least two, the least that Lambda accepts, and at most fifty."""
    assert choose_webhook_workers(limit) == workers


@pytest.mark.parametrize("limit", [10, 40, 100, 1000])
def test_no_queue_or_stream_takes_every_function(limit: int) -> None:
    workers = WorkerMaximums(max(limit // 4, 2), choose_webhook_workers(limit))
    assert max(workers.of_functions.values()) <= limit / 2


NEW_TABLE_WRITES = 4_000

_PARAMETERS: Mapping[str, Any] = template.load()["Parameters"]
#: A stack as it is deployed without parameters, in a new region of an established account.
DEPLOYED = Capacity(
    region="eu-north-1",
    parameters={name: str(each.get("Default", "")) for name, each in _PARAMETERS.items()},
    max_rate=14,
    functions=1_000,
    table_writes=NEW_TABLE_WRITES,
)
#: The same with all that AWS grants.
GRANTED = replace(DEPLOYED, region="us-east-1", max_rate=1_000, table_writes=15_000)


def too_low(rate: int, capacity: Capacity) -> list[str]:
    return [f.check for f in check_capacity(rate, capacity) if f.verdict is Verdict.FAIL]


def test_a_new_stack_takes_the_rate_of_a_new_account() -> None:
    assert too_low(14, DEPLOYED) == []


def test_a_thousand_a_second_needs_more_of_nearly_everything() -> None:
    findings = [*check_capacity(1_000, DEPLOYED)]
    low = {f.check: f.remedy for f in findings if f.verdict is Verdict.FAIL}
    assert [*low] == ["sending", "requests", "workers", "table", "events"]
    assert low["workers"] == "Deploy with DeliveryConcurrency=50."
    assert low["table"] == "Deploy with WarmWrites=15000."


def test_the_parameters_for_a_rate_are_enough() -> None:
    chosen = {**DEPLOYED.parameters, "Firewall": "managed"}
    assert "key" in too_low(1_000, replace(GRANTED, parameters=chosen))
    enough = replace(GRANTED, parameters={**chosen, **parameters_for(1_000)})
    assert too_low(1_000, enough) == []
    assert set(parameters_for(1_000)) <= set(_PARAMETERS)


@pytest.mark.parametrize(
    ("changes", "low"),
    [
        ({"max_rate": 999.0}, ["sending"]),
        ({"functions": 299}, ["functions"]),
        ({"table_writes": 14_999}, ["table"]),
        ({"region": "us-east-2"}, []),
        ({"region": "af-south-1"}, ["events"]),
    ],
)
def test_one_limit_is_too_low(changes: dict[str, Any], low: list[str]) -> None:
    parameters = {**DEPLOYED.parameters, **parameters_for(1_000)}
    assert too_low(1_000, replace(GRANTED, parameters=parameters, **changes)) == low


def test_without_webhooks_nothing_posts() -> None:
    parameters = {**DEPLOYED.parameters, "WebhookConcurrency": "2"}
    assert "webhooks" in too_low(1_000, replace(GRANTED, parameters=parameters))
    off = replace(GRANTED, parameters={**parameters, "Webhooks": "off"})
    assert "webhooks" not in {f.check for f in check_capacity(1_000, off)}

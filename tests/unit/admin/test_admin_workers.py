"""How many functions queues and stream use, compared with the template."""

from typing import Any

import pytest

from admin.use_cases.workers import WorkerMaximums, check_maximums, choose_webhook_workers
from local import template
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

"""What a number of emails a second needs of a stack and of its account."""

from dataclasses import replace
from typing import Any

import pytest

from admin.use_cases.capacity import Capacity, check_capacity
from admin.use_cases.scale import (
    Scale,
    check_fit,
    check_maximums,
    check_table,
    choose_rate,
    deploy_for,
)
from pillarbox.application.operator.checks import Verdict
from tests.loops import for_each
from tests.unit.admin.doctor_fakes import verdicts


@pytest.mark.parametrize(("limit", "warnings"), [(10, 1), (999, 1), (1000, 0)])
def test_a_small_account_needs_every_maximum(limit: int, warnings: int) -> None:
    """A queue without a maximum could take all functions of it, and the remedy is a parameter."""
    findings = list(check_maximums(limit, Scale(200)))
    assert len(findings) == warnings
    for finding in findings:
        assert finding.message.startswith("RecordFeedback, SweepAccount, PostWebhooks have no")
        assert "EmailsPerSecond=40" in finding.remedy
    assert list(check_maximums(limit, Scale(40))) == []


@pytest.mark.parametrize(("limit", "rate"), [(10, 40), (999, 40), (1000, 200), (5000, 200)])
def test_the_rate_follows_the_account(limit: int, rate: int) -> None:
    assert choose_rate(limit) == rate
    assert 2 * Scale(rate).of_functions["DeliverMessage"] <= limit


@for_each(
    ("limit", "rate", "verdict"),
    [
        (7, 40, "fail"),
        (10, 40, "warn"),
        (21, 40, "warn"),
        (22, 40, "pass"),
        (99, 500, "fail"),
        (174, 500, "fail"),
        (175, 500, "pass"),
        (999, 5000, "fail"),
        (1000, 5000, "pass"),
    ],
)
def test_half_of_the_functions_and_a_hundred_are_not_delivery(
    limit: int, rate: int, verdict: str
) -> None:
    finding = next(check_fit(limit, Scale(rate)))
    assert verdicts([finding]) == [verdict]
    if verdict == "fail":
        assert f"Deploy with EmailsPerSecond={40 if limit < 1000 else 200}" in finding.remedy


@pytest.mark.parametrize(
    ("deployed", "chosen", "refused"),
    [(1000, 500, True), (1000, 1000, False), (1000, 200, False), (200, 1000, False)],
)
def test_a_table_that_was_warmed_keeps_what_it_takes(
    deployed: int, chosen: int, *, refused: bool
) -> None:
    assert verdicts(list(check_table(deployed, chosen))) == ["fail"] * refused


@pytest.mark.parametrize(
    ("rate", "remedy"),
    [
        (201, "Deploy with EmailsPerSecond=500."),
        (500, "Deploy with EmailsPerSecond=500."),
        (5001, "Use more than one stack: one is for up to 5,000 emails a second."),
    ],
)
def test_the_remedy_names_the_smallest_that_is_enough(rate: int, remedy: str) -> None:
    assert deploy_for(rate) == remedy


#: A stack as it is deployed without parameters, in a new region of an established account.
DEPLOYED = Capacity(
    region="eu-north-1", scale=Scale(200), max_rate=14, functions=1_000, table_writes=4_000
)
#: A larger one with all that AWS grants.
GRANTED = replace(
    DEPLOYED, region="us-east-1", scale=Scale(1_000), max_rate=1_000, table_writes=15_000
)


def too_low(rate: int, capacity: Capacity) -> list[str]:
    return [f.check for f in check_capacity(rate, capacity) if f.verdict is Verdict.FAIL]


def test_a_new_stack_takes_the_rate_of_a_new_account() -> None:
    assert too_low(14, DEPLOYED) == []


def test_a_thousand_a_second_needs_more_of_nearly_everything() -> None:
    findings = [*check_capacity(1_000, DEPLOYED)]
    low = {f.check: f.remedy for f in findings if f.verdict is Verdict.FAIL}
    assert [*low] == ["sending", "workers", "table", "events"]
    assert low["workers"] == low["table"] == "Deploy with EmailsPerSecond=1000."


@for_each(("rate", "quota"), [(2_666, ""), (2_667, "Ask for 40,005 write units")])
def test_above_40_000_writes_a_table_needs_a_quota(rate: int, quota: str) -> None:
    remedy = {f.check: f.remedy or "" for f in check_capacity(rate, DEPLOYED)}["table"]
    assert remedy.startswith(quota or "Deploy with EmailsPerSecond=5000.")


@for_each(
    ("changes", "low"),
    [
        ({}, []),
        ({"max_rate": 999.0}, ["sending"]),
        ({"scale": Scale(500)}, ["workers"]),
        ({"functions": 299}, ["functions"]),
        ({"table_writes": 14_999}, ["table"]),
        ({"region": "us-east-2"}, []),
        ({"region": "af-south-1"}, ["events"]),
    ],
)
def test_one_limit_is_too_low(changes: dict[str, Any], low: list[str]) -> None:
    assert too_low(1_000, replace(GRANTED, **changes)) == low

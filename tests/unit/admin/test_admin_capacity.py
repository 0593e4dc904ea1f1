"""What is too low for a rate: each limit of a stack, and the parameters that raise it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from admin.use_cases.capacity import Capacity, check_capacity, parameters_for
from local import template
from pillarbox.application.operator.checks import Verdict

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

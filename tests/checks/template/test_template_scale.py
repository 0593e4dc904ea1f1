"""What `EmailsPerSecond` gives a stack is what the command reckons with."""

from itertools import product
from typing import Any

from admin.use_cases.scale import RATES, Scale, choose_rate
from local import template
from tests.deployed import of_type
from tests.loops import for_each


def maximum(source: dict[str, Any]) -> int | None:
    """The most invocations of an event source at a time."""
    properties = source["Properties"]
    if source["Type"] == "DynamoDB":
        assert "ParallelizationFactor" not in properties
        return 4  # the shards of a new table
    most = properties["ScalingConfig"].get("MaximumConcurrency")
    return None if most is None else int(most)


def test_the_template_has_the_same_rates() -> None:
    parameter = template.load()["Parameters"]["EmailsPerSecond"]
    assert parameter["AllowedValues"] == [*RATES]
    assert parameter["Default"] == choose_rate(1_000)
    assert [*template.load()["Mappings"]["Scales"]] == [*map(str, RATES)]


@for_each("rate, webhooks", product(RATES, ["on", "off"]))
def test_the_template_has_the_same_functions(rate: int, webhooks: str) -> None:
    """The maximum of each function is the sum of its event sources, and the reserve is as large."""
    functions = of_type(
        "AWS::Serverless::Function", "prod", EmailsPerSecond=str(rate), Webhooks=webhooks
    )
    sums, unlimited = dict[str, int](), set[str]()
    for name, function in functions.items():
        for source in function.get("Events", {}).values():
            on = source["Properties"].get("Enabled", True)
            if source["Type"] not in {"SQS", "DynamoDB"} or on not in {True, "true"}:
                continue
            most = maximum(source)
            if most is None:
                unlimited.add(name)
            else:
                sums[name] = sums.get(name, 0) + most
    scale = Scale(rate, webhooks == "on")
    assert scale.of_functions == sums
    assert scale.total == sum(sums.values())
    assert set(scale.without_maximum) == unlimited
    reserved = {
        name: int(one["ReservedConcurrentExecutions"])
        for name, one in functions.items()
        if "ReservedConcurrentExecutions" in one
    }
    assert sum(reserved.values()) == scale.reserved
    assert reserved.items() <= scale.of_functions.items()


@for_each("rate", RATES)
def test_the_template_gives_what_a_rate_needs(rate: int) -> None:
    """15 writes an email, two posts of 0.2 s in tens; a key has a fifth of what all have."""
    given = {
        name: int(text) for name, text in template.load()["Mappings"]["Scales"][str(rate)].items()
    }
    assert given["Writes"] == (15 * rate if rate >= 500 else 0)
    assert given["Webhooks"] * 50 >= 2 * rate
    assert given["Requests"] == min(5 * rate, 10_000)
    assert given["KeyRequests"] * 5 == given["Requests"] * 60
    assert given["AddressRequests"] * 2 == given["KeyRequests"]

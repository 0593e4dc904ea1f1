"""The bills of docs/costs.md: counted units, the template's resources and list prices.

    .venv/bin/python -m benchmarks.costs

Units come from the tables that other benchmarks wrote (accepting.md, history.md), and the number of
alarms and queues from the template. A test compares the output with docs/costs.md.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any, Final

from benchmarks.prices import PEERS, PRICES
from local import template

_HERE: Final = Path(__file__).parent
_HOURS: Final = 730
_SECONDS: Final = 30 * 24 * 3600
_RELAY_SIZES: Final = template.load(template.ROOT / "stacks/relay.yaml")["Mappings"]["RelaySizes"]
#: Lambda reads an idle queue with five pollers, each for 20 seconds at a time.
_EMPTY_RECEIVES: Final = 5 * _SECONDS / 20
#: KB that a message keeps in the table: its record, its entries, its item in the search index, and
#: the 100 bytes that DynamoDB adds to each item.
_KEPT_KB: Final = 0.9
#: Read units of the sweep for a message (history.md).
_SWEPT: Final = 0.72

type Bill = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Operator:
    """Somebody who runs the service, and with which parameters.

    Args:
        name: for the table.
        emails: a month, each to one recipient in a request of its own with an Idempotency-Key.
        batch: the messages that an invocation takes from a queue on average.
        metrics: the custom metrics that have values in every hour.
        all_alarms: `AlarmSet=all`.
        firewall: `none`, `basic` or `managed`.
        relay: the size of the relay's tasks; none without a relay.
        tasks: how many of them run.
    """

    name: str
    emails: int
    batch: float
    metrics: int
    all_alarms: bool = False
    firewall: str = "none"
    relay: str | None = None
    tasks: int = 1


OPERATORS: Final = (
    Operator("a shop: defaults", 5_000, 1, 5),
    Operator("an app: all alarms, basic firewall", 500_000, 1, 9, True, "basic"),
    Operator(
        "a platform: managed firewall, two large relay tasks",
        50_000_000,
        2,
        14,
        all_alarms=True,
        firewall="managed",
        relay="large",
        tasks=2,
    ),
)


def row(document: str, name: str) -> list[str]:
    """Return the cells of a row of a recorded table, without the first.

    Raises:
        ValueError: the document has no such row, or several.
    """
    rows = re.findall(
        rf"^\| {re.escape(name)} \|(.*)\|$", (_HERE / document).read_text(), re.MULTILINE
    )
    if len(rows) != 1:
        raise ValueError(f"{document} has {len(rows)} rows {name}")
    return [cell.strip() for cell in rows[0].split("|")]


def million(*, key: bool = True, batch: float = 10, rate: float = 50) -> Bill:
    """Return what a million emails cost beside SES.

    Args:
        key: whether each request has an Idempotency-Key.
        batch: the messages that an invocation takes from a queue.
        rate: emails a second, which decide how many changes of statistics one write covers.
    """
    _, writes, reads, logged, *_ = row("accepting.md", "whole life, with a key")
    units = float(writes)
    if not key:
        with_key, without = (row("accepting.md", f"accept, {kind} a key") for kind in _KINDS)
        units -= float(with_key[1]) - float(without[1])
    if (
        batch == 1
    ):  # the two events of an email do not come together, and are recorded by two writes
        _, write, read, *_ = row("accepting.md", "track, Send and Delivery, received together")
        units += float(write)
        reads = str(float(reads) + float(read))
    # A job is sent, received and deleted; its two events too.
    queue_requests = 3 + 3 * 2 / batch
    invocations = 1 + 3 / batch
    gb_seconds = 1.0 * 0.040 + 0.5 * 0.130 + 0.5 * 0.015 * 2
    return {
        "DynamoDB, writes": units * PRICES["write"].dollars,
        "API Gateway, REST": PRICES["gateway"].dollars,
        "Lambda, duration": gb_seconds * 1e6 * PRICES["gb-second"].dollars,
        "SQS": queue_requests * PRICES["sqs"].dollars,
        "CloudFront, request and function": PRICES["edge"].dollars + PRICES["function"].dollars,
        "DynamoDB, reads": (float(reads) + _SWEPT) * PRICES["read"].dollars,
        "CloudWatch, logs": float(logged) / 1000 * PRICES["log"].dollars,
        "DynamoDB, kept for a month": _KEPT_KB * PRICES["kept"].dollars,
        "Lambda, requests": invocations * PRICES["invocation"].dollars,
        "Statistics, writes": _statistics(rate) * PRICES["write"].dollars,
        SEARCH: float(row("history.md", "search index, one recipient and no tags")[0])
        * PRICES["write"].dollars,
    }


def calls() -> float:
    """Return what a million emails cost without edge, log, storage, statistics and sweep."""
    bill = million()
    counted = ("DynamoDB, writes", "API Gateway, REST", "SQS", "DynamoDB, reads")
    functions = ("Lambda, duration", "Lambda, requests")
    swept = _SWEPT * PRICES["read"].dollars
    return sum(bill[name] for name in (*counted, *functions)) - swept


_KINDS: Final = ("with", "without")
SEARCH: Final = "Search index, writes"


def _statistics(rate: float) -> float:
    """Return the write units of the statistics for a message, between the measured rates."""
    names = {50.0: "50", 10.0: "10", 2.0: "2", 0.4: "0.4 (a million a month)", 0.02: "0.02"}
    measured = {at: float(row("history.md", name)[1]) for at, name in names.items()}
    inside = min(max(rate, 0.02), 50.0)
    for high, low in pairwise(measured):
        if inside >= low:
            share = log(inside / low) / log(high / low)
            return measured[low] + share * (measured[high] - measured[low])
    raise ValueError(rate)


#: Consistent reads of the endpoint and its health for a batch; for an event, eventually consistent
#: ones of its delivery and its message. A test counts them.
WEBHOOK_READS: Final = 2 / 10 + 2 * 0.5
#: Bytes of log for a batch of webhooks: one line of ours, and three of Lambda.
_BATCH_LOG: Final = 550


def webhooks() -> Bill:
    """Return what a million posts to webhook endpoints cost, in batches of ten for one endpoint."""
    # 0.3 s at 512 MB for ten posts at the same time, and 0.1 s to announce a hundred events.
    gb_seconds = 0.5 * 0.3 / 10 + 0.5 * 0.1 / 100
    return {
        "DynamoDB, writes": PRICES["write"].dollars,
        "Lambda, duration": gb_seconds * 1e6 * PRICES["gb-second"].dollars,
        "DynamoDB, reads": WEBHOOK_READS * PRICES["read"].dollars,
        "SQS": 3 / 10 * PRICES["sqs"].dollars,
        "CloudWatch, logs": _BATCH_LOG / 10 / 1000 * PRICES["log"].dollars,
        "Lambda, requests": (1 / 10 + 1 / 100) * PRICES["invocation"].dollars,
    }


def announcing(suppressions: float = 0.05) -> float:
    """Return what a million emails of accounts that never had an endpoint add.

    The stream's second reader is invoked for their suppressions only, at worst one by one. SES
    reviews an account that has more hard bounces than this share of its emails.
    """
    invocations = suppressions
    gb_seconds = 0.5 * 0.02 * invocations
    return (
        invocations * PRICES["invocation"].dollars
        + gb_seconds * 1e6 * PRICES["gb-second"].dollars
        + invocations * _BATCH_LOG / 1000 * PRICES["log"].dollars
    )


#: Each minute the timer of webhooks reads eight buckets and its note, and writes the note.
_TICKS: Final = _SECONDS / 60


def _timer() -> float:
    """Return what the timer of webhooks costs a month."""
    units = 9 * PRICES["read"].dollars + PRICES["write"].dollars
    return _TICKS / 1e6 * (units + PRICES["invocation"].dollars)


def idle(*, all_alarms: bool = False, metrics: int = 1, with_webhooks: bool = True) -> Bill:
    """Return a month without any mail. The sweep alone reports a custom metric."""
    queues = _queues() if with_webhooks else _queues() - _queues("WithWebhooks")
    alarms = alarm_metrics(None) + (alarm_metrics("WithAllAlarms") if all_alarms else 0)
    return {
        "Alarms": alarms * PRICES["alarm"].dollars,
        "Polling the queues": queues * _EMPTY_RECEIVES / 1e6 * PRICES["sqs"].dollars,
        "Custom metrics": metrics * PRICES["metric"].dollars,
        "Timer of webhooks": _timer() if with_webhooks else 0.0,
    }


def alarm_metrics(condition: str | None) -> int:
    """Return how many metrics the template's alarms with a condition watch."""
    return sum(
        sum("MetricStat" in part for part in alarm["Properties"].get("Metrics", [])) or 1
        for alarm in _resources("AWS::CloudWatch::Alarm")
        if alarm.get("Condition") == condition
    )


def _queues(condition: str | None = None) -> int:
    """Return how many queues Lambda polls: all, or those that a condition switches off."""
    switch = {"Fn::If": [condition, True, False]}
    return sum(
        event["Type"] == "SQS"
        and (condition is None or event["Properties"].get("Enabled") == switch)
        for function in _resources("AWS::Serverless::Function")
        for event in function["Properties"]["Events"].values()
    )


def _resources(kind: str) -> list[dict[str, Any]]:
    resources = template.inlined(template.load())["Resources"].values()
    return [resource for resource in resources if resource["Type"] == kind]


def relay(size: str = "small", tasks: int = 1, *, front: bool = True) -> Bill:
    """Return a month of the relay, and of the front unless there is no edge."""
    values = _RELAY_SIZES[size]
    memory = values["Memory" if front else "MemoryWithoutFront"]
    task = (
        int(values["Cpu"]) / 1024 * PRICES["vcpu"].dollars
        + int(memory) / 1024 * PRICES["gb"].dollars
    )
    return {
        "Fargate, arm64": tasks * task * _HOURS,
        "Network load balancer, for SMTP": PRICES["balancer"].dollars * _HOURS,
        "Application load balancer, for large requests": front
        * PRICES["balancer"].dollars
        * _HOURS,
        "Public IPv4 addresses": (2 + tasks) * PRICES["address"].dollars * _HOURS,
        "Secrets of certificate and edge": (1 + front) * PRICES["secret"].dollars,
        "Alarm": front * alarm_metrics("WithFront") * PRICES["alarm"].dollars,
    }


def firewall(kind: str) -> tuple[float, float]:
    """Return what a firewall costs a month in us-east-1, and a million requests of it."""
    acls, rules = {"none": (0, 0), "basic": (1, 3), "managed": (2, 7)}[kind]
    secret = PRICES["secret"].dollars if acls else 0.0
    fixed = acls * PRICES["acl"].dollars + rules * PRICES["rule"].dollars + secret
    return fixed, acls * PRICES["waf"].dollars


def bill(operator: Operator) -> Bill:
    """Return the monthly bill of an operator, with the history of a year."""
    millions = operator.emails / 1e6
    each = million(batch=operator.batch, rate=operator.emails / _SECONDS)
    fixed, inspected = firewall(operator.firewall)
    kept = 11 * each["DynamoDB, kept for a month"]
    relay_cost = sum(relay(operator.relay, operator.tasks).values()) if operator.relay else 0.0
    if operator.relay and fixed:
        fixed -= PRICES["secret"].dollars  # the relay's bill has it already
        fixed += PRICES["acl"].dollars + 2 * PRICES["rule"].dollars  # the front's
    standing = idle(all_alarms=operator.all_alarms, metrics=operator.metrics)
    return {
        "SES": operator.emails / 1000 * PRICES["ses"].dollars,
        "emails": millions * (sum(each.values()) + kept + inspected),
        "alarms, polling, metrics": sum(standing.values()),
        "firewall, by the month": fixed,
        "relay and large requests": relay_cost,
    }


def tables() -> dict[str, str]:
    """Return the tables of docs/costs.md in Markdown."""
    full, single = million(), million(batch=1)
    emails = [(name, f"{full[name]:.2f}", f"{single[name]:.2f}") for name in full]
    sums = [f"**{sum(part.values()):.2f}**" for part in (full, single)]
    plain = [f"{sum(million(key=False, batch=b).values()):.2f}" for b in (10, 1)]
    bills = [bill(operator) for operator in OPERATORS]
    lines = [(name, *(f"{each[name]:,.2f}" for each in bills)) for name in bills[0]]
    totals = [f"**{sum(each.values()):,.2f}**" for each in bills]
    return {
        "million": _table(
            ("a million emails", "in batches of ten", "one by one"),
            [
                *emails,
                ("**without SES**", *sums),
                ("the same without an `Idempotency-Key`", *plain),
            ],
        ),
        "webhooks": _table(
            ("a million posts to webhook endpoints", "in batches of ten"),
            _with_sum([webhooks()]),
        ),
        "idle": _table(
            (
                "a month without mail",
                "`Webhooks=off`",
                "`AlarmSet=essential`",
                "`AlarmSet=all`",
            ),
            _with_sum([idle(with_webhooks=False), idle(), idle(all_alarms=True)]),
        ),
        "relay": _table(
            (
                "the relay, a month",
                "small, 1 task",
                "small, 2 tasks",
                "large, 2 tasks",
                "small, 1 task, `EdgeService=none`",
            ),
            _with_sum([relay(), relay(tasks=2), relay("large", 2), relay(front=False)]),
        ),
        "operators": _table(
            ("emails a month", *(f"{operator.emails:,}" for operator in OPERATORS)),
            [
                ("", *(operator.name for operator in OPERATORS)),
                *lines,
                ("**Pillarbox with SES**", *totals),
                *((peer.name, *peer.shown) for peer in PEERS),
            ],
        ),
        "prices": _table(
            ("price in dollars", "for", "source"),
            [
                (f"{price.dollars:g}", price.unit, price.cite())
                for price in (*PRICES.values(), *PEERS)
            ],
        ),
    }


def _with_sum(bills: list[Bill]) -> list[tuple[str, ...]]:
    lines = [(name, *(f"{each[name]:.2f}" for each in bills)) for name in bills[0]]
    return [*lines, ("**together**", *(f"**{sum(each.values()):.2f}**" for each in bills))]


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Print the tables."""
    for table in tables().values():
        print(table, end="\n\n")


if __name__ == "__main__":
    main()

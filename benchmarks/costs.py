"""The bills of docs/costs.md: counted units, the template's resources and list prices.

    .venv/bin/python -m benchmarks.costs

Units come from the tables that other benchmarks wrote (accepting.md, history.md), and the number of
alarms and queues from the template. A test compares the output with docs/costs.md.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log
from pathlib import Path
from typing import Final

from admin.use_cases import ses_plans
from admin.use_cases.ses_plans import SesPlan
from benchmarks.prices import PEERS, PRICES
from benchmarks.standing import SECONDS, START, Bill, alarm_metrics, firewall, idle, relay

_HERE: Final = Path(__file__).parent
#: KB that a message keeps in the table: its record, its entries, its item in the search index, and
#: the 100 bytes that DynamoDB adds to each item.
_KEPT_KB: Final = 0.9
#: Read units of the sweep for a message (history.md).
_SWEPT: Final = 0.72
#: Modelled: the KB of a request to the edge, which it sends on, and of its response.
_REQUEST_KB: Final = 5
_RESPONSE_KB: Final = 1
#: Modelled: an idle function is gone after ten minutes; at any rate 1 % of the invocations start
#: one, the most that AWS saw: https://aws.amazon.com/blogs/compute/aws-lambda-standardizes-billing-for-init-phase
_IDLE: Final = 600
_RESTARTS: Final = 0.01
#: An email is accepted, delivered (0.5 GB each), recorded (0.25) and counted (1 GB). Its second
#: event finds the function that the first one started.
_LIFE_GB: Final = 0.5 + 0.5 + 0.25 + 1.0
#: Seconds of an accept with a key at 512 MB, of the 1,769 MB that have a core: 27 ms of waits,
#: modelled, and what is left of the 5.7 ms of a core that it took with botocore (accepting.md).
_ACCEPTING: Final = 0.027 + 0.0057 * 0.36 * 1769 / 512
#: Seconds of a delivery at 512 MB beside its waits: 30 ms, modelled, when its five calls of
#: DynamoDB were botocore's; each saves what each of an accept's five saves. SES's still is.
_DELIVERING: Final = 0.030 - 0.0057 * 0.64 * 1769 / 512
#: With EdgeService=url a function reads the edge's secret when it starts and each ten minutes.
_SECRET_KEPT: Final = 600
#: What the statistics wait for, in seconds and changes (template.yaml), and an email's changes.
_WINDOW: Final = 10
_RECORDS: Final = 2000
_CHANGES: Final = 5
#: Modelled: the seconds of an invocation of the statistics, and of each change.
_COUNTING: Final = 0.080
_COUNTING_EACH: Final = 0.0002
#: The emails a second of a million in a month, evenly.
EVENLY: Final = 1e6 / SECONDS


@dataclass(frozen=True, slots=True)
class Operator:
    """Somebody who runs the service, and with which parameters.

    Args:
        name: for the table.
        emails: a month, each to one recipient in a request of its own with an Idempotency-Key.
        batch: the messages that an invocation takes from a queue on average.
        metrics: the custom metrics that have values in every hour, beside the sweep's.
        production: `--profile production`, apart from its firewall: all alarms, one of them of a
            rollout in steps.
        firewall: `none`, `basic` or `managed`.
        relay_tasks: how many tasks of the relay run; 0 without a relay.
    """

    name: str
    emails: int
    batch: float
    metrics: int
    production: bool = False
    firewall: str = "none"
    relay_tasks: int = 0


OPERATORS: Final = (
    Operator("a shop: `--profile small`", 5_000, 1, 4),
    Operator("an app: `--profile production`", 500_000, 1, 8, True, "basic"),
    Operator(
        "a platform: the same, managed firewall, four relay tasks",
        50_000_000,
        2,
        13,
        production=True,
        firewall="managed",
        relay_tasks=4,
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


def million(
    *,
    key: bool = True,
    batch: float = 10,
    rate: float = 50,
    waiting: int | None = None,
    url: bool = False,
) -> Bill:
    """Return what a million emails cost beside SES.

    Args:
        key: whether each request has an Idempotency-Key.
        batch: the messages that an invocation takes from a queue.
        rate: emails a second, which decide how many changes of statistics one write covers.
        waiting: how many accounts have more email than SES's rate of 14 a second allows. Then the
            tokens of the rate cost what latency.md says; None if no email waits for the rate.
        url: `EdgeService=url`.
    """
    _, writes, reads, *_ = row("accepting.md", "whole life, with a key")
    units = float(writes)
    if not key:
        with_key, without = (row("accepting.md", f"accept, {kind} a key") for kind in _KINDS)
        units -= float(with_key[1]) - float(without[1])
    # The two events of an email come seconds apart, so each is recorded by a write of its own.
    _, write, read, line, *_ = row("accepting.md", "track, Send and Delivery, received together")
    units += float(write)
    read_units = float(reads) + float(read)
    # A batch of events is one invocation with one line of log.
    log_bytes = float(row("accepting.md", "accept, with a key")[3])
    log_bytes += _delivery_log(batch) + float(line) * 2 / batch
    if waiting:
        token_writes, token_reads = tokens(waiting)
        units += token_writes - 1  # one write is for the token in any case
        read_units += token_reads
    # A job is sent, received and deleted; its two events too.
    queue_requests = 3 + 3 / batch + (1 + 2) / batch
    counting = max(1 / (1 + rate * _WINDOW), _CHANGES / _RECORDS)
    invocations = 1 + 3 / batch + counting
    gb_seconds = 0.5 * _ACCEPTING + 0.5 * (0.100 / batch + _DELIVERING) + 0.25 * 0.015 * 2
    gb_seconds += 1.0 * (counting * _COUNTING + _CHANGES * _COUNTING_EACH)
    started = exp(-rate * _IDLE) * _LIFE_GB + _RESTARTS * (
        0.5 + 0.5 / batch + 0.25 * 2 / batch + counting
    )
    secret_reads = 1e6 / rate / _SECRET_KEPT if url else 0
    return {
        "DynamoDB, writes": units * PRICES["write"].dollars,
        "API Gateway, REST": 0 if url else PRICES["gateway"].dollars,
        "Lambda, duration": gb_seconds * 1e6 * PRICES["gb-second"].dollars,
        "Lambda, cold starts": started * START * 1e6 * PRICES["gb-second"].dollars,
        "SQS": queue_requests * PRICES["sqs"].dollars,
        "CloudFront, request and function": PRICES["edge"].dollars + PRICES["function"].dollars,
        "CloudFront, bytes": _REQUEST_KB * PRICES["bytes-in"].dollars
        + _RESPONSE_KB * PRICES["bytes-out"].dollars,
        "DynamoDB, reads": (read_units + _SWEPT) * PRICES["read"].dollars,
        "CloudWatch, logs": log_bytes / 1000 * PRICES["log"].dollars,
        "Reading the edge's secret": secret_reads / 1e6 * PRICES["secret-read"].dollars,
        "DynamoDB, kept for a month": _KEPT_KB * PRICES["kept"].dollars,
        "Lambda, requests": invocations * PRICES["invocation"].dollars,
        "Statistics, writes": _statistics(rate) * PRICES["write"].dollars,
        SEARCH: float(row("history.md", "search index, one recipient and no tags")[0])
        * PRICES["write"].dollars,
    }


def _delivery_log(batch: float) -> float:
    """Return the bytes of log of a delivery: a line of its own, and its share of the metrics'."""
    one, ten = (
        float(row("accepting.md", name)[3]) for name in ("deliver", "deliver, ten together")
    )
    shared = (10 * one - ten) / 9
    return one - shared + shared / batch


def tokens(accounts: int) -> tuple[float, float]:
    """Return the write and read units of the tokens of an email that waits for SES's rate."""
    name = f"tokens of 1.3 times SES's rate, 14 a second, ten workers, accounts: {accounts}"
    writes, reads = row("latency.md", name)
    return float(writes), float(reads)


def calls() -> float:
    """Return what a million emails cost without edge, log, storage, statistics and sweep."""
    bill = million()
    counted = ("DynamoDB, writes", "API Gateway, REST", "SQS", "DynamoDB, reads")
    functions = ("Lambda, duration", "Lambda, cold starts", "Lambda, requests")
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


#: Modelled: the KB of an answer without files, and the seconds of a receipt at 512 MB.
_ANSWER_KB: Final = 50
_RECEIVING: Final = 0.25


def receiving() -> Bill:
    """Return what a million answers cost, each of one chunk, until its event is announced."""
    _, writes, reads, log_bytes, which = row("accepting.md", "receive an answer")
    calls = {name: int(number) for number, name in re.findall(r"(\d+) (\w+)", which)}
    puts = 1 + calls["PutObject"]  # the first one is SES's
    return {
        "SES, mails": 1000 * PRICES["received"].dollars,
        "SES, chunks of 256 KB": 1000 * PRICES["chunk"].dollars,
        "S3, requests": puts * PRICES["put"].dollars + calls["GetObject"] * PRICES["get"].dollars,
        "S3, kept for a month": _ANSWER_KB * PRICES["object"].dollars,
        # S3 sends a message; each is received and deleted alone.
        "SQS": 3 * PRICES["sqs"].dollars,
        "Lambda, duration": 0.5 * _RECEIVING * 1e6 * PRICES["gb-second"].dollars,
        "Lambda, requests": PRICES["invocation"].dollars,
        "DynamoDB, writes": float(writes) * PRICES["write"].dollars,
        "DynamoDB, reads": float(reads) * PRICES["read"].dollars,
        "CloudWatch, logs": float(log_bytes) / 1000 * PRICES["log"].dollars,
    }


#: SES reviews an account that has more hard bounces than this share of its emails.
_SUPPRESSED: Final = 0.05


def announcing(invocations: float = _SUPPRESSED, reads: float | None = None) -> float:
    """Return what the stream's second reader adds to a million emails.

    Args:
        invocations: how many an email causes. An account that never had an endpoint causes some
            for its suppressions only, at worst one by one.
        reads: how many of them read the account's endpoints, because they have an event; by
            default all.
    """
    gb_seconds = 0.5 * 0.02 * invocations
    return (
        invocations * PRICES["invocation"].dollars
        + gb_seconds * 1e6 * PRICES["gb-second"].dollars
        + invocations * _BATCH_LOG / 1000 * PRICES["log"].dollars
        + (invocations if reads is None else reads) * PRICES["read"].dollars
    )


def bill(operator: Operator) -> Bill:
    """Return the monthly bill of an operator beside SES, with the history of a year."""
    millions = operator.emails / 1e6
    each = million(batch=operator.batch, rate=operator.emails / SECONDS)
    fixed, inspected = firewall(operator.firewall)
    kept = 11 * each["DynamoDB, kept for a month"]
    relay_cost = sum(relay(operator.relay_tasks).values()) if operator.relay_tasks else 0.0
    if operator.relay_tasks and fixed:
        fixed += _second_firewall()
    standing = idle(production=operator.production, metrics=operator.metrics)
    return {
        "emails": millions * (sum(each.values()) + kept + inspected),
        "alarms, polling, metrics, timers, a secret": sum(standing.values()),
        "firewall, by the month": fixed,
        "relay and large requests": relay_cost,
    }


def _second_firewall() -> float:
    """Return what a firewall of the edge or of the front costs a month beside the API's."""
    return PRICES["acl"].dollars + 2 * PRICES["rule"].dollars


def _profiles() -> list[Bill]:
    """Return a month without mail of each profile, and of one with a relay."""
    production = idle(production=True)
    fixed, _ = firewall("basic")
    bills = [
        (idle(), 0.0, 0.0),
        (production, fixed, 0.0),
        (production, fixed + _second_firewall(), sum(relay().values())),
    ]
    return [
        {**bill, "Firewall": fixed, "Relay and large requests": containers}
        for bill, fixed, containers in bills
    ]


def _added() -> list[tuple[str, ...]]:
    """Return what parameters add to a month."""
    steps = alarm_metrics("WithSteps") * PRICES["alarm"].dollars
    alarms = sum(idle(production=True).values()) - sum(idle().values()) - steps
    basic, managed = firewall("basic")[0], firewall("managed")[0]
    rows = (
        ("`AlarmSet=all`", "alarms that say earlier or in more detail, and a dashboard", alarms),
        ("`Rollout` in steps", "the alarm at which it goes back, of 5 metrics", steps),
        ("`Firewall=basic`", "1 ACL, 3 rules: the edge's secret, each address, each key", basic),
        ("`Firewall=managed`", "1 ACL, 5 rules", managed - _second_firewall()),
        ("the same in `us-east-1`", "and at the edge 1 ACL, 2 rules", managed),
        ("`Firewall`, with large requests", "and at the front 1 ACL, 2 rules", _second_firewall()),
    )
    return [(name, what, f"{dollars:.2f}") for name, what, dollars in rows]


def tables() -> dict[str, str]:
    """Return the tables of docs/costs.md in Markdown."""
    loads = ((10, 50.0), (1, EVENLY))
    columns = [(batch, rate, url) for batch, rate in loads for url in (False, True)]

    def each_column(**more: bool) -> list[Bill]:
        return [million(batch=batch, rate=rate, url=url, **more) for batch, rate, url in columns]

    emails = [(name, *(f"{part[name]:.2f}" for part in each_column())) for name in million()]
    bills = [bill(operator) for operator in OPERATORS]
    lines = [(name, *(f"{each[name]:,.2f}" for each in bills)) for name in bills[0]]
    ses = {
        plan: [ses_plans.cost(plan, operator.emails) for operator in OPERATORS]
        for plan in (SesPlan.NONE, SesPlan.ESSENTIALS)
    }
    totals = {
        plan: [sum(each.values()) + more for each, more in zip(bills, costs, strict=True)]
        for plan, costs in ses.items()
    }
    return {
        "million": _table(
            (
                "a million emails",
                "in batches of ten, 50 a second",
                "with `EdgeService=url`",
                "one by one, all month",
                "with `EdgeService=url`",
            ),
            [
                *emails,
                ("**without SES**", *(f"**{sum(part.values()):.2f}**" for part in each_column())),
                ("the same without an `Idempotency-Key`", *_sums(each_column(key=False))),
                _waiting(4),
            ],
        ),
        "plans": _table(
            ("the plan of SES", "a month", "1,000 emails", "beyond 10 million", "beyond 100"),
            [_plan(plan) for plan in SesPlan],
        ),
        "webhooks": _table(
            ("a million posts to webhook endpoints", "in batches of ten"),
            _with_sum([webhooks()]),
        ),
        "receiving": _table(("a million answers", "received"), _with_sum([receiving()])),
        "idle": _table(
            (
                "a month without mail",
                "`--profile small`",
                "`--profile production`",
                "the same with `--relay`",
            ),
            _with_sum(_profiles()),
        ),
        "added": _table(("what you can add", "", "dollars a month"), _added()),
        "relay": _table(
            (
                "the relay, a month",
                "1 task",
                "2 tasks",
                "4 tasks",
                "1 task, `LargeRequests=off`",
            ),
            _with_sum([relay(), relay(2), relay(4), relay(front=False)]),
        ),
        "operators": _table(
            ("emails a month", *(f"{operator.emails:,}" for operator in OPERATORS)),
            [
                ("", *(operator.name for operator in OPERATORS)),
                *lines,
                *(
                    (f"SES, plan `{plan}`", *(f"{each:,.2f}" for each in costs))
                    for plan, costs in ses.items()
                ),
                *(
                    (f"**Pillarbox and SES, `{plan}`**", *(f"**{each:,.2f}**" for each in costs))
                    for plan, costs in totals.items()
                ),
                *((peer.name, *peer.shown) for peer in PEERS),
            ],
        ),
        "prices": _table(
            ("price in dollars", "for", "found on", "source"),
            [
                (f"{price.dollars:g}", price.unit, str(price.found), price.cite())
                for price in (*PRICES.values(), *PEERS)
            ],
        ),
    }


def _sums(bills: list[Bill]) -> list[str]:
    return [f"{sum(each.values()):.2f}" for each in bills]


def _waiting(accounts: int) -> tuple[str, ...]:
    """Return what a million costs while email of some accounts waits for SES's rate."""
    name = f"the same while email of {accounts} accounts waits for SES's rate"
    bills = [million(rate=14, waiting=accounts, url=url) for url in (False, True)]
    return name, *_sums(bills), "", ""


def _plan(plan: SesPlan) -> tuple[str, ...]:
    price = ses_plans.PRICES[plan]
    steps = [f"{each:.2f}" for _, each in price.steps]
    return f"`{plan}`", f"{price.month:.2f}", *(steps if len(steps) > 1 else steps * 3)


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

"""What of a stack is too low for a rate of emails, in the order in which the limits are met.

docs/operations.md explains each of them, and what else an account needs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final

from admin.use_cases.scale import WORKER_RATE_OF_CODES, Scale, deploy_for
from pillarbox.application.operator.checks import Finding, Verdict

#: Write units of an email with a key, two events, and their posts to an endpoint.
_WRITES: Final = 15
#: What AWS lets a table take by default (developer guide, "Quotas in Amazon DynamoDB", 2026-11).
_TABLE_QUOTA: Final = 40_000
#: What DynamoDB gives a new on-demand table (developer guide, "On-demand capacity", 2026-11).
NEW_TABLE_WRITES: Final = 4_000
#: The part of a function that an email of a second needs: accept, deliver, two events, statistics.
_FUNCTIONS: Final = 0.25
#: The functions of the stream, the sweep and the dashboard.
_OTHER_FUNCTIONS: Final = 50
#: Events that EventBridge hands over in a second (EventBridge quotas, "Invocations", 2026-11). An
#: email has two. What is beyond waits, and with it the proof that an email was sent.
_EVENTS: Final = 1_100
_EVENTS_OF_REGION: Final[Mapping[str, int]] = {
    "af-south-1": 750,
    "eu-central-1": 4_500,
    "eu-west-1": 18_750,
    "us-east-1": 18_750,
    "us-east-2": 4_500,
    "us-west-2": 18_750,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a stack and its AWS account may do.

    Args:
        region: the AWS region.
        scale: that of the stack.
        max_rate: the recipients a second that SES takes from this stack.
        functions: how many functions the AWS account runs at a time.
        table_writes: the write units a second that the table takes at once.
    """

    region: str
    scale: Scale
    max_rate: float
    functions: int
    table_writes: int


def check_capacity(rate: int, capacity: Capacity) -> Iterator[Finding]:
    """Compare each limit with a rate of emails with one recipient, the lowest default first."""

    def check(name: str, reaches: float, what: str, remedy: str) -> Finding:
        message = f"{what}: {reaches:,.0f} emails a second."
        if reaches < rate:
            return Finding(name, Verdict.FAIL, message, remedy)
        return Finding(name, Verdict.PASS, message)

    yield check(
        "sending",
        capacity.max_rate,
        "SES's rate for this stack",
        f"Ask SES for {rate} recipients a second (Service Quotas).",
    )
    workers = capacity.scale.workers
    what = f"{workers} workers for codes, {workers * WORKER_RATE_OF_CODES} a second, and as many"
    yield check("workers", capacity.scale.rate, f"{what} for other emails", deploy_for(rate))
    writes, needed = capacity.table_writes, rate * _WRITES
    grant = f"Ask for {needed:,} write units of a table (Service Quotas, DynamoDB). "
    remedy = (grant if needed > _TABLE_QUOTA else "") + deploy_for(rate)
    yield check("table", writes / _WRITES, f"{writes:,} write units a second", remedy)
    needed = ceil(rate * _FUNCTIONS) + _OTHER_FUNCTIONS
    yield check(
        "functions",
        max(capacity.functions - _OTHER_FUNCTIONS, 0) / _FUNCTIONS,
        f"{capacity.functions} functions at a time",
        f"Ask for {needed} or more (Service Quotas, Lambda, Concurrent executions).",
    )
    events = _EVENTS_OF_REGION.get(capacity.region, _EVENTS)
    yield check(
        "events",
        events / 2,
        f"{events:,} events a second in {capacity.region}",
        "Ask for more (Service Quotas, EventBridge, Invocations), or use another region.",
    )

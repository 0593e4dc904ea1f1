"""What `EmailsPerSecond` gives a stack, and how many functions its queues run at a time, at most.

The template has the same numbers (Mappings, Scales).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pillarbox.application.operator.checks import Finding, Verdict

#: The values of EmailsPerSecond.
RATES: Final = (40, 200, 500, 1_000, 5_000)
#: That of an account that runs fewer functions than MANY_FUNCTIONS, and that of others.
_OF_SMALL_ACCOUNT, _OF_ACCOUNT = 40, 200
#: From this rate on functions are reserved for delivery, and the table is warmed.
_RESERVED_FROM: Final = 500
#: An account that runs so many functions at a time needs no maximum for the queues of events,
#: webhooks and the sweep. It is Lambda's default for an account that is not new.
MANY_FUNCTIONS: Final = 1_000
#: What Lambda leaves unreserved in each AWS account.
_UNRESERVED: Final = 100
#: The maximum of the sweep's queue in template.yaml.
_SWEEP: Final = 5
#: Each of the two readers of the stream has one invocation for each of its shards, and a partition
#: of the table has one. A new on-demand table takes 4,000 writes a second (AWS's developer guide,
#: "DynamoDB on-demand capacity mode", 2026-11), which are four partitions.
_READER: Final = 4
#: Emails a second that one worker hands over, of ten that it delivers at the same time; and codes,
#: which come one by one and take 120 ms each. docs/operations.md has the rates.
WORKER_RATE: Final = 20
WORKER_RATE_OF_CODES: Final = 8


@dataclass(frozen=True, slots=True)
class Scale:
    """A stack for `rate` emails a second, with or without webhooks."""

    rate: int
    webhooks: bool = True

    @property
    def workers(self) -> int:
        """The workers of each of the two queues of jobs, and of SES's events."""
        return self.rate // WORKER_RATE

    @property
    def is_reserved(self) -> bool:
        """Whether Lambda reserves the functions of these workers."""
        return self.rate >= _RESERVED_FROM

    @property
    def reserved(self) -> int:
        """How many functions Lambda reserves."""
        return 3 * self.workers if self.is_reserved else 0

    @property
    def is_limited(self) -> bool:
        """Whether the queues of events, webhooks and the sweep have a maximum too.

        Lambda polls an idle queue with five pollers if it has one, otherwise with two
        (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html, 2026-11).
        """
        return self.rate != _OF_ACCOUNT

    @property
    def of_functions(self) -> Mapping[str, int]:
        """The maximum of each function that a queue or the stream invokes and that has one."""
        workers = {"DeliverMessage": 2 * self.workers, "AggregateStats": _READER}
        if self.webhooks:
            workers |= {"AnnounceEvents": _READER}
        return workers | (self._optional if self.is_limited else {})

    @property
    def without_maximum(self) -> Sequence[str]:
        """The functions that a backlog could start as often as the account allows."""
        return () if self.is_limited else tuple(self._optional)

    @property
    def _optional(self) -> dict[str, int]:
        workers = {"RecordFeedback": self.workers, "SweepAccount": _SWEEP}
        return workers | ({"PostWebhooks": max(self.rate // 25, 2)} if self.webhooks else {})

    @property
    def total(self) -> int:
        """How many functions run if all that have a maximum have work."""
        return sum(self.of_functions.values())

    def describe(self) -> str:
        """Return the sum and its parts, for a finding."""
        parts = ", ".join(f"{name} {number}" for name, number in self.of_functions.items())
        others = (
            f", and {', '.join(self.without_maximum)} any number" if not self.is_limited else ""
        )
        return f"queues and stream use up to {self.total} of them ({parts}){others}"


#: The remedy if a flood of requests can take the functions that deliver.
RESERVE: Final = (
    f"Deploy with EmailsPerSecond={_RESERVED_FROM}. Lambda accepts it from a limit of"
    f" {Scale(_RESERVED_FROM).reserved + _UNRESERVED} on."
)


def choose_rate(limit: int) -> int:
    """Return the EmailsPerSecond of an account that runs so many functions at a time."""
    return _OF_ACCOUNT if limit >= MANY_FUNCTIONS else _OF_SMALL_ACCOUNT


def deploy_for(rate: float) -> str:
    """Return the remedy if a stack is too small for a rate."""
    fitting = next((each for each in RATES if each >= rate), None)
    if fitting is None:
        return f"Use more than one stack: one is for up to {RATES[-1]:,} emails a second."
    return f"Deploy with EmailsPerSecond={fitting}."


def check_maximums(limit: int, scale: Scale) -> Iterator[Finding]:
    """Check that no queue without a maximum can take every function of a small account."""
    if scale.without_maximum and limit < MANY_FUNCTIONS:
        names = ", ".join(scale.without_maximum)
        message = f"{names} have no maximum: a backlog of one can take all {limit} functions."
        remedy = f"Deploy with EmailsPerSecond={_OF_SMALL_ACCOUNT}."
        yield Finding("functions", Verdict.WARN, message, remedy)


def check_fit(limit: int, scale: Scale) -> Iterator[Finding]:
    """Check what the queues and the stream of a stack would leave to requests.

    Delivery may not have more than half of the account's functions.
    """
    message = f"The account runs {limit} functions at a time; {scale.describe()}."
    ask = "ask for a higher limit (Service Quotas, Lambda, Concurrent executions)."
    if limit < 4 * scale.workers or (scale.reserved and limit < scale.reserved + _UNRESERVED):
        if scale.reserved:
            message += (
                f" It would reserve {scale.reserved}, and {_UNRESERVED} must stay unreserved."
            )
        remedy = f"Deploy with EmailsPerSecond={choose_rate(limit)}, or first {ask}"
        yield Finding("functions", Verdict.FAIL, message, remedy)
    elif scale.total >= limit:
        remedy = f"While all of them are busy, requests get 503. To avoid that, {ask}"
        yield Finding("functions", Verdict.WARN, message, f"{remedy} New accounts have 10.")
    else:
        yield Finding("functions", Verdict.PASS, message)
    yield from check_maximums(limit, scale)


def check_table(deployed: int, chosen: int) -> Iterator[Finding]:
    """Check that the table is not asked to take fewer writes than before, which DynamoDB refuses.

    Below 500 the template names no number, and the table keeps its own.
    """
    if _RESERVED_FROM <= chosen < deployed:
        message = f"The table takes the writes of {deployed} emails a second, and cannot take less."
        remedy = f"Deploy with EmailsPerSecond={deployed}, or with {_OF_ACCOUNT}."
        yield Finding("table", Verdict.FAIL, message, remedy)

"""How many functions the queues and the stream of a stack run at a time, at most."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pillarbox.application.operator.checks import Finding, Verdict

#: An account that runs so many functions at a time needs no maximum for the queues of events,
#: webhooks and the sweep. It is Lambda's default for an account that is not new.
MANY_FUNCTIONS: Final = 1_000
#: The maximum of the sweep's queue in template.yaml.
_SWEEP: Final = 5
#: Each of the two readers of the stream has one invocation for each of its shards, and a partition
#: of the table has one. A new on-demand table takes 4,000 writes a second (AWS's developer guide,
#: "DynamoDB on-demand capacity mode", 2026-11), which are four partitions.
_READER: Final = 4
#: What `deploy` gives webhooks at most, and the least that Lambda accepts for a queue:
#: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html (2026-11)
_MOST_WEBHOOKS, _LEAST = 50, 2
#: Emails a second that one worker hands over, of ten that it delivers at the same time; and codes,
#: which come one by one and take 120 ms each. docs/operations.md has the rates.
WORKER_RATE: Final = 20
WORKER_RATE_OF_CODES: Final = 8
#: The part of the account's functions that webhooks get.
_WEBHOOKS_PART: Final = 10


@dataclass(frozen=True, slots=True)
class WorkerMaximums:
    """The maximums of a stack.

    Args:
        delivery: DeliveryConcurrency: of each of the two queues of jobs, and of SES's events.
        webhooks: WebhookConcurrency; None if webhooks are off.
        limited: whether the queues of events, webhooks and the sweep have a maximum too.
    """

    delivery: int
    webhooks: int | None
    limited: bool = True

    @property
    def deliver(self) -> int:
        """How many functions deliver."""
        return 2 * self.delivery

    @property
    def of_functions(self) -> Mapping[str, int]:
        """The maximum of each function that a queue or the stream invokes and that has one."""
        workers = {"DeliverMessage": self.deliver, "AggregateStats": _READER}
        if self.webhooks is not None:
            workers |= {"AnnounceEvents": _READER}
        return workers | (self._limited if self.limited else {})

    @property
    def without_maximum(self) -> Sequence[str]:
        """The functions that a backlog could start as often as the account allows."""
        return () if self.limited else tuple(self._limited)

    @property
    def _limited(self) -> dict[str, int]:
        """The maximums that WorkerLimits can take away."""
        workers = {"RecordFeedback": self.delivery, "SweepAccount": _SWEEP}
        return workers if self.webhooks is None else workers | {"PostWebhooks": self.webhooks}

    @property
    def total(self) -> int:
        """How many functions run if all that have a maximum have work."""
        return sum(self.of_functions.values())

    def describe(self) -> str:
        """Return the sum and its parts, for a finding."""
        parts = ", ".join(f"{name} {number}" for name, number in self.of_functions.items())
        others = f", and {', '.join(self.without_maximum)} any number" if not self.limited else ""
        return f"queues and stream use up to {self.total} of them ({parts}){others}"


def check_maximums(limit: int, workers: WorkerMaximums) -> Iterator[Finding]:
    """Check that no queue without a maximum can take every function of a small account."""
    if workers.without_maximum and limit < MANY_FUNCTIONS:
        names = ", ".join(workers.without_maximum)
        message = f"{names} have no maximum: a backlog of one can take all {limit} functions."
        yield Finding("functions", Verdict.WARN, message, "Deploy with WorkerLimits=on.")


def most_delivery_workers(limit: int) -> int:
    """Return the highest DeliveryConcurrency that leaves half of an account's functions to others.

    Each of the two queues of jobs has as many; two are the least that Lambda accepts.
    """
    return max(limit // 4, _LEAST)


def choose_webhook_workers(limit: int) -> int:
    """Return the WebhookConcurrency for an account that runs so many functions at a time."""
    return min(max(limit // _WEBHOOKS_PART, _LEAST), _MOST_WEBHOOKS)

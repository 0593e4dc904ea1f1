"""The write units of one account's quota item, by its messages a second.

    .venv/bin/python -m benchmarks.quotas

The figures do not depend on the speed of the machine. 60 processes reserve quota at random moments
of a simulated clock, as Lambda's do. The model of the item takes at most 1,000 write units in each
second, as a partition does, and throttles the others without a retry.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final
from unittest.mock import patch

from pillarbox.adapters.dynamodb.messages import quotas as quota_chunks
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.accounts.quota import Amount, Limits, QuotaExceeded
from pillarbox.domain.errors import Unavailable

ACCOUNT: Final = "acct00000001"
START: Final = datetime(2026, 3, 14, 15, 0, tzinfo=UTC)
PROCESSES: Final = 60
PARTITION: Final = 1_000
UNLIMITED: Final = Limits(per_minute=None, per_day=None, per_month=None)


class QuotaItem(Table):
    """The table with one quota item in memory, which counts its write units by second."""

    def __init__(self, most: float = PARTITION) -> None:
        super().__init__("metered")
        self.now = START
        self.counts: dict[str, int] = {}
        self.units: Counter[datetime] = Counter()
        self.throttled = 0
        self._most = most

    def update(
        self,
        key: object,
        expression: str,
        *,
        condition: str | None = None,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Make one conditional update; a failed one costs a unit too."""
        del key
        names, values, second = names or {}, values or {}, self.now.replace(microsecond=0)
        if self.units[second] >= self._most:
            self.throttled += 1
            raise Unavailable("data store", aws_error="ProvisionedThroughputExceededException")
        self.units[second] += 1
        if not all(self._holds(part, names, values) for part in (condition or "").split(" AND ")):
            raise ConditionFailed(dict(self.counts))
        verb, _, terms = expression.partition(" ")
        for term in terms.split(", "):
            name, _, value = term.partition(" ")
            if verb == "REMOVE":
                del self.counts[names[name]]
            else:
                self.counts[names[name]] = self.counts.get(names[name], 0) + values[value]
        return dict(self.counts)

    def _holds(self, condition: str, names: Mapping[str, str], values: Mapping[str, Any]) -> bool:
        for term in condition.strip("()").split(" OR "):
            match term.replace("(", " ").replace(")", "").split():
                case []:
                    return True
                case ["attribute_not_exists", name]:
                    holds = names[name] not in self.counts
                case ["attribute_exists", name]:
                    holds = names[name] in self.counts
                case [name, "<=", value]:
                    stored = self.counts.get(names[name])
                    holds = stored is not None and stored <= values[value]
                case other:
                    raise NotImplementedError(other)
            if holds:
                return True
        return False


def process(item: QuotaItem) -> DynamoQuotas:
    """Return the quotas as a process of its own uses them."""
    quotas = DynamoQuotas(item)
    vars(quotas)["_refunds"] = item
    return quotas


@dataclass
class Run:
    """What the sends of some seconds led to."""

    item: QuotaItem
    accepted: Counter[datetime] = field(default_factory=Counter)
    refused: int = 0

    @property
    def most_units(self) -> int:
        """The largest number of write units in one second."""
        return max(self.item.units.values())

    @property
    def mean_units(self) -> float:
        """The mean number of write units in a second."""
        return sum(self.item.units.values()) / len(self.item.units)


def run(
    rate: float,
    seconds: float,
    *,
    limits: Limits = UNLIMITED,
    processes: int = PROCESSES,
    deaths: float = 0,
) -> Run:
    """Reserve for `rate` messages a second, at random moments and in random processes.

    Args:
        rate: the messages a second.
        seconds: how long they come.
        limits: the account's limits.
        processes: the number of processes at a time.
        deaths: how many processes a second die and are replaced.
    """
    draw = Random(1)  # noqa: S311  a repeatable schedule, not a secret
    item = QuotaItem()
    result, pool = Run(item), [process(item) for _ in range(processes)]
    end = item.now + timedelta(seconds=seconds)
    while (now := item.now + timedelta(seconds=draw.expovariate(rate))) < end:
        item.now = now
        number = draw.randrange(processes)
        if draw.random() < deaths / rate:
            pool[number] = process(item)
        try:
            pool[number].reserve(ACCOUNT, Amount(1, 1), limits, now)
        except QuotaExceeded:
            result.refused += 1
        except Unavailable:
            continue
        else:
            result.accepted[now.replace(second=0, microsecond=0)] += 1
    return result


def main() -> None:
    """Print the figures as tables."""
    print("| messages a second | reserved | most write units in a second | mean | throttled |")
    print("|---|---|---|---|---|")
    for rate in (100, 250, 400, 1_000, 3_000):
        for name, from_rate in (("one by one", float("inf")), ("in chunks", None)):
            chunked_rate = from_rate or quota_chunks.CHUNKED_RATE
            with patch.object(quota_chunks, "CHUNKED_RATE", chunked_rate):
                done = run(rate, 130)
            figures = f"{done.most_units} | {done.mean_units:.0f} | {done.item.throttled}"
            print(f"| {rate:,} | {name} | {figures} |")
    print()
    print("| limit a minute | offered a second | processes | deaths a second | least accepted |")
    print("|---|---|---|---|---|")
    for limit, rate, processes, deaths in (
        (18_000, 400, 60, 0),
        (60_000, 1_100, 60, 0),
        (60_000, 1_100, 60, 10),
        (60_000, 1_100, 300, 0),
    ):
        limits = Limits(per_minute=limit, per_day=None, per_month=None)
        done = run(rate, 180, limits=limits, processes=processes, deaths=deaths)
        lowest = min(done.accepted.values())
        accepted = f"{lowest:,} ({lowest / limit:.2%})"
        print(f"| {limit:,} | {rate:,} | {processes} | {deaths} | {accepted} |")


if __name__ == "__main__":
    main()

"""How much longer than SES imposes a code waits, in mixtures of mail that are drawn at random.

    .venv/bin/python -m benchmarks.mixtures [COUNT [FIRST_SEED]]

Each runs on the simulated clock of `latency.py`.
"""

# ruff: noqa: S311, PLR2004  mixtures from a seed, no secrets; what is drawn

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from random import Random, seed

from tests.fakes.simulation import Service

#: A code may wait so much longer, in seconds, than SES and its turns impose.
ALLOWANCE = 2.0
#: What leaves so soon after a code is accepted may have had its tokens already, in seconds.
_TOKENS_TAKEN = 1.5
HELD = 50_000
#: The part of SES's rate that the service uses (`token_bucket.py`).
USED = 0.98


@dataclass(frozen=True, slots=True)
class Email:
    """An email of a mixture."""

    at: float
    account: str
    recipients: int = 1
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Mixture:
    """What some accounts send."""

    seed: int
    rate: float
    warm: bool
    #: How many emails of one further account wait until it may send again.
    held: int
    emails: tuple[Email, ...]

    def run(self) -> list[float]:
        """Return how much longer than SES and its turns impose each code waited."""
        return late(self.departures(), self.rate)

    def departures(self) -> "list[Departure]":
        """Return when each email left."""
        seed(self.seed)
        service = Service(self.rate, warm=self.warm)
        if self.held:
            service.hold(self.held, "paused")
        for number, one in enumerate(self.emails):
            service.accept(
                one.at, str(number), one.recipients, account_id=one.account, urgent=one.urgent
            )
        waits = service.run().waits
        return [
            Departure(one, one.at + min(waits.get(str(number), [inf])))
            for number, one in enumerate(self.emails)
        ]


@dataclass(frozen=True, slots=True)
class Departure:
    """When an email left."""

    email: Email
    at: float


def draw(number: int) -> Mixture:
    """Return the mixture of a seed."""
    random = Random(number)
    rate = random.choice((1.0, 1.0, 14.0))
    load = rate**0.5  # of all seconds' work that an account may have waiting
    emails: list[Email] = []
    for account in range(random.randint(1, 6)):
        name = f"account{account}"
        begins = random.choice((0.0, random.uniform(0, 20)))
        if random.random() < 0.6:
            size = random.choice((1, 1, 1, 2, 5, 10, 20, 50))
            count = ceil(random.choice((1, 5, 20, 60)) * load / size)
            lasts = random.choice((0.0, 3.0, 30.0))
            emails += [Email(begins + random.random() * lasts, name, size) for _ in range(count)]
        if random.random() < 0.4:
            count, lasts = round(random.choice((5, 20, 60)) * load), random.choice((0.0, 3.0, 30.0))
            emails += [
                Email(begins + random.random() * lasts, name, 1, urgent=True) for _ in range(count)
            ]
        if random.random() < 0.6:
            emails += [Email(begins + random.random() * 60, name, 1, urgent=True) for _ in range(5)]
    return Mixture(
        number, rate, random.random() < 0.5, HELD if number % 10 == 0 else 0, tuple(emails)
    )


def late(left: Sequence[Departure], rate: float) -> list[float]:
    """Return how much longer each code waited than a rate and its turns impose."""
    return [
        code.at - max(code.email.at, _free_at(rate, left, code)) - _turns(left, code) / rate
        for code in left
        if code.email.urgent
    ]


def _free_at(rate: float, left: Sequence[Departure], code: Departure) -> float:
    """Return when SES took a recipient again after the emails that left before a code came.

    It counts all recipients of an email that is larger than a second of the rate.
    """
    second, full_at = max(rate, 1.0), 0.0
    for other in sorted(left, key=lambda other: other.at):
        is_large = other.email.recipients > second
        if other.at <= code.email.at + (_TOKENS_TAKEN if is_large else 0) and other is not code:
            full_at = max(full_at, other.at) + other.email.recipients / rate
    return full_at - (second - 1) / rate


def _turns(left: Sequence[Departure], code: Departure) -> int:
    """Return how many recipients have their turns until a code has its own.

    Beside each code of its account that leaves meanwhile another account may have one recipient. It
    may be ahead by its largest email, except before the first code, which no ordinary mail delays.
    """
    waiting = [one for one in left if one.email.at <= code.at and one.at > code.email.at]
    own = sum(
        one.email.urgent and one.email.account == code.email.account and one.at <= code.at
        for one in waiting
    )
    turns = own
    for account in {one.email.account for one in waiting} - {code.email.account}:
        others = [one.email for one in waiting if one.email.account == account]
        if own > 1:
            turns += own + max(one.recipients for one in others) - 1
        elif any(one.urgent for one in others):
            turns += 1
    return turns


def main() -> None:
    """Print the worst of some mixtures, and how many miss the goal."""
    count, first = (*map(int, sys.argv[1:]), *(500, 0)[len(sys.argv) - 1 :])
    mixtures = [draw(number) for number in range(first, first + count)]
    departures = [(mixture, mixture.departures()) for mixture in mixtures]
    for used in (1.0, USED):
        results = {one.seed: late(left, used * one.rate) for one, left in departures}
        codes = [extra for extras in results.values() for extra in extras]
        number_late = sum(extra > ALLOWANCE for extra in codes)
        missed = {
            number: max(extras)
            for number, extras in results.items()
            if max(extras, default=0) > ALLOWANCE
        }
        print(
            f"{used:.0%} of SES's rate, {count} mixtures, {len(codes):,} codes:"
            f" {number_late} of them in {len(missed)} mixtures too late"
        )
        for number, extra in sorted(missed.items(), key=lambda item: -item[1])[:10]:
            print(f"  seed {number}: {extra:.1f} s")


if __name__ == "__main__":
    main()

"""What a tenant keeps while another one floods the service with one key.

The real Delivery and the real sending rate run on a simulated clock (tests/fakes/simulation.py). A
flood has more email than SES takes. The neighbour sends a third of what SES grants. Its share is
what it gets sent in the time, compared with what it gets alone. The time ends when SES could have
sent one more email to 50 recipients, because everybody waits for such an email. The acceptance runs
in process, with the real use case and quotas.

What is not modelled: the firewall and API Gateway in front of the acceptance.
"""

# ruff: noqa: T201  a program that prints its figures

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Literal

from pillarbox.domain.accounts.quota import window_name
from pillarbox.domain.errors import ServiceError
from tests.fakes import builders
from tests.fakes.simulation import Service
from tests.fakes.world import World
from verification.attacks.tally import Options, Tally

type Flood = Literal["ordinary email", "urgent email", "email to 50 recipients"]

FLOODS: Final[tuple[Flood, ...]] = ("ordinary email", "urgent email", "email to 50 recipients")
#: The neighbour keeps at least this part of its share.
GOAL: Final = 0.9
_FLOODER: Final = "acct00000002"
#: What the neighbour sends, of the rate that SES grants.
_DEMAND: Final = 1 / 3
#: Seconds from the start of the flood to the neighbour's first email.
_HEAD_START: Final = 5.0


@dataclass(frozen=True)
class Share:
    """What the neighbour got in a flood."""

    rate: float
    flood: Flood
    urgent: bool
    alone: int
    kept: int
    p50: float
    throttled: int

    @property
    def part(self) -> float:
        """The part of its share that it kept."""
        return self.kept / self.alone


def delivery(rate: float, seconds: float, flood: Flood, *, urgent: bool) -> Share:
    """Compare what a neighbour gets sent during a flood with what it gets alone.

    Args:
        rate: the recipients a second that SES grants.
        seconds: how long the neighbour sends.
        flood: what the other tenant sends.
        urgent: whether the neighbour's emails are urgent.
    """
    flooded = _with_neighbour(rate, seconds, urgent=urgent)
    recipients = 50 if flood == "email to 50 recipients" else 1
    backlog = int(2 * rate * seconds / recipients) + 100
    for number in range(backlog):
        moment = number / backlog * seconds / 2 if number >= backlog // 4 else 0.0
        flooded.accept(
            moment, "flood", recipients, account_id=_FLOODER, urgent=flood == "urgent email"
        )
    report = flooded.run(_end(rate, seconds))
    kept = len(report.waits.get("neighbour", ()))
    return Share(
        rate,
        flood,
        urgent,
        _sent_alone(rate, seconds, urgent=urgent),
        kept,
        report.percentile("neighbour", 0.5) if kept else seconds,
        report.throttled,
    )


def _with_neighbour(rate: float, seconds: float, *, urgent: bool) -> Service:
    random.seed(1)
    service = Service(rate)
    for number in range(int(_DEMAND * rate * seconds)):
        moment = _HEAD_START + number / (_DEMAND * rate)
        service.accept(moment, "neighbour", urgent=urgent)
    return service


def _end(rate: float, seconds: float) -> float:
    return _HEAD_START + seconds + 50 / rate


@cache  # the same for every flood
def _sent_alone(rate: float, seconds: float, *, urgent: bool) -> int:
    service = _with_neighbour(rate, seconds, urgent=urgent)
    return len(service.run(_end(rate, seconds)).waits["neighbour"])


@dataclass(frozen=True)
class Acceptance:
    """What was accepted: of the neighbour's emails, and the flood's recipients of a day."""

    alone: int
    kept: int
    flood_recipients: int
    limit: int


def acceptance(requests: int = 1_000) -> Acceptance:
    """Count what the quotas accept while one key sends to 50 recipients again and again."""
    world, flooder = World(), builders.account()
    flooder = replace(flooder, account_id=_FLOODER, overrides=replace(flooder.overrides, per_day=9))
    text = builders.key_text(_FLOODER)
    key = builders.api_key(text)
    world.set_account(flooder)
    world.store.keys[key.digest] = replace(key, account_id=_FLOODER)
    wide = builders.request(to=tuple(f"a{number}@example.com" for number in range(50)))
    sends = requests // 20
    kept = 0
    for number in range(requests):
        _accept(world, text, wide)
        if number % 20 == 0:
            kept += _accept(world, world.live, builders.request())
    counted = world.store.counts[_FLOODER, window_name("recipients", world.now)]
    limit = flooder.limits.of("recipients")
    assert limit is not None
    return Acceptance(sends, kept, counted, limit)


def _accept(world: World, key: str, request: object) -> bool:
    try:
        world.single_send.submit(key, request, None, str)  # type: ignore[arg-type]
    except ServiceError:
        return False
    return True


def shares(*, short: bool = False) -> Iterator[Share]:
    """Run every flood at the rate of the sandbox and at 14 a second."""
    for rate, seconds in ((14.0, 8.0),) if short else ((14.0, 120.0), (1.0, 1_200.0)):
        for flood in FLOODS:
            for urgent in (False, True):
                yield delivery(rate, seconds, flood, urgent=urgent)


def run(_: Options) -> Tally:
    """Print the figures as a table; count the neighbours that lost more than they may."""
    tally = Tally("neighbours with too little", "recipients over the limit")
    print("| SES's rate | flood | the neighbour's email | alone | in the flood | kept | p50 |")
    print("|---|---|---|---|---|---|---|")
    for share in shares():
        lane = "urgent" if share.urgent else "ordinary"
        print(
            f"| {share.rate:g} | {share.flood} | {lane} | {share.alone} | {share.kept} |"
            f" {share.part:.0%} | {share.p50:.1f} s |",
            flush=True,
        )
        tally["floods tried"] += 1
        tally["throttled by SES"] += share.throttled
        tally["neighbours with too little"] += share.part < GOAL
    accepted = acceptance()
    tally["neighbours with too little"] += accepted.kept < GOAL * accepted.alone
    tally["recipients over the limit"] = max(accepted.flood_recipients - accepted.limit, 0)
    return tally

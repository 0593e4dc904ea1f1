"""What other tenants keep of the API while one key floods it from many addresses.

First the real functions run on emulated AWS. One key repeats requests that read much and accept
nothing, within a minute, and every item that is read is counted. A neighbour sends in between.

Then a model of what is in front of the functions, with the figures of template.yaml: the gateway
has a bucket of tokens for each method of each path. The firewall counts each key over a minute,
and acts half a minute later; AWS documents that this is usual
(https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-caveats.html).
The flood lasts ten minutes. The neighbour sends ten requests a second all the time.
"""

# ruff: noqa: T201  a program that prints its figures

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from local import template
from pillarbox.domain.accounts.key import account_of_key
from pillarbox.domain.accounts.quota import Limits
from tests.contract.bodies import raw_html
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service
from verification.attacks.anonymous import counting
from verification.attacks.tally import Options, Tally, service_alone

#: The neighbour keeps at least this part of its requests.
GOAL: Final = 0.9
#: Key, account and quota.
LEAST_READS: Final = 3
_START: Final = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)
#: Such an account may have 20 costly refusals a minute.
_LIMITS: Final = Limits(per_minute=10, per_day=None, per_month=None)
_OK: Final = 200
_TOO_MANY: Final = 429

_PARAMETERS: Final[dict[str, Any]] = template.load()["Parameters"]
_RATE: Final = float(_PARAMETERS["RequestsPerSecond"]["Default"])
_PER_KEY: Final = float(_PARAMETERS["RequestsPerKey"]["Default"])
#: Requests of each flood that are made, in the same minute.
REQUESTS: Final = 100
#: Requests a second with one key, in the model.
FLOODS: Final = (100.0, 250.0, 490.0, 1_000.0, 5_000.0)
_SECONDS: Final = 600
_NEIGHBOUR: Final = 10.0
#: In seconds: what the firewall counts over, and how late it acts.
_WINDOW: Final = 60
_DELAY: Final = 30


@dataclass(frozen=True)
class Reads:
    """What a flood of one kind of request read within a minute."""

    kind: str
    requests: int
    #: Items that one request read before any was counted, and after the limit was reached.
    first: int
    last: int
    total: int
    refused_early: int
    neighbour_sent: int
    neighbour_accepted: int

    @property
    def broken(self) -> bool:
        """Whether a request costs more than it may at the limit, or a neighbour was refused."""
        all_accepted = self.neighbour_accepted == self.neighbour_sent
        return self.last > LEAST_READS or not self.refused_early or not all_accepted


def floods(service: Service, messages: int) -> Iterator[tuple[str, Callable[[], ApiResponse]]]:
    """Return requests that read much and accept nothing, each with a key of a new account.

    Args:
        service: where they are made.
        messages: how many a batch has.
    """
    wide = [f"a{number}@customer.example" for number in range(1_000)]
    batch = [raw_html(to=wide[at * 10 :][:10]) for at in range(messages)]
    email = raw_html(to=wide[:50])
    without_quota = service.live(limits=replace(_LIMITS, per_day=0))
    yield "batch beyond the quota", lambda: _send_batch(without_quota, batch)
    yield "email beyond the quota", lambda: without_quota.send(email)
    sender = service.live(limits=_LIMITS)
    for at in range(0, 10 * messages, 10):
        service.suppress(account_of_key(sender.key or "") or "", wide[at])
    yield "batch of suppressed recipients", lambda: _send_batch(sender, batch)
    other = service.live(limits=_LIMITS)
    absent = raw_html(to=wide[:50], html=..., subject=..., templateId=str(uuid4()))
    yield "email with an unknown template", lambda: other.send(absent)
    repeating = service.live(limits=_LIMITS)
    yield "replay of an email", lambda: repeating.send(email, idempotency_key="again")
    yield "replay of a batch", lambda: _send_batch(repeating, batch[:20], "again")


def _send_batch(api: Api, messages: list[Any], idempotency_key: str = "") -> ApiResponse:
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else None
    return api.raw("POST", "/emails/batch", json.dumps({"messages": messages}), headers)


def read_floods(service: Service, requests: int, messages: int = 100) -> Iterator[Reads]:
    """Repeat each of these requests within a minute; a neighbour sends after each ten."""
    for number, (kind, attempt) in enumerate(floods(service, messages)):
        neighbour = service.live()
        with service.at(_START + number * timedelta(minutes=1)):
            reads, early, accepted = [], 0, 0
            for position in range(requests):
                with counting() as cost:
                    response = attempt()
                reads.append(sum(cost.reads))
                early += response.status == _TOO_MANY and reads[-1] <= LEAST_READS
                if position % 10 == 0:
                    accepted += neighbour.send(raw_html()).status == _OK
        yield Reads(
            kind, requests, reads[0], reads[-1], sum(reads), early, -(-requests // 10), accepted
        )


def share_kept(flood: float, *, firewall: bool, same_method: bool) -> float:
    """Return the part of its requests that a neighbour keeps in ten minutes of a flood.

    Args:
        flood: the requests a second with one key.
        firewall: whether the stack has one.
        same_method: whether the flood uses the neighbour's method and path.
    """
    tokens, kept, counted = _RATE, 0.0, [0.0] * _SECONDS
    for second in range(_SECONDS):
        counted[second] = flood  # the firewall counts what it blocks, too
        seen = second - _DELAY
        is_blocked = firewall and sum(counted[max(seen - _WINDOW, 0) : max(seen, 0)]) > _PER_KEY
        asked = _NEIGHBOUR + (flood if same_method and not is_blocked else 0.0)
        tokens = min(tokens + _RATE, 2 * _RATE)  # what comes in a second, and a full bucket
        part = min(tokens / asked, 1.0)
        tokens = min(tokens - asked * part, _RATE)
        kept += part
    return kept / _SECONDS


def run(_: Options) -> Tally:
    """Print the figures of each flood; count those that read too much or take too large a share."""
    tally = Tally("costly floods", "shares under 90 %")
    with service_alone() as service:
        measured = list(read_floods(service, REQUESTS))
    print(f"| flood of {REQUESTS} requests | items read by the first | by the last | by all |")
    print("|---|---|---|---|")
    for reads in measured:
        print(f"| {reads.kind} | {reads.first:,} | {reads.last} | {reads.total:,} |")
        tally["floods tried"] += 1
        tally.raise_to("items read at the limit at most", reads.last)
        if reads.broken:
            tally.find("costly floods", reads)
    print("\n| requests a second with one key | other method | same method | with a firewall |")
    print("|---|---|---|---|")
    for flood in FLOODS:
        other = share_kept(flood, firewall=False, same_method=False)
        same = share_kept(flood, firewall=False, same_method=True)
        guarded = share_kept(flood, firewall=True, same_method=True)
        print(f"| {flood:,.0f} | {other:.0%} | {same:.0%} | {guarded:.0%} |")
        promised = [other, guarded, *([same] if flood + _NEIGHBOUR <= _RATE else [])]
        tally["shares measured"] += len(promised)
        tally["shares under 90 %"] += sum(share < GOAL for share in promised)
    return tally

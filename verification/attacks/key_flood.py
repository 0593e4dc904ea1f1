"""What other tenants keep of the API while one key floods it from many addresses.

    .venv/bin/python -m verification.attacks.key_flood

First the real functions run on emulated AWS. One key repeats requests that read much and accept
nothing, within a minute, and every item that is read is counted. A neighbour sends in between.

Then a model of what is in front of the functions, with the figures of template.yaml: the gateway has
a bucket of tokens for each method of each path. The firewall counts each key over a minute, and what
it counts takes effect after half a minute; AWS documents that this is usual
(https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-caveats.html).
The flood lasts ten minutes. The neighbour sends ten requests a second all the time.
"""

# ruff: noqa: T201  a program that prints its figures

import json
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from local import template
from pillarbox.domain.account import PLAN_LIMITS, Plan
from pillarbox.domain.key import account_of_key
from pillarbox.domain.quota import Limits
from tests.contract.bodies import raw_html
from tests.contract.client import Api
from tests.contract.name_server import running_name_server
from tests.contract.service import Service, running_service
from verification.attacks.anonymous import counting

#: The neighbour keeps at least this part of its requests.
GOAL: Final = 0.9
#: Key, account and quota.
LEAST_READS: Final = 3
_NOW: Final = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)
_OK: Final = 200
_TOO_MANY: Final = 429

_PARAMETERS: Final[dict[str, Any]] = template.load()["Parameters"]
_RATE: Final = float(_PARAMETERS["RequestsPerSecond"]["Default"])
_PER_KEY: Final = float(_PARAMETERS["RequestsPerKey"]["Default"])
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
    first: int
    total: int
    last: int
    refused_early: int
    neighbour: int
    neighbour_accepted: int


def floods(service: Service) -> Iterator[tuple[str, Api, str, str, str | None]]:
    """Return requests that read much and accept nothing: name, key, path, body, idempotency key."""
    wide = [f"a{number}@customer.example" for number in range(1_000)]
    batch = {"messages": [raw_html(to=wide[at * 10 :][:10]) for at in range(100)]}
    gone = {"messages": [raw_html(to=["gone@customer.example", *wide[:9]])] * 100}
    plan = PLAN_LIMITS[Plan.STANDARD]
    empty = Limits(per_minute=plan.per_minute, per_day=0, per_month=None)
    suppressed = service.live()
    service.suppress(account_of_key(suppressed.key or "") or "", "gone@customer.example")
    absent = raw_html(to=wide[:50], html=..., subject=..., templateId=str(uuid4()))
    yield "batch beyond the quota", service.live(limits=empty), "/emails/batch", json.dumps(batch), None
    yield "email beyond the quota", service.live(limits=empty), "/emails", json.dumps(raw_html(to=wide[:50])), None
    yield "batch of suppressed recipients", suppressed, "/emails/batch", json.dumps(gone), None
    yield "email with an unknown template", service.live(), "/emails", json.dumps(absent), None
    yield "replayed email", service.live(), "/emails", json.dumps(raw_html(to=wide[:50])), "again"

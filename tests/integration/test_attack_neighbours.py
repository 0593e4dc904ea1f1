"""What a tenant keeps while another one floods the service with one key.

The real Delivery and the real sending rate run on a simulated clock. A flood has more email than
SES takes, and the neighbour sends a third of what SES grants. What it gets sent is compared with
what it gets alone, until SES could have sent one more email to 50 recipients, because everybody
waits for such an email.
"""

import contextlib
import random
from dataclasses import replace

import pytest

from pillarbox.domain.accounts.quota import window_name
from pillarbox.domain.errors import ServiceError
from tests.fakes import builders
from tests.fakes.simulation import Service
from tests.fakes.world import World

FLOODER = "acct00000002"
RATE = 14.0
SECONDS = 8.0
#: Seconds from the start of the flood to the neighbour's first email.
HEAD_START = 5.0


def _sent(flood: str, *, urgent: bool) -> int:
    """Return how many of the neighbour's emails are sent in the time."""
    random.seed(1)
    service = Service(RATE)
    for number in range(int(RATE * SECONDS / 3)):
        service.accept(HEAD_START + number * 3 / RATE, "neighbour", urgent=urgent)
    recipients = 50 if flood == "email to 50 recipients" else 1
    backlog = int(2 * RATE * SECONDS / recipients) + 100 if flood else 0
    for number in range(backlog):
        moment = number / backlog * SECONDS / 2 if number >= backlog // 4 else 0.0
        service.accept(
            moment, "flood", recipients, account_id=FLOODER, urgent=flood == "urgent email"
        )
    return len(service.run(HEAD_START + SECONDS + 50 / RATE).waits["neighbour"])


@pytest.mark.parametrize("urgent", [False, True])
def test_a_neighbour_keeps_its_share_of_the_sending_rate(*, urgent: bool) -> None:
    """During each flood another tenant gets at least 90 % of what it gets alone."""
    alone = _sent("", urgent=urgent)
    assert alone >= 36
    for flood in ("ordinary email", "urgent email", "email to 50 recipients"):
        assert _sent(flood, urgent=urgent) >= 0.9 * alone, flood


def test_a_neighbour_is_accepted_while_another_floods() -> None:
    """A flood of emails to many recipients ends at its own limit and refuses nobody else."""
    world, flooder = World(), builders.account()
    flooder = replace(flooder, account_id=FLOODER, overrides=replace(flooder.overrides, per_day=9))
    text = builders.key_text(FLOODER)
    key = builders.api_key(text)
    world.set_account(flooder)
    world.store.keys[key.digest] = replace(key, account_id=FLOODER)
    wide = builders.request(to=tuple(f"a{number}@example.com" for number in range(50)))
    for number in range(100):
        with contextlib.suppress(ServiceError):
            world.single_send.submit(text, wide, None, str)
        if number % 20 == 0:
            world.single_send.submit(world.live, builders.request(), None, str)
    counted = world.store.counts[FLOODER, window_name("recipients", world.now)]
    assert counted == flooder.limits.of("recipients") == 50

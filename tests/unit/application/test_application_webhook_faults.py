"""A fault at calls of each kind of the path of webhooks: no event is lost."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest

from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import EventKind
from tests.fakes.builders import ACCOUNT, at, event, message
from tests.fakes.webhook_world import WebhookWorld, beyond_patience
from tests.fakes.world import faults_of

OK, BUSY = PostResult(status_code=200), PostResult(status_code=503)
ANN = "ann@example.com"


def mails(world: WebhookWorld, count: int, seconds: float = 0) -> None:
    """Let emails be accepted, sent and delivered."""
    for number in range(count):
        accepted = message(ACCOUNT, new_id(at(seconds + number)))
        world.change(accepted)
        world.change(accepted, event(EventKind.SENT, seconds + number + 1))
        world.change(accepted, event(EventKind.DELIVERED, seconds + number + 2, ANN))


def healthy() -> WebhookWorld:
    """An endpoint that works, and one that fails each event of an email once."""
    world = WebhookWorld()
    world.add_endpoint(url="https://works.example/")
    world.add_endpoint(url="https://fails-once.example/")
    failed: set[UUID] = set()

    def answer(url: str, event_id: UUID) -> PostResult:
        if "once" not in url or event_id in failed:
            return OK
        failed.add(event_id)
        return BUSY

    world.answer = answer
    mails(world, 1)
    return world


def outage() -> WebhookWorld:
    """An endpoint that fails for 3 hours: the circuit opens, events wait and are drained."""
    world = WebhookWorld()
    world.add_endpoint()
    start = world.now
    world.answer = lambda _url, _id: BUSY if world.now < start + timedelta(hours=3) else OK
    mails(world, 3)
    return world


def slow() -> WebhookWorld:
    """An endpoint that is slow for a batch: the events of the next batch wait and are drained."""
    world = WebhookWorld(batch=5, parallel=beyond_patience)
    world.add_endpoint()
    mails(world, 5)
    return world


def run(world: WebhookWorld) -> None:
    """Settle, with more emails while the circuit of an outage is open."""
    world.settle(timedelta(minutes=10))
    mails(world, 2, seconds=1000)
    world.settle()


@pytest.mark.parametrize("begin", [healthy, outage, slow])
def test_an_undisturbed_run_delivers_each_event_once(begin: Callable[[], WebhookWorld]) -> None:
    """Without a fault each event is accepted exactly once, and nothing is left waiting."""
    world = begin()
    run(world)
    assert world.accepted == Counter(world.expected())
    assert not world.all_waiting()
    assert len(world.accepted) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("begin", [healthy, outage, slow])
def test_a_fault_at_any_call_loses_nothing(begin: Callable[[], WebhookWorld]) -> None:
    """After a kill or an error before or after a call of any kind each event is delivered.

    `verification.webhooks` tries each fault at each call.
    """
    undisturbed = begin()
    run(undisturbed)
    for fault in faults_of(undisturbed.gate.calls, most=4):
        world = begin()
        world.gate.fault = fault
        run(world)
        assert set(world.accepted) == world.expected(), fault
        assert not world.all_waiting(), fault
        assert max(world.accepted.values()) <= 2, fault
    assert len(undisturbed.gate.calls) > 100

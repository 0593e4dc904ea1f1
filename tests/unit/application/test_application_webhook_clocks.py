"""Webhooks between machines whose clocks differ: no event is lost, none is posted twice."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from uuid import UUID

import pytest

from pillarbox.application.change_log import ChangeLog
from pillarbox.application.webhooks.endpoints import Webhooks
from pillarbox.application.webhooks.ports import EndpointChanges, PostResult
from pillarbox.domain.ids import named_id
from pillarbox.domain.messages.message import EventKind
from tests.fakes.builders import ACCOUNT, at, event, message
from tests.fakes.change_log import FakeLogEntries
from tests.fakes.slow_requests import slow_requests
from tests.fakes.webhook_world import WebhookWorld

CLOCK_MARGIN = timedelta(seconds=30)

OK, BUSY, GONE = (PostResult(status_code=code) for code in (200, 503, 410))
ERRORS = [timedelta(seconds=seconds) for seconds in (-30, -10, -3, -1, 0, 1, 3, 10, 30)]

type Answers = Callable[[WebhookWorld], Callable[[str, UUID], PostResult]]


def each_fails_once(_: WebhookWorld) -> Callable[[str, UUID], PostResult]:
    """Answer each first POST of an event with 503."""
    failed = set[UUID]()

    def answer(_: str, event_id: UUID) -> PostResult:
        if event_id in failed:
            return OK
        failed.add(event_id)
        return BUSY

    return answer


def down_for(time: timedelta) -> Answers:
    """Answer 503 for a time, so that the circuit opens and probes follow."""

    def begin(world: WebhookWorld) -> Callable[[str, UUID], PostResult]:
        up_at = world.now + time
        return lambda _url, _id: OK if world.now >= up_at else BUSY

    return begin


def mails(world: WebhookWorld, start: datetime) -> None:
    for number in range(5):
        seconds = (start - at(0)).total_seconds() + number
        accepted = message(ACCOUNT, named_id(str(seconds), at(seconds)))
        world.change(accepted)
        world.change(accepted, event(EventKind.SENT, seconds + 1))
        world.change(accepted, event(EventKind.DELIVERED, seconds + 2, "ann@example.com"))
        world.settle(timedelta(seconds=1))
        world.now += timedelta(seconds=1)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(
    "answers", [each_fails_once, down_for(timedelta(minutes=30)), down_for(timedelta(minutes=2))]
)
def test_clocks_that_differ_lose_no_event(error: timedelta, answers: Answers) -> None:
    """Half of the invocations have a clock that is up to 30 seconds wrong."""
    lost, repeated, events = 0, 0, 0
    for seed in range(3):
        world = WebhookWorld(
            random=Random(seed),  # noqa: S311  no secret
            clock_errors=(timedelta(0), error),
        )
        world.answer = answers(world)
        world.add_endpoint()
        mails(world, world.now)
        world.settle()
        events += len(world.expected())
        lost += len(world.expected() - set(world.accepted))
        repeated += sum(count - 1 for count in world.accepted.values())
    assert (events, lost, repeated) == (30, 0, 0)


@pytest.mark.parametrize("error", [-CLOCK_MARGIN, timedelta(0), CLOCK_MARGIN])
def test_an_enabled_endpoint_receives_what_waits(error: timedelta) -> None:
    """When its owner enables it, a worker with any clock posts each event that waits once."""
    world = WebhookWorld(clock_errors=(error,))
    endpoint = world.add_endpoint()
    world.answer = lambda _url, _id: GONE
    mails(world, world.now)
    world.settle()
    assert world.accepted == Counter()
    world.answer = lambda _url, _id: OK
    webhooks = Webhooks(
        endpoints=world.endpoints,
        healths=world.healths,
        poster=lambda: world.poster,
        slow_requests=slow_requests(),
        queue=world.queue,
        log=ChangeLog(FakeLogEntries(), lambda: world.now),
        clock=lambda: world.now,
    )
    webhooks.change(
        ACCOUNT, UUID(endpoint.endpoint_id), EndpointChanges(enabled=True), by="operator"
    )
    world.settle()
    assert dict(world.accepted) == dict.fromkeys(world.expected(), 1)
    assert world.health_of(world.added[0]).open_since is None

"""Replays reach the endpoint: the use cases and the worker, over fakes with a clock."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from pillarbox.application.webhooks.attempts import Attempts, drain_of
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.application.webhooks.post import Drains, WebhookWorker
from pillarbox.application.webhooks.replays import WebhookReplays
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import EventKind
from pillarbox.domain.webhooks.endpoint import (
    DeliveryAttempt,
    DeliveryState,
    EndpointHealth,
    ReplayRequest,
    WebhookDelivery,
    WebhookEndpoint,
)
from pillarbox.domain.webhooks.events import events_of
from tests.fakes.builders import ACCOUNT, at, event, message
from tests.fakes.webhook_world import WebhookWorld, one_after_another
from tests.unit.application.test_application_webhooks import FakeLog

CLOCK_MARGIN = timedelta(seconds=30)

BUSY, GONE = PostResult(status_code=503), PostResult(status_code=410)


def begin() -> tuple[WebhookWorld, WebhookEndpoint, WebhookReplays]:
    world = WebhookWorld()
    endpoint = world.add_endpoint()
    world.change(message(ACCOUNT, new_id(at(0))), event(EventKind.SENT, 1))
    replays = WebhookReplays(
        endpoints=world.endpoints,
        deliveries=world.deliveries,
        queue=world.queue,
        log=FakeLog(),
        clock=lambda: world.now,
    )
    return world, endpoint, replays


def only_delivery(world: WebhookWorld) -> WebhookDelivery:
    (delivery,) = world.all_deliveries()
    return delivery


def test_a_replayed_event_is_posted_once_more() -> None:
    """A delivered event is posted again with the same id; a repeated task does not post it."""
    world, endpoint, replays = begin()
    world.settle()
    sent = only_delivery(world).event
    assert world.accepted == {sent.event_id: 1}
    world.now += timedelta(hours=1)
    replays.replay(ACCOUNT, UUID(endpoint.endpoint_id), sent.delivery_id)
    ((task, _),) = world.queue.tasks
    world.deliver_again(task, timedelta(seconds=3))  # the queue may deliver a task twice
    world.settle()
    assert world.accepted == {sent.event_id: 2}
    assert world.outcomes["repeated"] == 1
    delivery = only_delivery(world)
    assert (delivery.event.event_id, len(delivery.attempts)) == (sent.event_id, 1)


@pytest.mark.parametrize("error", [-CLOCK_MARGIN, CLOCK_MARGIN])
def test_a_replay_does_not_depend_on_clocks(error: timedelta) -> None:
    """An event is posted again just after its first attempt, by a worker with any clock."""
    world, endpoint, replays = begin()
    world.clock_errors = (error,)
    world.settle()
    sent = only_delivery(world).event
    for count in (2, 3):
        world.now += timedelta(seconds=1)
        replays.replay(ACCOUNT, UUID(endpoint.endpoint_id), sent.delivery_id)
        ((task, _),) = world.queue.tasks
        world.deliver_again(task, timedelta(seconds=3))
        world.settle()
        assert world.accepted == {sent.event_id: count}


def test_replays_of_one_event_share_its_attempts() -> None:
    world, endpoint, replays = begin()
    world.answer = lambda _url, _id: BUSY
    world.settle()
    before = len(world.poster.posts)
    for _ in range(3):
        replays.replay(ACCOUNT, UUID(endpoint.endpoint_id), only_delivery(world).event.delivery_id)
        world.settle(timedelta(minutes=1))
    world.settle(timedelta(hours=2))
    assert len(world.poster.posts) - before <= 9
    assert world.health_of(world.added[0]).open_since is None


def test_no_event_of_an_erased_recipient_is_replayed_by_time() -> None:
    """It would come under a second id. The events of the email and of others come again."""
    world, endpoint, replays = begin()
    ann, bob = "ann@example.com", "bob@example.com"
    sent = world.change(message(ACCOUNT, new_id(at(5)), to=(ann, bob)), event(EventKind.SENT, 6))
    world.change(sent, event(EventKind.DELIVERED, 7, ann), event(EventKind.BOUNCED, 8, bob))
    world.settle()
    before = {*world.accepted}
    erased = world.erase(world.store.messages[ACCOUNT, sent.message_id], ann)
    of_erased = replace(replays, log=FakeLog([erased]))
    request = ReplayRequest(since=at(0), until=at(60))
    assert of_erased.replay_all(ACCOUNT, UUID(endpoint.endpoint_id), request).queued == 2
    world.settle()
    assert {*world.accepted} == before


def test_a_replay_begins_a_new_schedule() -> None:
    """An event that was given up is tried again after the usual waits."""
    world, endpoint, replays = begin()
    world.answer = lambda _url, _id: BUSY
    world.settle()
    given_up = only_delivery(world)
    assert (given_up.state, len(given_up.attempts)) == (DeliveryState.FAILED, 10)
    began = world.now = world.now + timedelta(hours=1)
    replays.replay(ACCOUNT, UUID(endpoint.endpoint_id), given_up.event.delivery_id)
    world.answer = lambda _url, _id: (
        BUSY if world.now < began + timedelta(minutes=1) else PostResult(status_code=200)
    )
    world.settle()
    delivery = only_delivery(world)
    assert delivery.state is DeliveryState.DELIVERED
    assert [attempt.status_code for attempt in delivery.attempts] == [503, 503, 200]


@pytest.mark.parametrize("before", ["deliveries.put", "waiting.put", "healths.get"])
@pytest.mark.parametrize("waited", [True, False])
@pytest.mark.parametrize("answer", [PostResult(status_code=200), BUSY])
def test_a_drain_beside_a_replay_loses_nothing(
    before: str, answer: PostResult, *, waited: bool
) -> None:
    """A drain that runs before any call of the worker which lets the replay wait posts it once.

    With `waited`, an earlier drain posted the event and died before it removed it.
    """
    world, endpoint, replays = begin()
    world.settle()
    delivered = only_delivery(world)
    if waited:
        world.waiting.put(delivered.event)
    world.set_health(endpoint, EndpointHealth(slow_since=world.now))
    replays.replay(ACCOUNT, UUID(endpoint.endpoint_id), delivered.event.delivery_id)
    ((task, _),) = world.queue.tasks
    world.queue.tasks.clear()
    world.answer = lambda _url, _id: answer

    def drain(name: str) -> None:
        if name == before and len(world.gate.calls) > 2:
            world.gate.watch = lambda _: None
            Drains(world.ports, Attempts(world.ports), one_after_another).run(
                drain_of(endpoint), endpoint
            )

    world.gate.calls.clear()
    world.gate.watch = drain
    assert WebhookWorker(world.ports, one_after_another).handle([task]) == ["waiting"]
    world.answer = lambda _url, _id: PostResult(status_code=200)
    world.settle()
    assert world.accepted == {delivered.event.event_id: 2}
    assert only_delivery(world).state is DeliveryState.DELIVERED
    assert not world.all_waiting()


@pytest.mark.parametrize("attempts", [0, 1])
def test_an_event_waits_although_its_worker_died_after_the_record(attempts: int) -> None:
    """The queue delivers the task again, and the record alone does not make it a repetition."""
    world, endpoint, _ = begin()
    world.stream.clear()
    (message,) = world.store.messages.values()
    event = events_of(message)[-1].for_endpoint(endpoint.endpoint_id)
    attempt = DeliveryAttempt(at=world.now, status_code=503, milliseconds=1)
    world.deliveries.put(
        WebhookDelivery(
            event=event, state=DeliveryState.WAITING, attempts=(attempt,) * (attempts + 1)
        )
    )
    world.deliver_again(replace(event, attempts=attempts))
    world.settle()
    assert world.accepted == {event.event_id: 1}
    assert only_delivery(world).state is DeliveryState.DELIVERED

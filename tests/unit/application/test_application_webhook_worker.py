"""The worker of webhooks: what each answer of an endpoint leads to."""

from dataclasses import replace
from datetime import timedelta

from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.messages.message import EventKind
from pillarbox.domain.webhooks.endpoint import (
    DeliveryState,
    EndpointDrain,
    EndpointHealth,
    WebhookDelivery,
)
from pillarbox.domain.webhooks.events import webhook_test
from tests.fakes.builders import ACCOUNT, event, message
from tests.fakes.webhook_world import WebhookWorld

OK = PostResult(status_code=200)


def one_event(answer: PostResult) -> WebhookWorld:
    world = WebhookWorld()
    world.add_endpoint()
    world.answer = lambda _url, _id: answer
    world.change(message(), event(EventKind.SENT, 1))
    return world


def delivery(world: WebhookWorld) -> WebhookDelivery:
    (only,) = world.all_deliveries()
    return only


def health(world: WebhookWorld) -> EndpointHealth:
    return world.health_of(world.added[0])


def test_events_of_a_deleted_endpoint_end() -> None:
    world = one_event(OK)
    endpoint = world.add_endpoint()
    world.settle(timedelta(seconds=1))
    world.endpoints.remove(ACCOUNT, endpoint.endpoint_id)
    posted = len(world.poster.posts)
    world.deliver_again(EndpointDrain(ACCOUNT, endpoint.endpoint_id))
    world.deliver_again(world.deliveries_of(endpoint)[0].event)
    world.settle()
    assert len(world.poster.posts) == posted
    assert world.outcomes["endpoint_deleted"] == 2


def test_a_disabled_endpoint_hears_nothing_new() -> None:
    world = WebhookWorld()
    world.add_endpoint(enabled=False)
    world.change(message(), event(EventKind.SENT, 1))
    world.settle()
    assert not world.all_deliveries()


def test_a_test_has_one_attempt() -> None:
    """A test that fails is not repeated, and does not count as a failure of the endpoint."""
    world = WebhookWorld()
    endpoint = world.add_endpoint()
    world.answer = lambda _url, _id: PostResult(status_code=500)
    world.deliver_again(webhook_test(ACCOUNT, world.now).for_endpoint(endpoint.endpoint_id))
    world.settle()
    assert delivery(world).state is DeliveryState.FAILED
    assert len(world.poster.posts) == 1
    assert health(world) == EndpointHealth()


def test_a_repeated_task_is_not_posted() -> None:
    """A second copy of a delivered event, or of one that waits for its retry, is dropped."""
    for answer in (OK, PostResult(status_code=429, retry_after=timedelta(hours=3))):
        world = one_event(answer)
        world.settle(timedelta(minutes=1))
        world.deliver_again(delivery(world).event)
        world.settle(timedelta(minutes=1))
        assert len(world.poster.posts) == 1
        assert world.outcomes["repeated"] == 1


def test_a_copy_of_a_retry_is_not_posted() -> None:
    """Only the task that has as many attempts as the record tries an event again."""
    world = one_event(PostResult(status_code=503))
    world.settle(timedelta(minutes=1))
    stored = delivery(world)
    assert len(stored.attempts) == 2
    for attempts in (0, 1):
        world.deliver_again(replace(stored.event, attempts=attempts))
    world.settle(timedelta(seconds=1))
    assert world.outcomes["repeated"] == 2
    world.deliver_again(replace(stored.event, attempts=2))
    world.settle(timedelta(seconds=1))
    assert len(delivery(world).attempts) == 3


def test_drained_events_arrive_in_their_order() -> None:
    """When the circuit closes, the events that waited are posted oldest first."""
    world = WebhookWorld()
    world.add_endpoint()
    up_at = world.now + timedelta(hours=1)
    world.answer = lambda _url, _id: OK if world.now >= up_at else PostResult(status_code=503)
    for _ in range(20):
        world.change(message())
    for number in range(20):
        stored = [*world.store.messages.values()][number]
        world.change(stored, event(EventKind.SENT, number))
    world.settle(timedelta(minutes=30))
    waiting = [each.event_id for each in world.all_waiting()]
    assert len(waiting) == 20
    before = len(world.poster.posts)
    world.settle()
    assert [post.event_id for post in world.poster.posts[before:]][-19:] == waiting[1:]


def test_an_event_whose_first_attempt_disables_the_endpoint_waits() -> None:
    world = one_event(PostResult(status_code=410))
    world.settle(timedelta(minutes=1))
    assert health(world).disabled_at is not None
    assert (delivery(world).state, len(delivery(world).attempts)) == (DeliveryState.WAITING, 1)
    (waiting,) = world.all_waiting()
    assert waiting.event_id == delivery(world).event.event_id


def test_an_event_begins_the_drain_that_a_dead_worker_left() -> None:
    """The lease of a drain that has run out posts nothing, so the next event queues another."""
    world = one_event(OK)
    (endpoint,) = world.added
    long_ago = world.now - timedelta(hours=1)
    world.set_health(endpoint, EndpointHealth(slow_since=long_ago, drain_until=long_ago))
    world.settle(timedelta(minutes=1))
    assert delivery(world).state is DeliveryState.DELIVERED

"""One attempt to post an event: what is recorded, each wait at its bound, and what follows."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from pillarbox.application.webhooks.attempts import (
    AttemptResult,
    Attempts,
    PostingPorts,
    drain_of,
)
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.application.webhooks.post import WebhookWorker
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.message import EventKind, Message
from pillarbox.domain.webhooks.endpoint import (
    DeliveryAttempt,
    DeliveryState,
    EndpointDrain,
    EndpointHealth,
    OwnerNotice,
    WebhookDelivery,
    WebhookEndpoint,
)
from pillarbox.domain.webhooks.events import events_of, suppression_added, webhook_test
from tests.fakes.builders import ACCOUNT, event, message
from tests.fakes.webhook_world import WebhookWorld, one_after_another

MINUTE, MILLISECOND = timedelta(minutes=1), timedelta(milliseconds=1)
OK, GONE = PostResult(status_code=200), PostResult(status_code=410)


def one_event(answer: PostResult = OK) -> tuple[WebhookWorld, WebhookEndpoint, WebhookDelivery]:
    world = WebhookWorld()
    endpoint = world.add_endpoint()
    world.answer = lambda _url, _id: answer
    sent = world.change(message(), event(EventKind.SENT, 1))
    announced = events_of(sent)[-1].for_endpoint(endpoint.endpoint_id)
    return world, endpoint, WebhookDelivery(event=announced, state=DeliveryState.WAITING)


def ports_of(world: WebhookWorld, drawn: float = 0.5) -> PostingPorts:
    """Return the ports of the worker, with the number that is drawn for each wait."""
    return replace(world.ports, random=lambda: drawn)


def post(answer: PostResult) -> AttemptResult:
    world, endpoint, delivery = one_event(answer)
    return Attempts(ports_of(world)).post(endpoint, EndpointHealth(), delivery)


def failed(world: WebhookWorld, delivery: WebhookDelivery, attempts: int = 1) -> AttemptResult:
    attempt = DeliveryAttempt(at=world.now, status_code=503, milliseconds=1)
    return AttemptResult("failed", replace(delivery, attempts=(attempt,) * attempts))


def test_a_post_is_slow_from_a_second_on() -> None:
    world, endpoint, delivery = one_event()
    attempts = Attempts(ports_of(world))
    seen: list[bool] = []

    def answer(*_: object) -> PostResult:
        for wait in (timedelta(0), timedelta(milliseconds=999), MILLISECOND):
            world.now += wait
            seen.append(attempts.is_slow(delivery.event))
        return OK

    world.answer = answer
    assert not attempts.is_slow(delivery.event)
    attempts.post(endpoint, EndpointHealth(), delivery)
    assert seen == [False, False, True]
    assert not attempts.is_slow(delivery.event)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (PostResult(status_code=200, body="fine"), None),
        (PostResult(status_code=299, body="fine"), None),
        (PostResult(status_code=199, body="early"), "early"),
        (PostResult(status_code=300, body="there"), "a redirect, which is not followed"),
        (PostResult(status_code=399), "a redirect, which is not followed"),
        (PostResult(status_code=400, body="no such event"), "no such event"),
        (PostResult(status_code=500), None),
        (PostResult(status_code=None, error="no response", body="part"), "no response"),
    ],
)
def test_the_error_of_an_attempt(answer: PostResult, error: str | None) -> None:
    """Only a 2xx is a success.

    The owner reads the network's error, what a redirect is, or the start of the response.
    """
    result = post(answer)
    (attempt,) = result.delivery.attempts
    assert (attempt.status_code, attempt.error) == (answer.status_code, error)
    assert result.outcome == ("delivered" if answer.status_code in {200, 299} else "failed")


def test_the_record_of_an_attempt() -> None:
    """It has the start and the whole milliseconds of the POST, and a success has no next try."""
    world, endpoint, delivery = one_event()
    began = world.now

    def answer(*_: object) -> PostResult:
        world.now += timedelta(milliseconds=1_234, microseconds=999)
        return OK

    world.answer = answer
    planned = replace(delivery, next_at=began)
    result = Attempts(ports_of(world)).post(endpoint, EndpointHealth(), planned)
    attempt = DeliveryAttempt(at=began, status_code=200, milliseconds=1_234)
    assert result.delivery.attempts == (attempt,)
    assert (result.outcome, result.delivery.next_at) == ("delivered", None)
    assert result.delivery.state is DeliveryState.DELIVERED
    assert result.took == timedelta(milliseconds=1_234, microseconds=999)
    assert world.all_deliveries() == [result.delivery]


def test_an_attempt_is_added_to_the_earlier_ones() -> None:
    """The record keeps the attempts in their order, and the wait that the endpoint asks for."""
    world, endpoint, delivery = one_event(
        PostResult(status_code=429, retry_after=timedelta(hours=1))
    )
    earlier = DeliveryAttempt(at=world.now - MINUTE, status_code=None, milliseconds=8_000)
    tried = replace(delivery, attempts=(earlier,))
    result = Attempts(ports_of(world)).post(endpoint, EndpointHealth(), tried)
    assert [attempt.status_code for attempt in result.delivery.attempts] == [None, 429]
    assert result.outcome == "failed"
    assert result.delivery.state is not DeliveryState.DELIVERED
    assert result.retry_after == timedelta(hours=1)
    assert not world.all_deliveries()


@pytest.mark.parametrize(
    ("wait", "in_queue"),
    [(15 * MINUTE - MILLISECOND, True), (15 * MINUTE, True), (15 * MINUTE + MILLISECOND, False)],
)
def test_the_queue_hides_for_a_quarter_of_an_hour(wait: timedelta, *, in_queue: bool) -> None:
    world, endpoint, _ = one_event()
    ports_of(world).schedule(drain_of(endpoint), wait)
    assert world.queue.tasks == ([(drain_of(endpoint), wait)] if in_queue else [])
    assert [*world.due.minutes] == (
        [] if in_queue else [(world.now + wait).replace(second=0, microsecond=0) + MINUTE]
    )


@pytest.mark.parametrize(("meetings", "succeeds"), [(0, True), (19, True), (20, False)])
def test_a_change_of_the_health_is_tried_twenty_times(meetings: int, *, succeeds: bool) -> None:
    """A worker that meets others reads again, and after twenty times the queue tries later."""
    world, endpoint, _ = one_event()
    key = (endpoint.account_id, endpoint.endpoint_id)
    tries: list[EndpointHealth] = []

    def meet(name: str) -> None:
        if name == "healths.replace" and len(tries) <= meetings:
            other = EndpointHealth(probes=len(tries))
            world.set_health(endpoint, other)

    def change(health: EndpointHealth) -> EndpointHealth:
        tries.append(health)
        return replace(health, failures=3)

    world.gate.watch = meet
    if succeeds:
        assert ports_of(world).change_health(endpoint, change).failures == 3
        assert world.healths.get(*key) == EndpointHealth(probes=meetings, failures=3)
        assert len(tries) == meetings + 1
    else:
        with pytest.raises(Unavailable):
            ports_of(world).change_health(endpoint, change)
        assert len(tries) == 20


@pytest.mark.parametrize(("drawn", "seconds"), [(0.0, 4), (0.5, 5), (1.0, 6)])
def test_a_retry_is_queued_and_recorded(drawn: float, seconds: int) -> None:
    """The first retry comes after five seconds, a fifth more or less."""
    world, endpoint, delivery = one_event()
    result = Attempts(ports_of(world, drawn)).retry(endpoint, failed(world, delivery))
    wait = timedelta(seconds=seconds)
    assert (result.outcome, result.delivery.next_at) == ("retry", world.now + wait)
    assert world.queue.tasks == [(replace(delivery.event, attempts=1), wait)]
    assert world.all_deliveries() == [result.delivery]


@pytest.mark.parametrize(("attempts", "outcome"), [(9, "retry"), (10, "given_up")])
def test_the_tenth_attempt_is_the_last(attempts: int, outcome: str) -> None:
    world, endpoint, delivery = one_event()
    tried = failed(world, delivery, attempts)
    assert Attempts(ports_of(world)).retry(endpoint, tried).outcome == outcome
    expected = "waiting" if outcome == "retry" else outcome
    assert Attempts(ports_of(world)).fail_probe(endpoint, tried).outcome == expected
    (stored,) = world.all_deliveries()
    assert (stored.state is DeliveryState.FAILED) == (outcome == "given_up")


@pytest.mark.parametrize("last", [410, 503])
def test_only_the_last_attempt_says_gone(last: int) -> None:
    """410 as the newest answer disables the endpoint; the owner is told two minutes later."""
    world, endpoint, delivery = one_event()
    codes = (410 if last == 503 else 503, last)
    tried = tuple(DeliveryAttempt(at=world.now, status_code=c, milliseconds=1) for c in codes)
    result = AttemptResult("failed", replace(delivery, attempts=tried))
    health = Attempts(ports_of(world)).note_failure(endpoint, result)
    assert (health.disabled_for, health.disabled_at) == (
        ("gone", world.now) if last == 410 else (None, None)
    )
    assert health.failures == 0
    at = world.now.replace(second=0, microsecond=0) + 3 * MINUTE
    notice = OwnerNotice(endpoint.account_id, endpoint.endpoint_id, world.now)
    assert [(m, [*tasks.values()]) for m, tasks in world.due.minutes.items()] == (
        [(at, [notice])] if last == 410 else []
    )


def test_the_last_of_all_attempts_says_gone_too() -> None:
    world, endpoint, delivery = one_event()
    gone = DeliveryAttempt(at=world.now, status_code=410, milliseconds=1)
    tried = AttemptResult("failed", replace(delivery, attempts=(gone,) * 10))
    assert Attempts(ports_of(world)).retry(endpoint, tried).outcome == "given_up"
    assert world.health_of(endpoint).disabled_for == "gone"


def test_an_endpoint_that_is_disabled_already_stays_as_it_is() -> None:
    """Another 410 changes neither reason nor time, and no second notice is planned."""
    world, endpoint, delivery = one_event()
    since = world.now - timedelta(hours=1)
    disabled = EndpointHealth(failing_since=since, disabled_at=since, disabled_for="failing")
    world.set_health(endpoint, disabled)
    attempt = DeliveryAttempt(at=world.now, status_code=410, milliseconds=1)
    result = AttemptResult("failed", replace(delivery, attempts=(attempt, attempt)))
    health = Attempts(ports_of(world)).note_failure(endpoint, result)
    assert (health.disabled_at, health.disabled_for) == (since, "failing")
    assert not world.due.minutes


@pytest.mark.parametrize(
    ("health", "drains"),
    [
        (lambda now: EndpointHealth(failing_since=now, failures=1), 0),
        (lambda now: EndpointHealth(failing_since=now, failures=5, open_since=now), 1),
        (lambda now: EndpointHealth(failures=5, open_since=now, drain_until=now), 0),
    ],
)
def test_a_success_ends_the_failures(health: Callable[..., EndpointHealth], drains: int) -> None:
    """If it closes the circuit, it begins a drain, unless one runs already."""
    world, endpoint, delivery = one_event()
    key = (endpoint.account_id, endpoint.endpoint_id)
    seen = health(world.now)
    world.set_health(endpoint, seen)
    Attempts(ports_of(world)).post(endpoint, seen, delivery)
    assert world.healths.get(*key) == EndpointHealth(drain_until=seen.drain_until)
    assert world.queue.tasks == [(drain_of(endpoint), timedelta(0))] * drains


@pytest.mark.parametrize("stored", [True, False])
def test_a_suppression_is_announced_as_it_is_stored(*, stored: bool) -> None:
    """Without the record nothing is posted, and the address is not kept."""
    world, endpoint, _ = one_event()
    suppression = Suppression(address="ann@example.com", reason="bounced", at=world.now)
    if stored:
        world.suppressions.put(endpoint.account_id, suppression.address, "bounced", world.now, None)
    added = suppression_added(endpoint.account_id, suppression.address, world.now, None)
    waiting = WebhookDelivery(
        event=added.for_endpoint(endpoint.endpoint_id), state=DeliveryState.WAITING
    )
    result = Attempts(ports_of(world)).post(endpoint, EndpointHealth(), waiting)
    assert result.outcome == ("delivered" if stored else "record_gone")
    assert len(world.poster.posts) == stored
    assert result.delivery.event.address == (suppression.address if stored else None)
    assert (result.delivery.state is DeliveryState.FAILED) == (not stored)
    assert world.all_deliveries() == [result.delivery]
    worker = WebhookWorker(ports_of(world), one_after_another)
    assert worker.handle([waiting.event]) == ["repeated"]


@pytest.mark.parametrize(
    ("peeked", "stored", "reads"),
    [
        ("new", "new", ["peek"]),
        ("old", "new", ["peek", "get"]),
        (None, "new", ["peek", "get"]),
        ("old", "old", ["peek", "get"]),
        (None, None, ["peek", "get"]),
    ],
)
def test_a_message_is_read_again_if_it_lacks_the_event(
    peeked: str | None, stored: str | None, reads: list[str]
) -> None:
    """A read that may be late comes first, and one with strong consistency if it must."""
    world, endpoint, delivery = one_event()
    (new,) = world.store.messages.values()
    versions = {"new": new, "old": replace(new, events=()), None: None}
    calls: list[str] = []

    class Messages:
        def peek(self, *_: object) -> Message | None:
            calls.append("peek")
            return versions[peeked]

        def get(self, *_: object) -> Message | None:
            calls.append("get")
            return versions[stored]

    ports = replace(ports_of(world), messages=cast("Any", Messages()))
    result = Attempts(ports).post(endpoint, EndpointHealth(), delivery)
    assert (result.outcome, calls) == ("delivered" if stored == "new" else "record_gone", reads)


def test_a_success_of_a_sound_endpoint_writes_no_health() -> None:
    world, endpoint, delivery = one_event()
    Attempts(ports_of(world)).post(endpoint, EndpointHealth(), delivery)
    assert [name for name in world.gate.calls if name.startswith("healths.")] == []


def answered(answer: PostResult) -> WebhookWorld:
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
    world = answered(OK)
    endpoint = world.add_endpoint()
    world.settle(timedelta(seconds=1))
    world.endpoints.remove(ACCOUNT, endpoint.endpoint_id)
    posted = len(world.poster.posts)
    world.deliver_again(EndpointDrain(ACCOUNT, endpoint.endpoint_id))
    world.deliver_again(world.deliveries_of(endpoint)[0].event)
    world.settle()
    assert len(world.poster.posts) == posted
    assert world.outcomes["endpoint_deleted"] == 2


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


@pytest.mark.parametrize("attempts", [3, 10])
def test_a_failed_probe_plans_the_next_one(attempts: int) -> None:
    """Also if its event is given up. The number of probes grows, and the lease is given back."""
    world, endpoint, delivery = one_event()
    key = (endpoint.account_id, endpoint.endpoint_id)
    world.set_health(
        endpoint,
        EndpointHealth(
            open_since=world.now,
            failing_since=world.now,
            failures=5,
            probes=1,
            drain_until=world.now,
        ),
    )
    Attempts(ports_of(world)).fail_probe(endpoint, failed(world, delivery, attempts))
    health = world.healths.get(*key)
    wait = timedelta(minutes=30)
    assert (health.probes, health.probe_at, health.drain_until) == (2, world.now + wait, None)
    assert [*world.due.minutes] == [(world.now + wait).replace(second=0, microsecond=0) + MINUTE]
    assert world.queue.tasks == []


def test_a_probe_that_fails_after_the_circuit_closed_begins_a_drain() -> None:
    world, endpoint, delivery = one_event()
    world.set_health(endpoint, EndpointHealth(drain_until=world.now))
    Attempts(ports_of(world)).fail_probe(endpoint, failed(world, delivery, 2))
    assert (drain_of(endpoint), timedelta(0)) in world.queue.tasks

"""Drains: which task may post, its lease, what ends it, and machines whose clocks differ."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from pillarbox.application.webhooks.attempts import Attempts, drain_of
from pillarbox.application.webhooks.ports import EndpointChanges, PostResult
from pillarbox.application.webhooks.post import Drains, WebhookWorker
from pillarbox.domain.accounts.alert import AlertPost
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import EventKind
from pillarbox.domain.webhooks.endpoint import (
    DeliveryAttempt,
    DeliveryState,
    EndpointDrain,
    EndpointHealth,
    OwnerNotice,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    WebhookTask,
)
from pillarbox.domain.webhooks.events import account_paused, email_received, events_of, webhook_test
from tests.fakes.builders import ACCOUNT, NOW, OTHER_ACCOUNT, event, message
from tests.fakes.webhook_world import WebhookWorld, beyond_patience, one_after_another

CLOCK_MARGIN = timedelta(seconds=30)

MOMENT, SECOND, MINUTE = timedelta(milliseconds=1), timedelta(seconds=1), timedelta(minutes=1)
HOUR, LATER = timedelta(hours=1), NOW + MINUTE
OPEN = EndpointHealth(failing_since=NOW, failures=5, open_since=NOW, probes=2)
#: What the random part of 0.5 makes of the lease.
LEASED = NOW + 95 * SECOND


def waiting_world(
    health: EndpointHealth, events: int = 1
) -> tuple[WebhookWorld, WebhookEndpoint, list[WebhookEvent]]:
    world = WebhookWorld()
    endpoint = world.add_endpoint()
    waiting = [
        events_of(world.change(message(), event(EventKind.SENT, number)))[-1].for_endpoint(
            endpoint.endpoint_id
        )
        for number in range(events)
    ]
    for each in waiting:
        world.waiting.put(each)
    world.set_health(endpoint, health)
    return world, endpoint, [*world.waiting.oldest(*place_of(endpoint), events)]


def place_of(endpoint: WebhookEndpoint) -> tuple[str, str]:
    return endpoint.account_id, endpoint.endpoint_id


def drains_of(world: WebhookWorld) -> Drains:
    ports = replace(world.ports, random=lambda: 0.5)
    return Drains(ports, Attempts(ports), one_after_another)


def health_of(world: WebhookWorld) -> EndpointHealth:
    return world.health_of(world.added[0])


def fail(world: WebhookWorld, waiting: WebhookEvent, attempts: int) -> None:
    """Let an event have failed, and let the endpoint fail."""
    attempt = DeliveryAttempt(at=world.now, status_code=503, milliseconds=1)
    tried = WebhookDelivery(
        event=waiting, state=DeliveryState.WAITING, attempts=(attempt,) * attempts
    )
    world.deliveries.put(tried)
    world.answer = lambda _url, _id: PostResult(status_code=503)


@pytest.mark.parametrize(
    ("health", "lease", "outcome", "kept", "planned"),
    [
        (EndpointHealth(), None, "drained", LEASED, [(LEASED, 0 * SECOND)]),
        (EndpointHealth(drain_until=NOW), None, "drained", LEASED, [(LEASED, 0 * SECOND)]),
        (EndpointHealth(drain_until=LATER), LATER, "drained", LEASED, [(LEASED, 0 * SECOND)]),
        (EndpointHealth(drain_until=NOW + MOMENT), None, "drained_by_another", NOW + MOMENT, []),
        (EndpointHealth(drain_until=LATER), NOW, "drained_by_another", LATER, []),
        (EndpointHealth(drain_until=LATER, disabled_at=NOW), LATER, "endpoint_disabled", None, []),
        (EndpointHealth(drain_until=LATER, disabled_at=NOW), NOW, "endpoint_disabled", LATER, []),
        (
            replace(OPEN, probe_at=NOW + CLOCK_MARGIN),
            None,
            "probed",
            LEASED,
            [(LEASED, 0 * SECOND)],
        ),
        (replace(OPEN, probe_at=NOW + CLOCK_MARGIN + MOMENT), None, "before_probe", None, []),
        (
            replace(OPEN, probe_at=LATER, drain_until=LATER),
            LATER,
            "before_probe",
            None,
            [(None, MINUTE)],
        ),
    ],
)
def test_one_task_at_a_time_posts_what_waits(
    health: EndpointHealth,
    lease: datetime | None,
    outcome: str,
    kept: datetime | None,
    planned: Sequence[tuple[datetime | None, timedelta]],
) -> None:
    """The task with the lease posts; another one changes nothing, and the refused owner ends."""
    world, endpoint, _ = waiting_world(health)
    assert drains_of(world).run(replace(drain_of(endpoint), lease=lease), endpoint) == outcome
    assert health_of(world).drain_until == kept
    assert len(world.poster.posts) == (kept == LEASED)
    assert len(world.all_waiting()) == (kept != LEASED)
    successes = int(outcome == "drained")
    assert world.queue.tasks == [
        (replace(drain_of(endpoint), lease=follows, successes=successes), wait)
        for follows, wait in planned
    ]


def test_a_drain_posts_the_five_oldest_under_its_lease() -> None:
    world, endpoint, waiting = waiting_world(EndpointHealth(), 7)
    world.now += timedelta(microseconds=5_999)
    leases: list[datetime | None] = []

    def answer(*_: object) -> PostResult:
        leases.append(health_of(world).drain_until)
        return PostResult(status_code=200)

    world.answer = answer
    drains_of(world).run(drain_of(endpoint), endpoint)
    assert [post.event_id for post in world.poster.posts] == [e.event_id for e in waiting[:5]]
    assert leases == [LEASED + 5 * MOMENT] * 5


@pytest.mark.slow
def test_a_drain_posts_more_after_each_step_without_a_failure() -> None:
    """Five events, then twice as many each time, up to 160; after a failure five again."""
    world, endpoint, _ = waiting_world(EndpointHealth(slow_since=NOW), 480)
    task, steps = drain_of(endpoint), []
    for step in range(8):
        fails = step == 6
        world.answer = lambda _url, id_, fails=fails: PostResult(  # type: ignore[misc]
            status_code=503 if fails and id_.int % 2 else 200
        )
        before = len(world.poster.posts)
        world.queue.tasks.clear()
        drains_of(world).run(task, endpoint)
        steps.append(len(world.poster.posts) - before)
        (task,) = (each for each, _ in world.queue.tasks if isinstance(each, EndpointDrain))
    assert steps == [5, 10, 20, 40, 80, 160, 160, 5]


@pytest.mark.parametrize(("tasks", "most"), [(1, 16), (10, 1)])
def test_few_received_mails_are_posted_together(tasks: int, most: int) -> None:
    """A worker with several drains shares them; two emails that were sent come before."""
    world, endpoint, _ = waiting_world(EndpointHealth(), 2)
    for number in range(20):
        moment = NOW + MINUTE + number * SECOND
        received = email_received(ACCOUNT, new_id(moment), moment)
        world.waiting.put(received.for_endpoint(endpoint.endpoint_id))
    together = []

    def parallel(calls: Sequence[Callable[[], Any]], *_: Any, **__: Any) -> list[Any]:
        together.append(len(calls))
        return one_after_another(calls)

    drains = Drains(world.ports, Attempts(world.ports), parallel)
    drains.run(replace(drain_of(endpoint), successes=9), endpoint, tasks)
    assert together == [2 + most]


@pytest.mark.parametrize(
    ("slow_since", "replayed_at", "told"),
    [
        (NOW, None, False),
        (NOW - HOUR, None, True),
        (NOW - HOUR, NOW, False),
        (NOW - HOUR + MOMENT, None, False),
        (None, None, False),
    ],
)
def test_the_owner_is_told_once_of_events_that_are_an_hour_late(
    slow_since: datetime | None, replayed_at: datetime | None, *, told: bool
) -> None:
    """The endpoint must have been slow for as long, and a replay is as old as its request."""
    world, endpoint, _ = waiting_world(EndpointHealth(slow_since=slow_since), 0)
    paused = account_paused(endpoint.account_id, NOW - HOUR).for_endpoint(endpoint.endpoint_id)
    for number in range(9):
        world.waiting.put(replace(paused, event_id=UUID(int=number), replayed_at=replayed_at))
    task = drain_of(endpoint)

    def answer(*_: object) -> PostResult:
        world.now += SECOND
        return PostResult(status_code=200)

    world.answer = answer
    for _ in range(2):
        world.queue.tasks.clear()
        world.now = NOW
        drains_of(world).run(task, endpoint)
        ((task, _),) = world.queue.tasks  # type: ignore[assignment]
        assert task.late == told
    tasks = [task for minute in world.due.minutes.values() for task in minute.values()]
    assert len(world.due.minutes) == told
    notice = OwnerNotice(endpoint.account_id, endpoint.endpoint_id, slow_since or NOW)
    assert tasks == [notice] * told


@pytest.mark.parametrize(("took", "slow"), [(SECOND - MOMENT, False), (SECOND, True)])
def test_an_endpoint_is_slow_until_all_posts_are_quick(took: timedelta, *, slow: bool) -> None:
    world, endpoint, waiting = waiting_world(EndpointHealth(slow_since=NOW), 2)

    def answer(_url: str, event_id: object) -> PostResult:
        world.now += took if event_id == waiting[0].event_id else MOMENT
        return PostResult(status_code=200)

    world.answer = answer
    drains_of(world).run(drain_of(endpoint), endpoint)
    assert (health_of(world).slow_since is not None) == slow


@pytest.mark.parametrize(("failures", "waits"), [(3, False), (4, True)])
def test_a_failure_that_opens_the_circuit_ends_the_drain(failures: int, *, waits: bool) -> None:
    """Its event waits for the probe; before, it would be tried on the schedule."""
    health = EndpointHealth(failing_since=NOW - MINUTE, failures=failures)
    world, endpoint, (first,) = waiting_world(health)
    fail(world, first, 0)
    drains_of(world).run(drain_of(endpoint), endpoint)
    (stored,) = world.all_deliveries()
    assert len(stored.attempts) == 1
    assert len(world.all_waiting()) == waits
    assert health_of(world).drain_until == (None if waits else LEASED)
    retry: list[tuple[WebhookTask, timedelta]] = [
        (replace(first, attempts=1), 5 * SECOND),
        (replace(drain_of(endpoint), lease=LEASED), 0 * SECOND),
    ]
    probe: list[tuple[WebhookTask, timedelta]] = [(drain_of(endpoint), 5 * SECOND)] * 2
    assert world.queue.tasks == (probe if waits else retry)


@pytest.mark.parametrize("health", [replace(OPEN, probe_at=NOW), EndpointHealth(slow_since=NOW)])
@pytest.mark.parametrize("comes", [True, False])
def test_a_drain_ends_when_nothing_waits(health: EndpointHealth, *, comes: bool) -> None:
    """The endpoint is sound again. An event that came in between gets another drain."""
    world, endpoint, (first,) = waiting_world(health)
    world.waiting.remove(first)

    def come(name: str) -> None:
        if name == "healths.replace" and comes and health_of(world).drain_until == LEASED:
            world.waiting.put(first)

    world.gate.watch = come
    assert drains_of(world).run(drain_of(endpoint), endpoint) == "drain_ended"
    ended = replace(health, drain_until=None, slow_since=None, probe_at=None, open_since=None)
    assert health_of(world) == replace(ended, probes=0)
    assert world.queue.tasks == [(drain_of(endpoint), 0 * SECOND)] * comes


def test_a_circuit_that_opens_while_a_drain_ends_stays_open() -> None:
    world, endpoint, (first,) = waiting_world(EndpointHealth())
    world.waiting.remove(first)

    def open_circuit(name: str) -> None:
        if name == "waiting.oldest" and world.gate.calls.count(name) == 1:
            world.set_health(endpoint, replace(OPEN, drain_until=LEASED))

    world.gate.watch = open_circuit
    drains_of(world).run(drain_of(endpoint), endpoint)
    assert health_of(world).open_since == NOW


@pytest.mark.parametrize(("probe_at", "wait"), [(NOW + SECOND, SECOND), (NOW - MINUTE, 0 * SECOND)])
def test_a_drain_that_sees_the_circuit_open_plans_the_probe(
    probe_at: datetime, wait: timedelta
) -> None:
    """Another worker's probe of this time was refused. A time that is over means now."""
    world, endpoint, _ = waiting_world(EndpointHealth())

    def open_circuit(_url: str, _id: UUID) -> PostResult:
        world.set_health(endpoint, replace(OPEN, probe_at=probe_at, drain_until=LEASED))
        return PostResult(status_code=503)

    world.answer = open_circuit
    drains_of(world).run(drain_of(endpoint), endpoint)
    assert world.queue.tasks[-1] == (drain_of(endpoint), wait)


@pytest.mark.parametrize("slow_posts", [4, 5])
def test_five_slow_posts_make_an_endpoint_slow(slow_posts: int) -> None:
    """A drain comes at once, and one for later in case the worker dies; a slow one gets no more."""
    world, endpoint, events = waiting_world(EndpointHealth(), slow_posts)
    for _ in range(2):
        WebhookWorker(world.ports, beyond_patience).handle(events)
    slow = slow_posts == 5
    assert health_of(world).slow_since == (NOW if slow else None)
    drains = [(drain_of(endpoint), 5 * SECOND), (drain_of(endpoint), 0 * SECOND)]
    assert world.queue.tasks == drains * slow


def test_five_quick_posts_make_no_endpoint_slow() -> None:
    """Posts that run are looked at four times a second, and count once they have taken a second."""
    world, _, events = waiting_world(EndpointHealth(), 5)

    def looking(
        calls: Sequence[Callable[[], Any]],
        patience: timedelta | None = None,
        while_running: Callable[[Sequence[int]], None] = lambda _: None,
    ) -> list[Any]:
        if patience is not None:
            assert patience == timedelta(seconds=0.25)
            while_running(range(len(calls)))
        return one_after_another(calls)

    WebhookWorker(world.ports, looking).handle(events)
    assert health_of(world).slow_since is None


@pytest.mark.parametrize(("others", "endpoints", "slow"), [(0, 5, 5), (1, 5, 0), (1, 6, 5)])
def test_slow_posts_count_for_all_endpoints_of_an_account(
    others: int, endpoints: int, slow: int
) -> None:
    world, events = WebhookWorld(), []
    for number in range(endpoints):
        account_id = OTHER_ACCOUNT if number < others else ACCOUNT
        endpoint = world.add_endpoint(account_id=account_id)
        events.append(account_paused(account_id, NOW).for_endpoint(endpoint.endpoint_id))
    WebhookWorker(world.ports, beyond_patience).handle(events)
    found = [each for each in world.added if world.health_of(each).slow_since]
    assert len(found) == slow


@pytest.mark.parametrize(("attempts", "waits"), [(8, True), (9, False)])
def test_a_failed_probe_keeps_its_event_until_the_last_attempt(
    attempts: int, *, waits: bool
) -> None:
    world, endpoint, (first,) = waiting_world(replace(OPEN, probe_at=NOW))
    fail(world, first, attempts)
    assert drains_of(world).run(drain_of(endpoint), endpoint) == "probe_failed"
    assert (health_of(world).open_since, len(world.all_waiting())) == (NOW, waits)


def test_ten_drains_of_a_worker_post_160_events_together() -> None:
    world, endpoint, _ = waiting_world(EndpointHealth(), 40)
    drains_of(world).run(replace(drain_of(endpoint), successes=9), endpoint, 10)
    assert len(world.poster.posts) == 16


@pytest.mark.parametrize(
    ("health", "drains"),
    [
        (replace(OPEN, probe_at=None), 1),
        (replace(OPEN, probe_at=NOW + MINUTE), 0),
        (replace(OPEN, probe_at=NOW - MINUTE), 0),
        (replace(OPEN, probe_at=NOW - MINUTE - MOMENT), 1),
        (replace(OPEN, disabled_at=NOW), 0),
        (EndpointHealth(slow_since=NOW - 5 * SECOND), 0),
        (EndpointHealth(slow_since=NOW - 5 * SECOND - MOMENT), 1),
        (EndpointHealth(slow_since=NOW - MINUTE, drain_until=NOW + MOMENT), 0),
        (EndpointHealth(slow_since=NOW - MINUTE, drain_until=NOW), 1),
    ],
)
def test_an_event_that_nothing_would_post_begins_a_drain(
    health: EndpointHealth, drains: int
) -> None:
    """A probe that is planned, or a drain that runs or was queued just now, posts it."""
    world, endpoint, (first,) = waiting_world(health)
    world.waiting.remove(first)
    assert WebhookWorker(world.ports, one_after_another).handle([first]) == ["waiting"]
    assert len(world.all_waiting()) == 1
    assert world.queue.tasks == [(drain_of(endpoint), 0 * SECOND)] * drains


def test_an_event_is_recorded_before_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drain may post it at once, and what it records then stays."""
    world, endpoint, (first,) = waiting_world(EndpointHealth(slow_since=NOW))
    world.waiting.remove(first)
    put, seen = world.waiting.put, list[object]()

    def look(one: WebhookEvent) -> None:
        seen.append(world.ports.deliveries.peek(*place_of(endpoint), one.delivery_id))
        put(one)

    monkeypatch.setattr(world.waiting, "put", look)
    WebhookWorker(world.ports, one_after_another).handle([first])
    assert len(seen) == 1
    assert seen != [None]


def test_events_of_an_endpoint_that_its_owner_disabled_wait() -> None:
    world, endpoint, (first,) = waiting_world(EndpointHealth())
    world.waiting.remove(first)
    world.endpoints.change(*place_of(endpoint), EndpointChanges(enabled=False))
    assert WebhookWorker(world.ports, one_after_another).handle([first]) == ["waiting"]
    assert world.poster.posts == []


def test_a_test_is_posted_although_events_wait() -> None:
    """Its owner wants to see the answer now, also of a slow endpoint."""
    world, endpoint, _ = waiting_world(EndpointHealth(slow_since=NOW))
    test = webhook_test(endpoint.account_id, NOW).for_endpoint(endpoint.endpoint_id)
    assert WebhookWorker(world.ports, one_after_another).handle([test]) == ["delivered"]
    assert world.queue.tasks == []


def test_a_chat_gets_an_alert_among_events() -> None:
    """It has no endpoint."""
    world, _, (first,) = waiting_world(EndpointHealth(), 1)
    worker = WebhookWorker(world.ports, one_after_another)
    outcomes = worker.handle([AlertPost(ACCOUNT, "text"), first])
    assert outcomes == ["alert_posted", "delivered"]


def test_a_repeated_task_leaves_an_event_whose_retry_is_planned() -> None:
    """Also while events wait: the retry may post it at this moment, and record that it did."""
    world, endpoint, (first,) = waiting_world(EndpointHealth(slow_since=NOW))
    world.waiting.remove(first)
    fail(world, first, 1)
    planned = replace(*world.deliveries_of(endpoint), next_at=LATER)
    world.deliveries.put(planned)
    assert WebhookWorker(world.ports, one_after_another).handle([first]) == ["repeated"]
    assert (world.all_waiting(), world.deliveries_of(endpoint)) == ([], [planned])


def test_an_event_waits_although_its_worker_died_after_the_record() -> None:
    world, endpoint, (first,) = waiting_world(EndpointHealth())
    world.waiting.remove(first)
    fail(world, first, 1)
    assert WebhookWorker(world.ports, one_after_another).handle([first]) == ["waiting"]
    assert [*world.waiting.oldest(*place_of(endpoint), 9)] == [first]


def test_an_event_that_begins_to_wait_has_no_planned_time() -> None:
    """A drain posts it, so its record forgets the time of the retry that was planned."""
    opened = EndpointHealth(open_since=NOW, probe_at=LATER)
    world, endpoint, (waiting,) = waiting_world(opened, 1)
    attempt = DeliveryAttempt(at=NOW, status_code=503, milliseconds=1)
    tried = WebhookDelivery(
        event=waiting, state=DeliveryState.WAITING, attempts=(attempt,), next_at=NOW
    )
    world.deliveries.put(tried)
    worker = WebhookWorker(world.ports, one_after_another)
    assert worker.handle([replace(waiting, attempts=1)]) == ["waiting"]
    assert world.deliveries_of(endpoint) == [replace(tried, next_at=None)]

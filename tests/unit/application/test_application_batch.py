"""Batches: which emails are accepted, what is released or refunded, and how takeovers work."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from pillarbox.domain.accounts.quota import Limits, window_name
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import derived_id
from pillarbox.domain.messages.batch import BatchRequest
from pillarbox.domain.messages.mail import Job, Mail, SendRequest
from pillarbox.domain.messages.message import Message
from pillarbox.http.messages.replies import batch_result
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, DIGEST, HASH, NOW, SENDER, request
from tests.fakes.stores import CLAIM_LEASE as LEASE
from tests.fakes.stores import FakeJobs, Messages, Quotas
from tests.fakes.world import Fault, World
from tests.refusals import refusal

CLOCK_MARGIN = timedelta(seconds=30)

LOOK_UP, ACQUIRE, READ = "directory.look_up", "claims.put", "messages.get_all"
DNS, RESERVE, PUT = "domains.look_up", "quotas.reserve", "jobs.put_all"
COMMIT, FINISH = "messages.commit_all", "claims.finish"
QUOTA_EXCEEDED = "daily_limit_exceeded"
INVALID = ValidationFailed(FieldError("to", "is required", "required"))
UNAVAILABLE = ServiceError("service_unavailable", "planted")
WITHDRAW, REPLACE = "messages.withdraw", "claims.replace"
TAKE_OVER = [LOOK_UP, ACQUIRE, WITHDRAW, REPLACE]


def world_with_daily_limit(per_day: int) -> World:
    """Return a world whose account may send `per_day` emails a day."""
    limits = Limits(per_minute=None, per_day=per_day, per_month=None)
    return World(replace(builders.account(), overrides=limits))


def batch(*items: SendRequest | ServiceError, body_hash: str = HASH) -> BatchRequest:
    return BatchRequest(body_hash=body_hash, count=len(items), items=items)


def submit(
    world: World,
    batch_request: BatchRequest | ServiceError,
    digest: str | None = None,
    **ports: Any,
) -> list[Any]:
    """Submit a batch, with some ports replaced, and return its results."""
    answer = replace(world.batch_send, ports=replace(world.ports, **ports)).submit(
        world.live, batch_request, digest, batch_result
    )
    results: list[Any] = json.loads(answer.body)["results"]
    assert [result["idx"] for result in results] == [*range(len(results))]
    return results


def codes(results: list[Any]) -> list[str | None]:
    return [result["error"] and result["error"]["code"] for result in results]


def error_of(
    world: World, batch_request: Any, digest: str | None = None, **ports: Any
) -> ServiceError:
    return refusal(submit, world, batch_request, digest, **ports)


def fail_last(world: World, *calls: str) -> None:
    """Let the last of these calls fail; the calls before it succeed."""
    world.gate.fault = Fault(len(world.gate.calls) + len(calls) - 1, "before", UNAVAILABLE)


def message_ids(world: World) -> set[UUID]:
    return {message_id for _, message_id in world.store.messages}


def test_a_batch_without_a_key_makes_five_calls(world: World) -> None:
    """Without a key a batch reads the account, asks DNS, reserves quota, queues and commits."""
    results = submit(world, batch(request(), request(subject="Two")))
    assert world.gate.calls == [LOOK_UP, DNS, RESERVE, PUT, COMMIT]
    assert [result["status"] for result in results] == ["queued"] * 2
    assert {(result["from"], result["error"]) for result in results} == {(SENDER, None)}
    assert {UUID(result["messageId"]) for result in results} == message_ids(world)
    assert {job.message_id for job in world.store.queue} == message_ids(world)
    assert {job.queued_at for job in world.store.queue} == {NOW}
    assert world.used() == {2}


def test_a_keyed_batch_stores_its_answer_last(world: World) -> None:
    """With a key the claim comes first and determines the ids; the answer is stored last."""
    results = submit(world, batch(request(), INVALID, request()), DIGEST)
    assert world.gate.calls == [LOOK_UP, ACQUIRE, DNS, RESERVE, PUT, COMMIT, FINISH]
    held_claim = world.store.claims[ACCOUNT, DIGEST]
    generation = held_claim.claim.generation
    assert [result["messageId"] for result in results] == [
        str(derived_id(generation, 0)),
        None,
        str(derived_id(generation, 2)),
    ]
    assert held_claim.response is not None
    assert json.loads(held_claim.response.body) == {"results": results}


class PartialCommit(Messages):
    """A message store that commits at most `limit` records and then fails."""

    def __init__(self, store: Any, limit: int) -> None:
        super().__init__(store)
        self._limit = limit

    def commit_all(self, messages: Sequence[Message]) -> frozenset[UUID]:
        super().commit_all(messages[: self._limit])
        raise UNAVAILABLE


@pytest.mark.parametrize(("limit", "used"), [(0, 0), (1, 1), (2, 2)])
def test_records_that_were_not_committed_are_refunded(world: World, limit: int, used: int) -> None:
    """A partial commit raises the error, refunds the rest and keeps the claim for a takeover."""
    messages = PartialCommit(world.store, limit)
    error_of(world, batch(request(), request(), request()), DIGEST, messages=messages)
    assert world.used() == {used}
    assert len(message_ids(world)) == limit
    assert world.store.claims[ACCOUNT, DIGEST].response is None


@pytest.mark.parametrize("step", [REPLACE, DNS, RESERVE, PUT])
def test_a_failed_takeover_leaves_the_key_to_the_next(world: World, step: str) -> None:
    """If one owner stalls, the next fails and a third accepts, the first adds no second mail."""
    batch_request = batch(request())
    calls, third = [*TAKE_OVER, DNS, RESERVE, PUT], list[UUID]()

    def others() -> None:
        world.advance(LEASE)
        fail_last(world, *calls[: calls.index(step) + 1])
        error_of(world, batch_request, DIGEST)
        world.gate.fault = None
        (result,) = submit(world, batch_request, DIGEST)
        third.append(UUID(result["messageId"]))

    world.gate.before(COMMIT, do=others)
    assert error_of(world, batch_request, DIGEST).code == "service_unavailable"
    assert message_ids(world) == {*third}
    assert max(world.used()) == 1


def test_a_clock_ahead_does_not_take_a_live_batch_over(world: World) -> None:
    """A batch in its last second is in flight for a clock 30 s ahead, and is counted once."""
    batch_request = batch(request(), request())
    ahead = timedelta(seconds=29) + CLOCK_MARGIN

    def other() -> None:
        world.advance(ahead)
        assert error_of(world, batch_request, DIGEST).code == "idempotency_in_flight"
        world.advance(-ahead)

    world.gate.before(COMMIT, do=other)
    submit(world, batch_request, DIGEST)
    assert world.used() == {2}
    assert len(world.store.queue) == 2


def test_a_failed_takeover_does_not_repeat_the_accepted_part(world: World) -> None:
    """The emails of a dead owner are not sent again after its successor failed too."""
    batch_request = batch(request(), request())
    error_of(world, batch_request, DIGEST, messages=PartialCommit(world.store, 1))
    accepted = message_ids(world)
    world.advance(LEASE)
    fail_last(world, *TAKE_OVER, READ, DNS, RESERVE, PUT)
    error_of(world, batch_request, DIGEST)
    world.gate.fault = None
    assert error_of(world, batch_request, DIGEST).code == "idempotency_in_flight"
    world.advance(LEASE)
    results = submit(world, batch_request, DIGEST)
    assert {UUID(result["messageId"]) for result in results} == message_ids(world) > accepted
    assert len(message_ids(world)) == 2


def reserve_elsewhere(world: World, count: int) -> None:
    """Let another process reserve quota of the account."""
    Quotas(world.store).reserve(ACCOUNT, builders.messages(count), builders.UNLIMITED, world.now)


@pytest.mark.parametrize("late", [False, True])
def test_a_takeover_with_a_full_quota_reports_the_accepted_part(*, late: bool) -> None:
    """A successor without quota reports the accepted email, and 429 only for the others.

    Others may take the last room after it has looked.
    """
    world = world_with_daily_limit(3)
    batch_request = batch(request(), request(), request())
    error_of(world, batch_request, DIGEST, messages=PartialCommit(world.store, 1))
    world.gate.before(RESERVE if late else LOOK_UP, do=lambda: reserve_elsewhere(world, 2))
    world.advance(LEASE)
    world.gate.calls.clear()
    assert codes(submit(world, batch_request, DIGEST)) == [None, QUOTA_EXCEEDED, QUOTA_EXCEEDED]
    assert (DNS in world.gate.calls) == late


def test_an_answer_that_cannot_be_stored_is_still_returned(world: World) -> None:
    fail_last(world, LOOK_UP, ACQUIRE, DNS, RESERVE, PUT, COMMIT, FINISH)
    assert codes(submit(world, batch(request()), DIGEST)) == [None]
    assert world.store.claims[ACCOUNT, DIGEST].response is None


def test_the_quota_is_used_in_order() -> None:
    """The quota accepts emails from the first on; each of the rest gets the reason."""
    world = world_with_daily_limit(2)
    results = submit(world, batch(request(), INVALID, request(), request(), request()))
    assert codes(results) == [None, "validation_failed", None, QUOTA_EXCEEDED, QUOTA_EXCEEDED]
    assert results[3]["error"]["details"] == {"limit_per_day": 2}
    assert {UUID(results[place]["messageId"]) for place in (0, 2)} == message_ids(world)
    assert world.used() == {2}
    assert error_of(world, batch(request(), INVALID), DIGEST).code == QUOTA_EXCEEDED
    assert not world.store.claims


def to(count: int) -> SendRequest:
    return request(to=tuple(f"a{number}@example.com" for number in range(count)))


def test_a_message_that_does_not_fit_leaves_room_for_later_ones() -> None:
    """A message with too many recipients is refused; the others are accepted in their order."""
    limits = replace(builders.UNLIMITED, recipients_per_day=60)
    world = World(builders.account(overrides=limits))
    results = submit(world, batch(to(40), to(30), to(15), to(6), to(5)))
    assert codes(results) == [None, QUOTA_EXCEEDED, None, QUOTA_EXCEEDED, None]
    assert results[1]["error"]["details"] == {"limit_recipients_per_day": 60}
    assert "5 are left" in results[3]["error"]["message"]
    assert recipients_used(world) == 60
    assert error_of(world, batch(to(1), to(2)), DIGEST).code == QUOTA_EXCEEDED


def recipients_used(world: World) -> int:
    return world.store.counts[ACCOUNT, window_name("recipients", world.now)]


@pytest.mark.parametrize(("others", "accepted"), [(0, 10), (1, 9), (4, 6)])
def test_a_reservation_is_retried_when_others_reserve(others: int, accepted: int) -> None:
    world = world_with_daily_limit(10)
    contend(world, others)
    assert codes(submit(world, batch(*[request()] * 10))).count(None) == accepted
    assert world.used() == {10}


def contend(world: World, others: int) -> None:
    """Let others reserve one email just before each of the first `others` reservations."""

    def watch(call: str) -> None:
        if call == RESERVE and world.gate.calls.count(RESERVE) <= others:
            reserve_elsewhere(world, 1)

    world.gate.watch = watch


def test_a_batch_of_which_nothing_fits_any_more_is_refused() -> None:
    world = world_with_daily_limit(2)
    contend(world, 99)
    assert error_of(world, batch(request(), request()), DIGEST).code == QUOTA_EXCEEDED
    assert world.store.claims == {}


def test_endless_contention_is_refused() -> None:
    """After five tries the batch is refused with a retryable error and leaves nothing."""
    world = world_with_daily_limit(100)
    contend(world, 99)
    error = error_of(world, batch(*[request()] * 100), DIGEST)
    assert error.code == "service_unavailable"
    assert world.gate.calls.count(RESERVE) == 5
    assert (world.used(), dict(world.store.claims)) == ({5}, {})


class PartialQueue(FakeJobs):
    """A queue that refuses the first `limit` jobs of a group."""

    def __init__(self, store: Any, limit: int) -> None:
        super().__init__(store)
        self._limit = limit

    def put_all(self, jobs: Sequence[tuple[Job, Mail]]) -> frozenset[UUID]:
        super().put_all(jobs[self._limit :])
        return frozenset(job.message_id for job, _ in jobs[: self._limit])


def test_an_email_that_the_queue_refuses_fails_alone(world: World) -> None:
    """An email that was not queued is refunded and gets an error; the others are accepted."""
    results = submit(world, batch(*[request()] * 3), DIGEST, jobs=PartialQueue(world.store, 2))
    assert codes(results) == ["service_unavailable", "service_unavailable", None]
    assert message_ids(world) == {UUID(results[2]["messageId"])}
    assert world.used() == {1}


def test_a_batch_that_the_queue_refuses_entirely_is_refused(world: World) -> None:
    """If no email was queued, the whole batch gets a retryable error and leaves nothing."""
    error = error_of(world, batch(*[request()] * 3), DIGEST, jobs=PartialQueue(world.store, 3))
    assert error.code == "service_unavailable"
    assert (dict(world.store.claims), dict(world.store.messages), world.used()) == ({}, {}, {0})


def test_a_batch_that_is_sent_whole_or_not_at_all_is_refused_whole(world: World) -> None:
    """If one of its emails was not queued, none is accepted, and a retry may send all."""
    whole = replace(batch(*[request()] * 3), whole=True)
    error = error_of(world, whole, DIGEST, jobs=PartialQueue(world.store, 1))
    assert error.code == "service_unavailable"
    assert (dict(world.store.claims), dict(world.store.messages), world.used()) == ({}, {}, {0})
    assert codes(submit(world, whole, DIGEST)) == [None] * 3


@pytest.mark.parametrize("count", [100, 101])
def test_a_batch_has_at_most_a_hundred_emails(world: World, count: int) -> None:
    """A batch of 101 emails is refused as a whole before anything else is looked up."""
    batch_request = batch(*[request(to=(f"a{n}@example.com",)) for n in range(count)])
    if count == 100:
        assert codes(submit(world, batch_request)) == [None] * 100
        return
    error = error_of(world, batch_request, DIGEST)
    assert (error.code, error.details) == (
        "batch_limit_exceeded",
        {"scope": "messages", "count": 101, "limit": 100},
    )
    assert (world.store.max_addresses, world.gate.calls) == (0, [LOOK_UP])


@pytest.mark.parametrize("extra", [0, 1])
def test_a_batch_has_at_most_a_thousand_recipients(world: World, extra: int) -> None:
    """The recipients of all emails count together; one too many refuses the whole batch."""
    many = tuple(f"a{n}@example.com" for n in range(50))
    batch_request = batch(*[request(to=many)] * 20, *[request()] * extra)
    if not extra:
        assert codes(submit(world, batch_request)) == [None] * 20
        return
    assert error_of(world, batch_request).details == {
        "scope": "recipients",
        "count": 1001,
        "limit": 1000,
    }


def test_authentication_comes_before_the_validation_error(world: World) -> None:
    assert error_of(world, INVALID) is INVALID
    world.store.keys.clear()
    assert error_of(world, INVALID).code == "invalid_api_key"


def test_a_stale_owner_changes_no_answer(world: World) -> None:
    """An owner that stalls before the commit and is taken over doubles and changes nothing."""
    batch_request, successor = batch(request(), request()), list[dict[str, Any]]()

    def overtake() -> None:
        world.advance(LEASE)
        successor.extend(submit(world, batch_request, DIGEST))

    world.gate.before(COMMIT, do=overtake)
    assert error_of(world, batch_request, DIGEST).code == "service_unavailable"
    held_claim = world.store.claims[ACCOUNT, DIGEST]
    assert held_claim.response is not None
    assert json.loads(held_claim.response.body)["results"] == successor
    assert len(message_ids(world)) == 2
    assert world.used() == {2}

"""Accepting a batch: what is accepted, what is given back, and who may go on with it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

import pytest

from pillarbox.application.ports import StoredResponse
from pillarbox.application.sending.batch import BatchRequest, BatchSend
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import derived_id
from pillarbox.domain.mail import Job, Mail, SendRequest
from pillarbox.domain.message import Message
from pillarbox.domain.quota import Limits
from pillarbox.http.replies import batch_result
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, DIGEST, HASH, NOW, SENDER, request
from tests.fakes.stores import FakeJobs, FakeMessages, FakeQuotas
from tests.fakes.world import Fault, World

LOOK_UP, ACQUIRE, READ, DNS = (
    "directory.look_up",
    "claims.acquire",
    "messages.get_all",
    "domains.look_up",
)
RESERVE, PUT, COMMIT, FINISH = (
    "quotas.reserve",
    "jobs.put_all",
    "messages.commit_all",
    "claims.finish",
)
LEASE = timedelta(seconds=35)
OVER = "daily_limit_exceeded"
WRONG = ValidationFailed(FieldError("to", "is required", "required"))
UNAVAILABLE = ServiceError("service_unavailable", "planted")


@pytest.fixture
def world() -> World:
    return World()


def limited(per_day: int) -> World:
    """A service whose account may send so many a day."""
    limits = Limits(per_minute=None, per_day=per_day, per_month=None)
    return World(replace(builders.account(), overrides=limits))


def batch(*items: SendRequest | ServiceError, body_hash: str = HASH) -> BatchRequest:
    return BatchRequest(body_hash=body_hash, count=len(items), items=items)


def submit(
    world: World, sent: BatchRequest | ServiceError, digest: str | None = None, **ports: Any
) -> list[Any]:
    """The results of a batch, with some of its ports replaced."""
    answer = BatchSend(replace(world.ports, **ports)).submit(world.live, sent, digest, batch_result)
    results: list[Any] = json.loads(answer.body)["results"]
    assert [each["idx"] for each in results] == [*range(len(results))]
    return results


def codes(results: list[Any]) -> list[str | None]:
    return [each["error"] and each["error"]["code"] for each in results]


def refused(world: World, sent: Any, digest: str | None = None, **ports: Any) -> ServiceError:
    with pytest.raises(ServiceError) as error:
        submit(world, sent, digest, **ports)
    return error.value


def fail(world: World, *calls: str, when: Literal["before", "after"] = "before") -> None:
    """Let the last of these calls, which are all up to it, fail."""
    world.gate.fault = Fault(len(world.gate.calls) + len(calls) - 1, when, UNAVAILABLE)


def ids(world: World) -> set[UUID]:
    return {message_id for _, message_id in world.store.messages}


def test_a_batch_takes_few_rounds(world: World) -> None:
    """Without a key: one read, one look at the DNS, the quota, the jobs, the records."""
    results = submit(world, batch(request(), request(subject="Two")))
    assert world.gate.calls == [LOOK_UP, DNS, RESERVE, PUT, COMMIT]
    assert [each["status"] for each in results] == ["queued"] * 2
    assert {(each["from"], each["error"]) for each in results} == {(SENDER, None)}
    assert {UUID(each["messageId"]) for each in results} == ids(world)
    assert {job.message_id for job in world.store.queue} == ids(world)
    assert {job.queued_at for job in world.store.queue} == {NOW}
    assert world.used() == {2}


def test_a_keyed_batch_is_answered_at_its_end(world: World) -> None:
    """With a key its claim comes first and gives the ids by place; its answer is kept last."""
    results = submit(world, batch(request(), WRONG, request()), DIGEST)
    assert world.gate.calls == [LOOK_UP, ACQUIRE, DNS, RESERVE, PUT, COMMIT, FINISH]
    held = world.store.claims[ACCOUNT, DIGEST]
    generation = held.claim.generation
    assert [each["messageId"] for each in results] == [
        str(derived_id(generation, 0)),
        None,
        str(derived_id(generation, 2)),
    ]
    assert held.response is not None
    assert json.loads(held.response) == {"results": results}


def test_a_batch_is_replayed(world: World) -> None:
    """The same key and body again: the first answer, whatever it was, and nothing more."""
    sent = batch(request(), WRONG)
    results = submit(world, sent, DIGEST)
    world.gate.calls.clear()
    answer = BatchSend(world.ports).submit(world.live, sent, DIGEST, batch_result)
    assert answer == StoredResponse(
        json.dumps({"results": results}, separators=(",", ":")), replayed=True
    )
    assert world.gate.calls == [LOOK_UP, ACQUIRE]


@pytest.mark.parametrize(
    ("step", "calls"),
    [
        ("the DNS", [LOOK_UP, ACQUIRE, DNS]),
        ("the quota", [LOOK_UP, ACQUIRE, DNS, RESERVE]),
        ("the queue", [LOOK_UP, ACQUIRE, DNS, RESERVE, PUT]),
    ],
)
def test_what_fails_before_the_records_gives_back_what_it_took(
    world: World, step: str, calls: list[str]
) -> None:
    """Up to the queue an error leaves no claim, no record and no count."""
    fail(world, *calls)
    error = refused(world, batch(request(), request()), DIGEST)
    assert error.code == "service_unavailable", step
    assert (world.store.claims, world.store.messages, world.used()) == ({}, {}, {0})


def test_without_a_key_there_is_no_claim_to_give_back(world: World) -> None:
    """An error without a key releases nothing."""
    fail(world, LOOK_UP, DNS)
    refused(world, batch(request()))
    assert world.gate.calls == [LOOK_UP, DNS]


def test_records_that_were_put_unheard_are_an_acceptance(world: World) -> None:
    """The records' answer was lost, but they are there: accepted, counted and answered."""
    fail(world, LOOK_UP, ACQUIRE, DNS, RESERVE, PUT, COMMIT, when="after")
    assert codes(submit(world, batch(request(), request()), DIGEST)) == [None, None]
    assert len(ids(world)) == 2
    assert world.used() == {2}
    assert world.store.claims[ACCOUNT, DIGEST].response is not None


class Halting(FakeMessages):
    """Messages of which only so many records can be put."""

    def __init__(self, store: Any, most: int) -> None:
        super().__init__(store)
        self._most = most

    def commit_all(self, messages: Sequence[Message]) -> None:
        super().commit_all(messages[: self._most])
        raise UNAVAILABLE


@pytest.mark.parametrize(("most", "used"), [(0, 0), (1, 1), (2, 2)])
def test_records_that_were_not_put_are_counted_out(world: World, most: int, used: int) -> None:
    """The error is told, what is lost is given back, and the claim waits for a successor."""
    messages = Halting(world.store, most)
    refused(world, batch(request(), request(), request()), DIGEST, messages=messages)
    assert world.used() == {used}
    assert len(ids(world)) == most
    assert world.store.claims[ACCOUNT, DIGEST].response is None


def test_who_takes_over_goes_on_with_what_is_there(world: World) -> None:
    """Past the lease the same batch keeps what was accepted and accepts the rest, once each."""
    sent = batch(request(), request(), WRONG)
    refused(world, sent, DIGEST, messages=Halting(world.store, 1))
    (first,) = ids(world)
    world.advance(LEASE)
    world.gate.calls.clear()
    results = submit(world, sent, DIGEST)
    assert world.gate.calls == [LOOK_UP, ACQUIRE, READ, DNS, RESERVE, PUT, COMMIT, FINISH]
    assert results[0] == {
        "idx": 0,
        "messageId": str(first),
        "status": "queued",
        "from": SENDER,
        "error": None,
    }
    assert codes(results) == [None, None, "validation_failed"]
    assert {UUID(each["messageId"]) for each in results[:2]} == ids(world)
    assert max(world.used()) == 2
    assert world.store.queue[-1].queued_at == world.now


@pytest.mark.parametrize("step", [READ, DNS, RESERVE, PUT])
def test_who_takes_over_and_fails_leaves_the_ids_to_the_next(world: World, step: str) -> None:
    """Two owners stall and fail; a third accepts; then the first goes on: one mail, not two."""
    sent = batch(request())
    calls = [LOOK_UP, ACQUIRE, READ, DNS, RESERVE, PUT]

    def others(call: str) -> None:
        if call == COMMIT:
            world.gate.watch = lambda _: None
            world.advance(LEASE)
            fail(world, *calls[: calls.index(step) + 1])
            refused(world, sent, DIGEST)
            world.gate.fault = None
            assert refused(world, sent, DIGEST).code == "idempotency_in_flight"
            world.advance(LEASE)
            submit(world, sent, DIGEST)

    world.gate.watch = others
    (told,) = submit(world, sent, DIGEST)
    assert ids(world) == {UUID(told["messageId"])}


def test_who_fails_after_a_part_was_accepted_leaves_it_to_the_next(world: World) -> None:
    """What an owner accepted before it died is not sent anew after its successor failed."""
    sent = batch(request(), request())
    refused(world, sent, DIGEST, messages=Halting(world.store, 1))
    accepted = ids(world)
    world.advance(LEASE)
    fail(world, LOOK_UP, ACQUIRE, READ, DNS, RESERVE, PUT)
    refused(world, sent, DIGEST)
    world.gate.fault = None
    world.advance(LEASE)
    results = submit(world, sent, DIGEST)
    assert {UUID(each["messageId"]) for each in results} == ids(world) > accepted
    assert len(ids(world)) == 2


def take_elsewhere(world: World, count: int) -> None:
    """Another process sends so many of the account's mails."""
    FakeQuotas(world.store).reserve(ACCOUNT, count, builders.UNLIMITED, world.now)


def test_what_was_accepted_is_answered_though_nothing_else_fits() -> None:
    """A successor whose quota is full answers for the first mail, and 429 for the others alone."""
    world = limited(3)
    sent = batch(request(), request(), request())
    refused(world, sent, DIGEST, messages=Halting(world.store, 1))
    take_elsewhere(world, 2)
    world.advance(LEASE)
    assert codes(submit(world, sent, DIGEST)) == [None, OVER, OVER]


def test_what_was_accepted_is_answered_though_the_rest_is_wrong(world: World) -> None:
    """A successor that finds nothing left to accept draws no quota, and queues nothing."""
    submit(world, batch(request(), WRONG), DIGEST)
    world.store.claims[ACCOUNT, DIGEST].response = None
    world.advance(LEASE)
    assert codes(submit(world, batch(request(), WRONG), DIGEST)) == [None, "validation_failed"]
    assert (max(world.used()), len(world.store.queue)) == (1, 1)


def test_the_answer_is_given_though_it_cannot_be_kept(world: World) -> None:
    """The records are the commit: an error at the claim's answer is nobody's concern."""
    fail(world, LOOK_UP, ACQUIRE, DNS, RESERVE, PUT, COMMIT, FINISH)
    assert codes(submit(world, batch(request()), DIGEST)) == [None]
    assert world.store.claims[ACCOUNT, DIGEST].response is None


def test_the_quota_is_drawn_in_order() -> None:
    """As many are accepted as there is room for, from the first on; the rest are told why."""
    world = limited(2)
    results = submit(world, batch(request(), WRONG, request(), request(), request()))
    assert codes(results) == [None, "validation_failed", None, OVER, OVER]
    assert results[3]["error"]["details"] == {"limit_per_day": 2}
    assert {UUID(results[place]["messageId"]) for place in (0, 2)} == ids(world)
    assert world.used() == {2}
    assert refused(world, batch(request(), WRONG), DIGEST).code == OVER
    assert not world.store.claims


@pytest.mark.parametrize(("others", "accepted"), [(0, 10), (1, 9), (4, 6)])
def test_others_may_draw_meanwhile(others: int, accepted: int) -> None:
    """What another takes between being told what is left and taking it is told anew."""
    world = limited(10)
    contend(world, others)
    assert codes(submit(world, batch(*[request()] * 10))).count(None) == accepted
    assert world.used() == {10}


def contend(world: World, others: int) -> None:
    """Let others take one just before each of so many tries to draw the quota."""

    def watch(call: str) -> None:
        if call == RESERVE and world.gate.calls.count(RESERVE) <= others:
            take_elsewhere(world, 1)

    world.gate.watch = watch


def test_endless_contention_is_given_up() -> None:
    """After five tries the batch is to come again; nothing is kept of it."""
    world = limited(100)
    contend(world, 99)
    error = refused(world, batch(*[request()] * 100), DIGEST)
    assert error.code == "service_unavailable"
    assert world.gate.calls.count(RESERVE) == 5
    assert (world.used(), world.store.claims) == ({5}, {})


class Refusing(FakeJobs):
    """A queue that does not take the first so many of a group."""

    def __init__(self, store: Any, most: int) -> None:
        super().__init__(store)
        self._most = most

    def put_all(self, jobs: Sequence[tuple[Job, Mail]]) -> frozenset[UUID]:
        super().put_all(jobs[self._most :])
        return frozenset(job.message_id for job, _ in jobs[: self._most])


def test_what_the_queue_does_not_take_fails_alone(world: World) -> None:
    """A mail that was not queued is counted out and told; the others are accepted."""
    results = submit(world, batch(*[request()] * 3), DIGEST, jobs=Refusing(world.store, 2))
    assert codes(results) == ["service_unavailable", "service_unavailable", None]
    assert ids(world) == {UUID(results[2]["messageId"])}
    assert world.used() == {1}


def test_a_batch_that_the_queue_takes_nothing_of_is_refused(world: World) -> None:
    """Not one was queued: the whole is to come again, and leaves nothing."""
    error = refused(world, batch(*[request()] * 3), DIGEST, jobs=Refusing(world.store, 3))
    assert error.code == "service_unavailable"
    assert (world.store.claims, world.store.messages, world.used()) == ({}, {}, {0})


@pytest.mark.parametrize("count", [100, 101])
def test_a_hundred_mails_are_the_most(world: World, count: int) -> None:
    """One more is refused as a whole, and nothing is looked up for it."""
    sent = batch(*[request(to=(f"a{n}@example.com",)) for n in range(count)])
    if count == 100:
        assert codes(submit(world, sent)) == [None] * 100
        return
    error = refused(world, sent, DIGEST)
    assert (error.code, error.details) == (
        "batch_limit_exceeded",
        {"scope": "messages", "count": 101, "limit": 100},
    )
    assert (world.store.max_addresses, world.gate.calls) == (0, [LOOK_UP])


@pytest.mark.parametrize("more", [0, 1])
def test_a_thousand_recipients_are_the_most(world: World, more: int) -> None:
    """Those of all mails are counted together; one more is refused as a whole."""
    many = tuple(f"a{n}@example.com" for n in range(50))
    sent = batch(*[request(to=many)] * 20, *[request()] * more)
    if not more:
        assert codes(submit(world, sent)) == [None] * 20
        return
    assert refused(world, sent).details == {"scope": "recipients", "count": 1001, "limit": 1000}


def test_what_is_wrong_with_the_whole_is_told_after_authentication(world: World) -> None:
    """A batch of another shape is refused with what is wrong, but not to just anybody."""
    assert refused(world, WRONG) is WRONG
    world.store.keys.clear()
    assert refused(world, WRONG).code == "invalid_api_key"


def test_preview_keys_send_one_at_a_time(world: World) -> None:
    """A preview key gets 403 and where to get more, before the counts are looked at."""
    for count in (1, 101):
        with pytest.raises(ServiceError) as error:
            BatchSend(world.ports).submit(
                world.preview, batch(*[request()] * count), None, batch_result
            )
        assert (error.value.code, error.value.upgrade_url) == (
            "upgrade_required",
            builders.UPGRADE_URL,
        )


def test_a_stale_owner_answers_for_nobody(world: World) -> None:
    """Who stalls before the records and is taken over changes no answer, and nothing is doubled."""
    sent = batch(request(), request())

    def overtake(call: str) -> None:
        if call == COMMIT:
            world.gate.watch = lambda _: None
            world.advance(LEASE)
            submit(world, sent, DIGEST)

    world.gate.watch = overtake
    results = submit(world, sent, DIGEST)
    held = world.store.claims[ACCOUNT, DIGEST]
    assert held.response is not None
    assert json.loads(held.response)["results"] == results
    assert len(ids(world)) == 2

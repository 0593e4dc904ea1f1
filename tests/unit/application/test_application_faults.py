"""A fault at every call of every path: an answered request is sent once, no other is sent."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal

import pytest

from pillarbox.application.delivery.ports import SendThrottled, SendUncertain
from pillarbox.application.ports import DomainVerdict, StoredResponse
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.domain.messages.message import Message
from tests.fakes.builders import ACCOUNT, DIGEST, attachment, request, starter_request
from tests.fakes.world import Fault, Killed, World

SENDS = {
    "html": request(),
    "starter": starter_request(),
    "spooled": request(attachments=(attachment(),)),
}
type When = Literal["before", "after"]
WHEN: tuple[When, ...] = ("before", "after")


@dataclass
class FaultyRequest:
    """A request that met a fault: its world, the call that failed and the outcome."""

    world: World
    call: str
    fault: Fault
    outcome: StoredResponse | BaseException


def submit(
    world: World, send_request: SendRequest, digest: str | None
) -> StoredResponse | BaseException:
    try:
        return world.send(send_request, digest=digest)
    except (Exception, Killed) as error:  # noqa: BLE001  the tests examine every outcome
        return error


def faulty_requests(
    send_request: SendRequest, digest: str | None, *, refuse: bool = False
) -> Iterator[FaultyRequest]:
    """Submit the same request with each error before and after each of its calls."""
    for error in (ServiceError("service_unavailable", "planted"), RuntimeError("bug"), Killed()):
        for when in WHEN:
            for position in range(99):
                world = World()
                if refuse:
                    world.domains.verdicts["example.com"] = DomainVerdict.NO_MX
                world.gate.fault = fault = Fault(position, when, error)
                outcome = submit(world, send_request, digest)
                world.gate.fault = None
                if position >= len(world.gate.calls):
                    break
                yield FaultyRequest(world, world.gate.calls[position], fault, outcome)


def delivered(world: World) -> Counter[Message]:
    """Run the queue until it is empty; return how often each message was handed over."""
    world.settle()
    return Counter(world.store.messages[ACCOUNT, m.message_id] for m, _, _ in world.mailer.taken)


@pytest.mark.parametrize("digest", [None, DIGEST])
@pytest.mark.parametrize("send_request", SENDS.values(), ids=SENDS)
def test_an_answered_request_is_committed_and_sent_once(
    send_request: SendRequest, digest: str | None
) -> None:
    """After any fault a request is sent once, or refused without a trace (promises 1, 2)."""
    count = 0
    for faulty in faulty_requests(send_request, digest):
        world, where = faulty.world, (faulty.call, faulty.fault)
        committed = list(world.store.messages.values())
        if isinstance(faulty.outcome, StoredResponse):
            assert [str(m.message_id) in faulty.outcome.body for m in committed] == [True], where
            assert world.used() == {1}, where
        elif not isinstance(faulty.outcome, Killed):
            assert not committed, where
            assert not world.store.claims or faulty.call == "claims.put", where
            # A reservation whose response was lost may exist: the quota is strict, never lax.
            response_lost = faulty.call == "quotas.reserve" and faulty.fault.when == "after"
            assert world.used() == ({1} if response_lost else {0}), where
        sends = delivered(world)
        assert sends == Counter(world.store.messages.values()), where
        assert {m.status for m in world.store.messages.values()} <= {"sent"}, where
        assert not world.store.spool or not world.store.queue, where
        count += 1
    print(f"faults {count}, lost 0, doubled 0")  # noqa: T201  shows how much was tried
    assert count >= 24


@pytest.mark.parametrize("send_request", SENDS.values(), ids=SENDS)
def test_a_retry_under_the_key_creates_one_message(send_request: SendRequest) -> None:
    """After a fault at any call, a retry with the key gives one message, sent once (promise 3)."""
    count = 0
    for faulty in faulty_requests(send_request, DIGEST):
        world, where = faulty.world, (faulty.call, faulty.fault)
        answers = [faulty.outcome] if isinstance(faulty.outcome, StoredResponse) else []
        world.advance(timedelta(seconds=66))  # a dead owner's lease is over
        again = submit(world, send_request, DIGEST)
        assert isinstance(again, StoredResponse), where
        assert again.replayed == (world.gate.calls[-1] == "messages.get"), where
        assert {answer.body for answer in answers} <= {again.body}, where
        assert delivered(world) == Counter([world.message()]), where
        count += 1
    print(f"faults {count}, lost 0, doubled 0")  # noqa: T201  shows how much was tried


def test_a_refused_request_releases_its_key() -> None:
    """A refused request releases its claim; if the release fails, the lease expires."""
    for faulty in faulty_requests(request(), DIGEST, refuse=True):
        world = faulty.world
        world.domains.verdicts.clear()
        world.advance(timedelta(seconds=66))
        assert isinstance(submit(world, request(), DIGEST), StoredResponse)
        assert delivered(world) == Counter([world.message()])


def accepted_world(send_request: SendRequest) -> World:
    world = World()
    assert isinstance(submit(world, send_request, None), StoredResponse)
    world.gate.calls.clear()
    return world


def errors_of(call: str) -> list[tuple[When, BaseException]]:
    killed: list[tuple[When, BaseException]] = [("before", Killed()), ("after", Killed())]
    if call == "mailer.send":
        return [
            *killed,
            ("before", SendThrottled()),
            ("before", SendUncertain()),
            ("after", SendUncertain()),
        ]
    unavailable = ServiceError("service_unavailable", "planted")
    return [*killed, ("before", unavailable), ("after", unavailable)]


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("send_request", SENDS.values(), ids=SENDS)
def test_a_fault_while_delivering_sends_once(send_request: SendRequest, copies: int) -> None:
    """A fault at any call and a duplicated job still give one hand-over (promise 2)."""
    undisturbed = accepted_world(send_request)
    undisturbed.settle()
    count = 0
    for position, call in enumerate(undisturbed.gate.calls):
        for when, error in errors_of(call):
            world = accepted_world(send_request)
            world.store.queue *= copies
            if isinstance(send_request.starter_template, str):
                # An expired code is not sent, so give it the time that the retries take.
                world.store.queue = [_with_later_deadline(job) for job in world.store.queue]
            world.gate.fault = Fault(position, when, error)
            assert delivered(world) == Counter([world.message()]), (call, when, error)
            assert world.message().status == "sent"
            assert not world.store.spool
            count += 1
    print(f"faults {count}, lost 0, doubled 0")  # noqa: T201  shows how much was tried
    assert count >= 20


def _with_later_deadline(job: Any) -> Any:
    return replace(job, deadline=job.queued_at + timedelta(hours=24))


ACCEPTORS: dict[str, Callable[[World], object]] = {
    "single": World.send,
    "keyed": lambda world: world.send(digest=DIGEST),
    "batch": lambda world: world.send_batch(request()),
    "keyed batch": lambda world: world.send_batch(request(), digest=DIGEST),
    "smtp": World.send_smtp,
    "smtp group": lambda world: world.send_smtp(grouped=True),
}


@pytest.mark.parametrize("send", ACCEPTORS.values(), ids=ACCEPTORS)
def test_a_record_that_comes_after_its_job_was_dropped_is_refused(
    world: World, send: Callable[[World], object]
) -> None:
    """The worker that drops a job without a record keeps its acceptor from committing it later."""

    def stall() -> None:
        world.advance(timedelta(minutes=16))
        world.settle()
        world.store.queue.clear()

    world.gate.before("messages.commit", "messages.commit_all", do=stall)
    with pytest.raises(ServiceError, match="stalled"):
        send(world)
    assert world.used() == {0}
    assert not world.store.messages
    assert not delivered(world)

"""A fault at every call of every path: what was answered is sent once, the rest never."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal

import pytest

from pillarbox.application.ports import (
    DomainVerdict,
    SendRejected,
    SendThrottled,
    SendUncertain,
    StoredResponse,
)
from pillarbox.application.sending.single import SingleSend
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.mail import SendRequest
from pillarbox.domain.message import Message
from pillarbox.http.replies import send_result
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
class Try:
    """A request that met a fault: its world, and what came of it."""

    world: World
    call: str
    fault: Fault
    outcome: StoredResponse | BaseException


def attempt(world: World, sent: SendRequest, digest: str | None) -> StoredResponse | BaseException:
    try:
        return SingleSend(world.ports).submit(world.live, sent, digest, send_result)
    except (Exception, Killed) as error:  # noqa: BLE001  every end of a request is looked at
        return error


def tries(sent: SendRequest, digest: str | None, *, refuse: bool = False) -> Iterator[Try]:
    """The same request with each error before and after each of its calls."""
    for error in (ServiceError("service_unavailable", "planted"), RuntimeError("bug"), Killed()):
        for when in WHEN:
            for position in range(99):
                world = World()
                if refuse:
                    world.domains.verdicts["example.com"] = DomainVerdict.NO_MX
                world.gate.fault = fault = Fault(position, when, error)
                outcome = attempt(world, sent, digest)
                world.gate.fault = None
                if position >= len(world.gate.calls):
                    break
                yield Try(world, world.gate.calls[position], fault, outcome)


def delivered(world: World) -> Counter[Message]:
    """Run the queue to rest; how often each message was handed to the provider."""
    world.settle()
    return Counter(world.store.messages[ACCOUNT, m.message_id] for m, _, _ in world.mailer.taken)


@pytest.mark.parametrize("digest", [None, DIGEST])
@pytest.mark.parametrize("sent", SENDS.values(), ids=SENDS)
def test_answered_is_committed_and_sent_once(sent: SendRequest, digest: str | None) -> None:
    """A fault at any call: answered and sent once, or refused with nothing left (promise 1, 2)."""
    count = 0
    for one in tries(sent, digest):
        world, where = one.world, (one.call, one.fault)
        committed = list(world.store.messages.values())
        if isinstance(one.outcome, StoredResponse):
            assert [str(m.message_id) in one.outcome.body for m in committed] == [True], where
            assert world.used() == {1}, where
        elif not isinstance(one.outcome, Killed):
            assert not committed, where
            assert not world.store.claims or one.call == "claims.acquire", where
            # A reservation whose answer was lost may have been made: too strict, never too lax.
            unheard = one.call == "quotas.reserve" and one.fault.when == "after"
            assert world.used() == ({1} if unheard else {0}), where
        sends = delivered(world)
        assert sends == Counter(world.store.messages.values()), where
        assert {m.status for m in world.store.messages.values()} <= {"sent"}, where
        assert not world.store.spool or not world.store.queue, where
        count += 1
    print(f"faults {count}, lost 0, doubled 0")  # noqa: T201  the figure of the promise
    assert count >= 24


@pytest.mark.parametrize("sent", SENDS.values(), ids=SENDS)
def test_a_retry_under_the_key_makes_one_message(sent: SendRequest) -> None:
    """After a fault at any call, the same key again ends in one message, sent once (promise 3)."""
    count = 0
    for one in tries(sent, DIGEST):
        world, where = one.world, (one.call, one.fault)
        answers = [one.outcome] if isinstance(one.outcome, StoredResponse) else []
        world.advance(timedelta(seconds=36))  # a dead owner's lease is over
        again = attempt(world, sent, DIGEST)
        assert isinstance(again, StoredResponse), where
        assert again.replayed == bool(world.gate.calls[-1] == "claims.acquire"), where
        assert {answer.body for answer in answers} <= {again.body}, where
        assert delivered(world) == Counter([world.message()]), where
        count += 1
    print(f"faults {count}, lost 0, doubled 0")  # noqa: T201  the figure of the promise


def test_a_refused_request_releases_its_key() -> None:
    """A request that is refused gives up its claim; when that fails, its lease does."""
    for one in tries(request(), DIGEST, refuse=True):
        world = one.world
        world.domains.verdicts.clear()
        world.advance(timedelta(seconds=36))
        assert isinstance(attempt(world, request(), DIGEST), StoredResponse)
        assert delivered(world) == Counter([world.message()])


@pytest.mark.parametrize("digest", [None, DIGEST])
def test_a_commit_that_was_not_heard_is_an_acceptance(digest: str | None) -> None:
    """The commit succeeded and its answer was lost: the send is answered, and not refunded."""
    (one,) = [
        one
        for one in tries(request(), digest)
        if (one.call, one.fault.when) == ("messages.commit", "after")
        and isinstance(one.fault.error, ServiceError)
    ]
    assert isinstance(one.outcome, StoredResponse)
    assert not one.outcome.replayed
    assert one.world.used() == {1}
    assert one.world.gate.calls[-1] == ("claims.release" if digest else "messages.get")


def accepted(sent: SendRequest) -> World:
    world = World()
    assert isinstance(attempt(world, sent, None), StoredResponse)
    world.gate.calls.clear()
    return world


def errors_of(call: str) -> list[tuple[When, BaseException]]:
    """What can go wrong at a call of the worker."""
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
@pytest.mark.parametrize("sent", SENDS.values(), ids=SENDS)
def test_a_fault_while_delivering_sends_once(sent: SendRequest, copies: int) -> None:
    """A fault at any call of the worker, jobs doubled by the queue: one hand-over (promise 2)."""
    plain = accepted(sent)
    plain.settle()
    count = 0
    for position, call in enumerate(plain.gate.calls):
        for when, error in errors_of(call):
            world = accepted(sent)
            world.store.queue *= copies
            if isinstance(sent.starter_template, str):
                # An expiring code is rather not sent than sent late.
                world.store.queue = [_patient(job) for job in world.store.queue]
            world.gate.fault = Fault(position, when, error)
            assert delivered(world) == Counter([world.message()]), (call, when, error)
            assert world.message().status == "sent"
            assert not world.store.spool
            count += 1
    print(f"faults {count}, lost 0, doubled 0")  # noqa: T201  the figure of the promise
    assert count >= 20


def _patient(job: Any) -> Any:
    return replace(job, deadline=job.queued_at + timedelta(hours=24))


def test_a_refusal_is_final() -> None:
    """What the provider refuses for good fails once and is not tried again."""
    world = accepted(request())
    position = 2  # take, look_up, load, send
    world.gate.fault = Fault(position + 1, "before", SendRejected("message_rejected", "no"))
    world.settle()
    assert not world.mailer.taken
    error = world.message().error
    assert error is not None
    assert (error.code, error.reason) == ("message_rejected", "no")

"""Delivering: every branch between a job and the provider."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from pillarbox.application.delivery.deliver import (
    DeliveryResult,
    Outcome,
    backoff,
    message_id_header,
)
from pillarbox.application.ports import LeaseRefusal, SendRejected, SendThrottled, SendUncertain
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.mail import Job
from pillarbox.domain.message import EventKind, Message
from tests.fakes import builders
from tests.fakes.actors import Actor
from tests.fakes.builders import ACCOUNT, HASH, NOW, OTHER_HASH, at, event
from tests.fakes.stores import FakeMessages
from tests.fakes.world import Fault, Killed, World

ANN, BOB = "ann@example.com", "bob@example.com"
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def job(world: World) -> Job:
    """The job of an accepted message."""
    return world.accept(builders.message())


class Untaken(FakeMessages):
    """Messages that cannot be leased, though they have no lease when they are shown."""

    def lease(
        self, account_id: str, message_id: UUID, body_hash: str, owner: str, now: datetime
    ) -> LeaseRefusal:
        del body_hash, owner, now
        return LeaseRefusal(self.get(account_id, message_id))


def fail_sending(world: World, error: BaseException, *, taken: bool = False) -> None:
    """Let the provider's next answer be this error."""
    calls = world.gate.calls
    ahead = ["messages.lease", "suppressions.find_suppressed", "jobs.load"]
    world.gate.fault = Fault(len(calls) + len(ahead), "after" if taken else "before", error)


def later(world: World, **wait: float) -> None:
    world.advance(timedelta(**wait))


def test_a_mail_is_handed_over_once(world: World, job: Job) -> None:
    """A pending message is leased, built, sent and marked sent with the provider's id."""
    assert world.delivery.deliver(job) == DeliveryResult(
        Outcome.SENT, retry_after=None, resent=False
    )
    assert world.gate.calls == [
        "messages.lease",
        "suppressions.find_suppressed",
        "jobs.load",
        "mailer.send",
        "messages.save",
        "jobs.discard",
    ]
    message = world.message()
    assert (message.status, message.provider_message_id, message.attempt) == ("sent", "ses-1", 1)
    assert message.lease is None
    ((handed, recipients, raw),) = world.mailer.taken
    assert handed.lease is not None
    assert (handed.lease.taken_at, handed.lease.expires_at) == (NOW, at(90))
    assert recipients == (ANN,)
    assert raw == f"{message.message_id} Hello".encode()


@pytest.mark.parametrize("kind", [k for k in EventKind if k.rank > EventKind.ACCEPTED.rank])
def test_a_finished_message_is_left_alone(world: World, kind: EventKind) -> None:
    """A job whose message is final already, or given up, is dropped without a word."""
    job = world.accept(builders.message(events=(event(kind),)))
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.DROPPED)
    assert not world.mailer.taken


@pytest.mark.parametrize("other", [OTHER_HASH, "0" * 64, "f" * 64])
def test_a_job_of_another_request_is_dropped(world: World, job: Job, other: str) -> None:
    """A job whose hash is not the record's never was accepted mail."""
    assert world.delivery.deliver(replace(job, body_hash=other)).outcome is Outcome.DROPPED
    assert not world.mailer.taken


def test_a_record_that_is_late_is_looked_for(world: World) -> None:
    """The worker looks again after 50, 200 and 1000 ms; a record that came meanwhile is sent."""
    message = builders.message()
    job = builders.job(message)

    def commit() -> None:
        if len(world.pauses) == 2:
            world.accept(message)

    world.while_paused = commit
    assert world.delivery.deliver(job).outcome is Outcome.SENT
    assert world.pauses == [0.05, 0.2]


@pytest.mark.parametrize(
    ("age", "delivered"),
    [
        (timedelta(0), DeliveryResult(Outcome.WAITING, MINUTE)),
        (timedelta(minutes=14, seconds=59), DeliveryResult(Outcome.WAITING, MINUTE)),
        (timedelta(minutes=15), DeliveryResult(Outcome.DROPPED)),
        (timedelta(minutes=16), DeliveryResult(Outcome.DROPPED)),
    ],
)
def test_a_job_without_a_record_is_no_mail(
    world: World, age: timedelta, delivered: DeliveryResult
) -> None:
    """Without a record a job is postponed, and dropped after 15 minutes, its spool with it."""
    message = builders.message()
    world.store.spool["s"] = builders.mail()
    world.advance(age)
    assert world.delivery.deliver(builders.job(message, mail=None, spool_key="s")) == delivered
    assert world.pauses == [0.05, 0.2, 1.0]
    assert bool(world.store.spool) == (delivered.retry_after is not None)
    assert not world.mailer.taken


def test_an_old_id_is_no_old_job(world: World) -> None:
    """A job queued just now waits for its record, though its id is from an earlier try."""
    job = builders.job(builders.message(), queued_at=at(3600))
    later(world, hours=1)
    assert world.delivery.deliver(job).outcome is Outcome.WAITING


def test_a_leased_message_is_left_to_its_worker(world: World, job: Job) -> None:
    """While another worker holds the lease, the job waits until it runs out."""
    fail_sending(world, Killed())
    assert world.run(job) is not None
    later(world, seconds=30)
    as_read = replace(job, body_hash="".join(list(job.body_hash)))
    assert world.delivery.deliver(as_read) == DeliveryResult(Outcome.WAITING, timedelta(seconds=60))


def test_a_lease_that_is_just_given_back_is_tried_at_once(world: World, job: Job) -> None:
    """Given back between the refusal of the lease and its reading: the job comes again now."""
    not_taken = replace(world.delivery, messages=Untaken(world.store))
    assert not_taken.deliver(job) == DeliveryResult(Outcome.WAITING, timedelta(0))


def test_of_two_that_would_resend_one_does(world: World, job: Job) -> None:
    """Whoever finds the uncertain message changed by another looks again at once."""
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    later(world, minutes=15)
    world.store.newest_event = at(900)
    slow = Actor(world, lambda: world.delivery.deliver(job))
    slow.run_to("messages.save")
    world.gate.watch = lambda _: None
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.SENT, resent=True)
    slow.finish()
    assert slow.result == DeliveryResult(Outcome.WAITING, timedelta(0))
    assert len(world.mailer.taken) == 1


def test_a_lease_that_runs_out_is_no_leave_to_resend(world: World, job: Job) -> None:
    """Past the lease the job waits for the Send event, looking again after doubled waits."""
    fail_sending(world, SendUncertain(), taken=True)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, MINUTE)
    later(world, seconds=90)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, 90 * SECOND)
    later(world, minutes=13, seconds=10)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, 20 * SECOND)
    assert len(world.mailer.taken) == 1


def test_the_send_event_settles_an_uncertain_mail(world: World, job: Job) -> None:
    """The tagged Send event came: the message is sent, and the job is done."""
    fail_sending(world, SendUncertain(), taken=True)
    world.delivery.deliver(job)
    world.report(world.message(), event(EventKind.SENT, 1))
    later(world, minutes=20)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.DROPPED)
    assert (world.message().status, world.message().provider_message_id) == ("sent", "ses-1")


@pytest.mark.parametrize("newest", [None, 0, 899])
def test_silence_says_nothing_while_no_events_come(
    world: World, job: Job, newest: float | None
) -> None:
    """Without events of others since the wait was over, the job waits on, however long."""
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    world.store.newest_event = None if newest is None else at(newest)
    later(world, hours=5)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, timedelta(minutes=10))
    assert not world.mailer.taken


@pytest.mark.parametrize("newest", [900, 901, 5000])
def test_an_uncertain_mail_without_event_is_resent_once(
    world: World, job: Job, newest: float
) -> None:
    """The event did not come while others do: one more hand-over, and it is counted."""
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    later(world, minutes=15)
    world.store.newest_event = at(newest)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.SENT, resent=True)
    assert world.message().attempt == 2
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.DROPPED)
    assert len(world.mailer.taken) == 1


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(SendThrottled(), Outcome.THROTTLED), (SendRejected("rejected", "No."), Outcome.FAILED)],
)
def test_a_resend_that_is_not_taken_is_not_counted(
    world: World, job: Job, error: Exception, outcome: Outcome
) -> None:
    """Only a second hand-over that the provider took is an ambiguous resend."""
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    later(world, minutes=15)
    world.store.newest_event = at(900)
    ahead = ["messages.lease", "directory.look_up", "heartbeat.latest", "messages.save"]
    again = ["messages.lease", "suppressions.find_suppressed", "jobs.load"]
    world.gate.fault = Fault(len(world.gate.calls) + len(ahead + again), "before", error)
    delivered = world.delivery.deliver(job)
    assert world.gate.calls[world.gate.fault.position] == "mailer.send"
    assert (delivered.outcome, delivered.resent) == (outcome, False)


def test_an_account_may_hold_what_is_uncertain(world: World, job: Job) -> None:
    """With 'hold' an uncertain mail fails as delivery_uncertain; a late Send event mends it."""
    world.set_account(builders.account(hold_uncertain=True))
    fail_sending(world, SendUncertain(), taken=True)
    world.delivery.deliver(job)
    later(world, minutes=15)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    error = world.message().error
    assert error is not None
    assert (world.message().status, error.code) == ("failed", "delivery_uncertain")
    world.report(world.message(), event(EventKind.SENT, 1))
    assert world.message().status == "sent"


@pytest.mark.parametrize("deadline", [600, 900])
def test_an_uncertain_mail_past_its_deadline_is_given_up(world: World, deadline: float) -> None:
    """A dead code is not sent again, from the very moment of its deadline."""
    job = world.accept(builders.message(), deadline=at(deadline))
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    later(world, minutes=15)
    world.store.newest_event = at(900)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert not world.mailer.taken
    error = world.message().error
    assert error is not None
    assert error.code == "delivery_uncertain"


def test_an_uncertain_mail_of_an_account_that_is_gone_is_given_up(world: World, job: Job) -> None:
    """Nobody is left who could say that it is to be sent again."""
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    later(world, minutes=15)
    world.store.newest_event = at(900)
    world.store.accounts.clear()
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    error = world.message().error
    assert error is not None
    assert error.code == "delivery_uncertain"


def test_throttled_mail_comes_again(world: World, job: Job) -> None:
    """Not taken: back to pending, and again after a while; then sent."""
    fail_sending(world, SendThrottled())
    delivered = world.delivery.deliver(job)
    assert delivered.outcome is Outcome.THROTTLED
    assert delivered.retry_after is not None
    assert timedelta(seconds=7.5) <= delivered.retry_after <= timedelta(seconds=15)
    assert (world.message().status, world.message().lease) == ("pending", None)
    assert world.delivery.deliver(job).outcome is Outcome.SENT


@pytest.mark.parametrize(
    ("attempt", "at_most", "least", "most"),
    [
        (1, 86_400, 7.5, 15),
        (2, 86_400, 15, 30),
        (5, 86_400, 120, 240),
        (7, 86_400, 450, 900),
        (500, 86_400, 450, 900),
        (7, 60, 60, 60),
        (1, 0, 1, 1),
        (1, -5, 1, 1),
    ],
)
def test_backoff_doubles_up_to_a_quarter_of_an_hour(
    attempt: int, at_most: float, least: float, most: float
) -> None:
    """The wait doubles with each attempt, has jitter, and ends with the deadline."""
    waits = {backoff(attempt, at_most * SECOND).total_seconds() for _ in range(50)}
    assert least <= min(waits) <= max(waits) <= most
    assert (len(waits) > 1) == (least != most)


@pytest.mark.parametrize(("chance", "wait"), [(0.0, 7.5), (0.5, 11.25), (1.0, 15)])
def test_jitter_spreads_over_the_upper_half(
    monkeypatch: pytest.MonkeyPatch, chance: float, wait: float
) -> None:
    """The wait is between half of the ceiling and the ceiling, as chance has it."""
    monkeypatch.setattr("random.random", lambda: chance)
    assert backoff(1, timedelta(days=1)) == wait * SECOND


def test_a_refused_mail_fails(world: World, job: Job) -> None:
    """Refused for good: failed, with the provider's code and words."""
    fail_sending(world, SendRejected("message_rejected", "Email address is not verified."))
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    error = world.message().error
    assert error is not None
    assert (error.code, error.reason) == ("message_rejected", "Email address is not verified.")


@pytest.mark.parametrize("deadline", [600, 599])
def test_past_its_deadline_a_mail_is_not_sent(world: World, deadline: float) -> None:
    """A mail that is of no use any more fails as expired."""
    job = world.accept(builders.message(), deadline=at(deadline))
    later(world, minutes=10)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert not world.mailer.taken
    assert world.message().error == replace(
        event(EventKind.FAILED, 600), code="expired", reason="The mail could not be sent in time."
    )


def test_who_was_suppressed_meanwhile_is_left_out(world: World) -> None:
    """One of three recipients complained while the mail was queued: the others get it."""
    job = world.accept(builders.message(to=(ANN, "Bob@example.com"), bcc=("eve@example.com",)))
    world.store.suppressed[ACCOUNT, BOB] = "complained"
    assert world.delivery.deliver(job).outcome is Outcome.SENT
    ((_, recipients, _),) = world.mailer.taken
    assert recipients == (ANN, "eve@example.com")
    barred = [e for e in world.message().events if e.code == "recipient_suppressed"]
    assert [e.recipient for e in barred] == ["Bob@example.com"]


def test_a_mail_with_nobody_left_fails(world: World, job: Job) -> None:
    """The only recipient was suppressed while the mail was queued: nothing is sent (promise 7)."""
    world.store.suppressed[ACCOUNT, ANN] = "bounced"
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert not world.mailer.taken
    error = world.message().error
    assert error is not None
    assert error.code == "recipient_suppressed"


def test_a_mail_whose_payload_is_gone_fails(world: World) -> None:
    """The spool lost the mail: failed, not tried for ever."""
    job = world.accept(builders.message(), mail=None, spool_key="gone")
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert world.message().status == "failed"


def test_a_mail_that_cannot_be_rendered_fails(world: World, job: Job) -> None:
    """What cannot become a mail fails with the reason, and is not tried again."""

    def build(*_: object) -> bytes:
        raise ValidationFailed(FieldError("html", "is too large", "too_large"))

    assert replace(world.delivery, build=build).deliver(job) == DeliveryResult(Outcome.FAILED)
    error = world.message().error
    assert error is not None
    assert (error.code, error.reason) == ("rendering_failed", "html: is too large")


def test_a_failure_before_the_hand_over_gives_the_message_back(world: World, job: Job) -> None:
    """Nothing was handed over, so the message is pending again without any wait."""
    world.gate.fault = Fault(1, "before")
    with pytest.raises(ServiceError):
        world.delivery.deliver(job)
    assert world.message().lease is None
    assert world.delivery.deliver(job).outcome is Outcome.SENT


def test_an_event_may_be_faster_than_the_worker(world: World, job: Job) -> None:
    """Delivered is known before the worker has written sent: both stay, delivered is shown."""
    worker = Actor(world, lambda: world.delivery.deliver(job))
    worker.run_to("messages.save")
    world.gate.watch = lambda _: None
    world.report(world.message(), event(EventKind.DELIVERED, 1, ANN))
    worker.finish()
    kinds = {e.kind for e in world.message().events}
    assert kinds == {EventKind.SENT, EventKind.DELIVERED}
    assert (world.message().status, world.message().lease) == ("delivered", None)


def test_an_event_does_not_keep_a_mail_from_failing(world: World, job: Job) -> None:
    """A delay was reported while the worker found the mail refused: the failure is written."""
    fail_sending(world, SendRejected("message_rejected", "No."))
    worker = Actor(world, lambda: world.delivery.deliver(job))
    worker.run_to("messages.save")
    world.gate.watch = lambda _: None
    world.report(world.message(), event(EventKind.DELAYED, 1, ANN))
    worker.finish()
    assert worker.result == DeliveryResult(Outcome.FAILED)
    assert world.message().status == "failed"
    assert {e.kind for e in world.message().events} == {EventKind.FAILED, EventKind.DELAYED}


def overtaken(world: World, job: Job, answer: BaseException | None) -> Message:
    """A worker stalls before the provider's answer, another one takes over, the first goes on."""
    stalled = Actor(world, lambda: world.delivery.deliver(job))
    stalled.run_to("mailer.send")
    position = len(world.gate.calls) - 1
    world.gate.watch = lambda _: None
    later(world, minutes=15)
    world.store.newest_event = world.now
    second = Actor(world, lambda: world.delivery.deliver(job))
    second.run_to("mailer.send")
    before = world.message()
    if answer is not None:
        world.gate.fault = Fault(position, "before", answer)
    stalled.finish()
    if answer is not None:
        assert world.message() == before
    second.finish()
    assert second.error is None
    return world.message()


@pytest.mark.parametrize(
    "error", [SendRejected("rejected", "no"), SendThrottled(), SendUncertain(), RuntimeError("bug")]
)
def test_a_stalled_worker_cannot_overwrite_its_successor(
    world: World, job: Job, error: Exception
) -> None:
    """A worker past its lease fails: the record is its successor's, and says sent (promise 4)."""
    message = overtaken(world, job, error)
    assert message.status == "sent"
    assert {e.kind for e in message.events} == {EventKind.SENT}


def test_a_stalled_worker_that_sent_says_so(world: World, job: Job) -> None:
    """A worker past its lease sent after all: that is recorded, so that nobody sends again."""
    assert overtaken(world, job, None).status == "sent"


def test_the_message_id_is_the_same_each_time() -> None:
    """The Message-ID is made of our id and the sender's domain (RFC 5322 section 3.6.4)."""
    message = builders.message()
    assert message_id_header(message) == f"<{message.message_id}@shop.example>"
    assert message.body_hash == HASH

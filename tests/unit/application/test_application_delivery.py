"""Delivery: every branch between a job and the provider."""

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


class RefusedLease(FakeMessages):
    """A message store that refuses every lease but shows a message without a lease."""

    def lease(
        self, account_id: str, message_id: UUID, body_hash: str, owner: str, now: datetime
    ) -> LeaseRefusal:
        del body_hash, owner, now
        return LeaseRefusal(self.get(account_id, message_id))


def fail_sending(world: World, error: BaseException, *, accepted: bool = False) -> None:
    """Let the next hand-over end with this error; `accepted` if the provider has the mail."""
    calls = world.gate.calls
    first_calls = ["messages.lease", "suppressions.find_suppressed", "jobs.load"]
    world.gate.fault = Fault(
        len(calls) + len(first_calls), "after" if accepted else "before", error
    )


def advance(world: World, **wait: float) -> None:
    world.advance(timedelta(**wait))


def test_a_pending_message_is_sent_once(world: World, job: Job) -> None:
    """A pending message is leased, built, sent and marked as sent with the provider's id."""
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
    ((handed_over, recipients, raw),) = world.mailer.taken
    assert handed_over.lease is not None
    assert (handed_over.lease.taken_at, handed_over.lease.expires_at) == (NOW, at(90))
    assert recipients == (ANN,)
    assert raw == f"{message.message_id} Hello".encode()


@pytest.mark.parametrize(
    "kind", [kind for kind in EventKind if kind.rank > EventKind.ACCEPTED.rank]
)
def test_a_finished_message_is_not_sent(world: World, kind: EventKind) -> None:
    """A job whose message already has a later state is dropped."""
    job = world.accept(builders.message(events=(event(kind),)))
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.DROPPED)
    assert not world.mailer.taken


@pytest.mark.parametrize("other", [OTHER_HASH, "0" * 64, "f" * 64])
def test_a_job_of_another_request_is_dropped(world: World, job: Job, other: str) -> None:
    """A job whose hash differs from the record's was never accepted."""
    assert world.delivery.deliver(replace(job, body_hash=other)).outcome is Outcome.DROPPED
    assert not world.mailer.taken


def test_a_late_record_is_read_again(world: World) -> None:
    """The worker reads again after 50, 200 and 1000 ms and sends a record that appears."""
    message = builders.message()
    job = builders.job(message)

    def commit() -> None:
        if len(world.pauses) == 2:
            world.accept(message)

    world.while_paused = commit
    assert world.delivery.deliver(job).outcome is Outcome.SENT
    assert world.pauses == [0.05, 0.2]


@pytest.mark.parametrize(
    ("age", "result"),
    [
        (timedelta(0), DeliveryResult(Outcome.WAITING, MINUTE)),
        (timedelta(minutes=14, seconds=59), DeliveryResult(Outcome.WAITING, MINUTE)),
        (timedelta(minutes=15), DeliveryResult(Outcome.DROPPED)),
        (timedelta(minutes=16), DeliveryResult(Outcome.DROPPED)),
    ],
)
def test_a_job_without_a_record_is_postponed_then_dropped(
    world: World, age: timedelta, result: DeliveryResult
) -> None:
    """Without a record a job is postponed; after 15 minutes it is dropped with its spool object."""
    message = builders.message()
    world.store.spool["s"] = builders.mail()
    world.advance(age)
    assert world.delivery.deliver(builders.job(message, mail=None, spool_key="s")) == result
    assert world.pauses == [0.05, 0.2, 1.0]
    assert bool(world.store.spool) == (result.retry_after is not None)
    assert not world.mailer.taken


def test_the_age_of_a_job_is_not_that_of_its_id(world: World) -> None:
    """A job queued just now waits for its record even if its id comes from an earlier try."""
    job = builders.job(builders.message(), queued_at=at(3600))
    advance(world, hours=1)
    assert world.delivery.deliver(job).outcome is Outcome.WAITING


def test_a_leased_message_waits_for_the_lease_to_expire(world: World, job: Job) -> None:
    """While another worker holds the lease, the job waits until the lease expires."""
    fail_sending(world, Killed())
    assert world.run(job) is not None
    advance(world, seconds=30)
    job_as_read = replace(job, body_hash="".join(list(job.body_hash)))
    assert world.delivery.deliver(job_as_read) == DeliveryResult(
        Outcome.WAITING, timedelta(seconds=60)
    )


def test_a_lease_released_during_the_refusal_is_retried_at_once(world: World, job: Job) -> None:
    """If the lease is released between its refusal and the read, the job is retried now."""
    refused_lease = replace(world.delivery, messages=RefusedLease(world.store))
    assert refused_lease.deliver(job) == DeliveryResult(Outcome.WAITING, timedelta(0))


def test_only_one_of_two_workers_resends(world: World, job: Job) -> None:
    """A worker that loses the race for an uncertain message reads it again at once."""
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    advance(world, minutes=15)
    world.store.newest_event = at(900)
    slow = Actor(world, lambda: world.delivery.deliver(job))
    slow.run_to("messages.save")
    world.gate.watch = lambda _: None
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.SENT, resent=True)
    slow.finish()
    assert slow.result == DeliveryResult(Outcome.WAITING, timedelta(0))
    assert len(world.mailer.taken) == 1


def test_an_expired_lease_does_not_allow_a_resend(world: World, job: Job) -> None:
    """After the lease the job waits for the Send event; each wait is twice the last one."""
    fail_sending(world, SendUncertain(), accepted=True)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, MINUTE)
    advance(world, seconds=90)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, 90 * SECOND)
    advance(world, minutes=13, seconds=10)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, 20 * SECOND)
    assert len(world.mailer.taken) == 1


def test_the_send_event_resolves_an_uncertain_mail(world: World, job: Job) -> None:
    """Once the tagged Send event arrives, the message is sent and the job is done."""
    fail_sending(world, SendUncertain(), accepted=True)
    world.delivery.deliver(job)
    world.report(world.message(), event(EventKind.SENT, 1))
    advance(world, minutes=20)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.DROPPED)
    assert (world.message().status, world.message().provider_message_id) == ("sent", "ses-1")


@pytest.mark.parametrize("newest", [None, 0, 899])
def test_a_missing_event_means_nothing_without_a_heartbeat(
    world: World, job: Job, newest: float | None
) -> None:
    """The job waits, however long, until events of other mails arrive after the wait."""
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    world.store.newest_event = None if newest is None else at(newest)
    advance(world, hours=5)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, timedelta(minutes=10))
    assert not world.mailer.taken


@pytest.mark.parametrize("newest", [900, 901, 5000])
def test_an_uncertain_mail_without_event_is_resent_once(
    world: World, job: Job, newest: float
) -> None:
    """If only this event is missing, the mail is handed over once more and counted as resent."""
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    advance(world, minutes=15)
    world.store.newest_event = at(newest)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.SENT, resent=True)
    assert world.message().attempt == 2
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.DROPPED)
    assert len(world.mailer.taken) == 1


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(SendThrottled(), Outcome.THROTTLED), (SendRejected("rejected", "No."), Outcome.FAILED)],
)
def test_a_resend_that_the_provider_refuses_is_not_counted(
    world: World, job: Job, error: Exception, outcome: Outcome
) -> None:
    """Only a second hand-over that the provider accepted is an ambiguous resend."""
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    advance(world, minutes=15)
    world.store.newest_event = at(900)
    first_calls = ["messages.lease", "directory.look_up", "heartbeat.latest", "messages.save"]
    retry_calls = ["messages.lease", "suppressions.find_suppressed", "jobs.load"]
    world.gate.fault = Fault(
        len(world.gate.calls) + len(first_calls + retry_calls), "before", error
    )
    result = world.delivery.deliver(job)
    assert world.gate.calls[world.gate.fault.position] == "mailer.send"
    assert (result.outcome, result.resent) == (outcome, False)


def test_an_account_may_hold_uncertain_mail(world: World, job: Job) -> None:
    """With 'hold' uncertain mail fails as delivery_uncertain; a late Send event corrects it."""
    world.set_account(builders.account(hold_uncertain=True))
    fail_sending(world, SendUncertain(), accepted=True)
    world.delivery.deliver(job)
    advance(world, minutes=15)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    error = world.message().error
    assert error is not None
    assert (world.message().status, error.code) == ("failed", "delivery_uncertain")
    world.report(world.message(), event(EventKind.SENT, 1))
    assert world.message().status == "sent"


@pytest.mark.parametrize("deadline", [600, 900])
def test_an_uncertain_mail_past_its_deadline_fails(world: World, deadline: float) -> None:
    """From the moment of its deadline, an expired code is not sent again."""
    job = world.accept(builders.message(), deadline=at(deadline))
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    advance(world, minutes=15)
    world.store.newest_event = at(900)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert not world.mailer.taken
    error = world.message().error
    assert error is not None
    assert error.code == "delivery_uncertain"


def test_an_uncertain_mail_of_a_deleted_account_fails(world: World, job: Job) -> None:
    """Without its account, no setting allows an uncertain mail to be sent again."""
    fail_sending(world, SendUncertain())
    world.delivery.deliver(job)
    advance(world, minutes=15)
    world.store.newest_event = at(900)
    world.store.accounts.clear()
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    error = world.message().error
    assert error is not None
    assert error.code == "delivery_uncertain"


def test_throttled_mail_is_retried(world: World, job: Job) -> None:
    """A throttled mail is pending again, waits and is then sent."""
    fail_sending(world, SendThrottled())
    result = world.delivery.deliver(job)
    assert result.outcome is Outcome.THROTTLED
    assert result.retry_after is not None
    assert timedelta(seconds=7.5) <= result.retry_after <= timedelta(seconds=15)
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
def test_jitter_covers_the_upper_half(
    monkeypatch: pytest.MonkeyPatch, chance: float, wait: float
) -> None:
    """The random wait lies between half of the ceiling and the ceiling."""
    monkeypatch.setattr("random.random", lambda: chance)
    assert backoff(1, timedelta(days=1)) == wait * SECOND


def test_a_rejected_mail_fails(world: World, job: Job) -> None:
    """A mail that the provider rejects fails with the provider's code and text."""
    fail_sending(world, SendRejected("message_rejected", "Email address is not verified."))
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    error = world.message().error
    assert error is not None
    assert (error.code, error.reason) == ("message_rejected", "Email address is not verified.")


@pytest.mark.parametrize("deadline", [600, 599])
def test_past_its_deadline_a_mail_is_not_sent(world: World, deadline: float) -> None:
    """A mail whose deadline is over fails as expired."""
    job = world.accept(builders.message(), deadline=at(deadline))
    advance(world, minutes=10)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert not world.mailer.taken
    assert world.message().error == replace(
        event(EventKind.FAILED, 600), code="expired", reason="The email could not be sent in time."
    )


def test_a_recipient_suppressed_in_the_meantime_is_left_out(world: World) -> None:
    """If one of three recipients complained while the mail was queued, the others get it."""
    job = world.accept(builders.message(to=(ANN, "Bob@example.com"), bcc=("eve@example.com",)))
    world.store.suppressed[ACCOUNT, BOB] = "complained"
    assert world.delivery.deliver(job).outcome is Outcome.SENT
    ((_, recipients, _),) = world.mailer.taken
    assert recipients == (ANN, "eve@example.com")
    suppressed = [e for e in world.message().events if e.code == "recipient_suppressed"]
    assert [e.recipient for e in suppressed] == ["Bob@example.com"]


def test_a_mail_without_recipients_fails(world: World, job: Job) -> None:
    """If the only recipient is suppressed while the mail is queued, it fails (promise 7)."""
    world.store.suppressed[ACCOUNT, ANN] = "bounced"
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert not world.mailer.taken
    error = world.message().error
    assert error is not None
    assert error.code == "recipient_suppressed"


def test_a_mail_without_its_spool_object_fails(world: World) -> None:
    """A mail that is missing from the spool fails and is not retried."""
    job = world.accept(builders.message(), mail=None, spool_key="gone")
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert world.message().status == "failed"


def test_a_mail_that_cannot_be_rendered_fails(world: World, job: Job) -> None:
    """A mail that cannot be built fails with the reason and is not retried."""

    def build(*_: object) -> bytes:
        raise ValidationFailed(FieldError("html", "is too large", "too_large"))

    assert replace(world.delivery, build=build).deliver(job) == DeliveryResult(Outcome.FAILED)
    error = world.message().error
    assert error is not None
    assert (error.code, error.reason) == ("rendering_failed", "html: is too large")


def test_an_error_before_the_hand_over_releases_the_lease(world: World, job: Job) -> None:
    """Nothing was handed over, so the message is pending again without a wait."""
    world.gate.fault = Fault(1, "before")
    with pytest.raises(ServiceError):
        world.delivery.deliver(job)
    assert world.message().lease is None
    assert world.delivery.deliver(job).outcome is Outcome.SENT


def test_an_event_may_arrive_before_the_worker_saves(world: World, job: Job) -> None:
    """A Delivery event before the worker saves: both events stay, the status is delivered."""
    worker = Actor(world, lambda: world.delivery.deliver(job))
    worker.run_to("messages.save")
    world.gate.watch = lambda _: None
    world.report(world.message(), event(EventKind.DELIVERED, 1, ANN))
    worker.finish()
    kinds = {e.kind for e in world.message().events}
    assert kinds == {EventKind.SENT, EventKind.DELIVERED}
    assert (world.message().status, world.message().lease) == ("delivered", None)


def test_an_event_does_not_prevent_a_failure(world: World, job: Job) -> None:
    """A delay reported while the provider rejects the mail does not hide the failure."""
    fail_sending(world, SendRejected("message_rejected", "No."))
    worker = Actor(world, lambda: world.delivery.deliver(job))
    worker.run_to("messages.save")
    world.gate.watch = lambda _: None
    world.report(world.message(), event(EventKind.DELAYED, 1, ANN))
    worker.finish()
    assert worker.result == DeliveryResult(Outcome.FAILED)
    assert world.message().status == "failed"
    assert {e.kind for e in world.message().events} == {EventKind.FAILED, EventKind.DELAYED}


def take_over(world: World, job: Job, answer: BaseException | None) -> Message:
    """Let a worker stall in the hand-over, a second one take over, and the first one resume."""
    first = Actor(world, lambda: world.delivery.deliver(job))
    first.run_to("mailer.send")
    position = len(world.gate.calls) - 1
    world.gate.watch = lambda _: None
    advance(world, minutes=15)
    world.store.newest_event = world.now
    second = Actor(world, lambda: world.delivery.deliver(job))
    second.run_to("mailer.send")
    before = world.message()
    if answer is not None:
        world.gate.fault = Fault(position, "before", answer)
    first.finish()
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
    """The record of a stalled worker belongs to its successor and stays sent (promise 4)."""
    message = take_over(world, job, error)
    assert message.status == "sent"
    assert {e.kind for e in message.events} == {EventKind.SENT}


def test_a_stalled_worker_that_sent_records_it(world: World, job: Job) -> None:
    """A worker past its lease that did send records it, so that no worker sends again."""
    assert take_over(world, job, None).status == "sent"


def test_the_message_id_header_is_stable() -> None:
    """The Message-ID consists of our id and the sender's domain (RFC 5322 section 3.6.4)."""
    message = builders.message()
    assert message_id_header(message) == f"<{message.message_id}@shop.example>"
    assert message.body_hash == HASH


@pytest.mark.parametrize("urgent", [False, True])
def test_a_mail_takes_its_tokens_before_it_is_handed_over(world: World, *, urgent: bool) -> None:
    """Each recipient takes a token, in the lane of the job."""
    deadline = {"deadline": at(3600)} if urgent else {}
    job = world.accept(builders.message(cc=("bob@example.com",)), queued_at=NOW, **deadline)
    assert world.delivery.deliver(job).outcome is Outcome.SENT
    assert world.rate.taken == [(2, urgent)]
    assert world.rate.slowed_down == 0


def test_a_mail_without_tokens_waits_and_counts_no_attempt(world: World) -> None:
    """Without tokens a mail comes back after the wait that the rate gives; SES sees nothing."""
    job = world.accept(builders.message())
    world.rate.wait = timedelta(seconds=7)
    for _ in range(3):
        assert world.delivery.deliver(job) == DeliveryResult(Outcome.WAITING, timedelta(seconds=7))
    assert (world.mailer.taken, world.message().attempt, world.message().lease) == ([], 0, None)
    world.rate.wait = None
    assert world.delivery.deliver(job).outcome is Outcome.SENT
    assert world.message().attempt == 1


def test_a_throttled_mail_slows_all_workers_down(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If SES throttles a mail that had its tokens, the rate is too high for the moment."""

    def throttle(*_: object) -> str:
        raise SendThrottled

    monkeypatch.setattr(world.mailer, "send", throttle)
    result = world.delivery.deliver(world.accept(builders.message()))
    assert result.outcome is Outcome.THROTTLED
    assert world.rate.slowed_down == 1

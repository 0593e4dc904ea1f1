"""Delivery: every branch between a job and the provider."""

from dataclasses import replace
from datetime import timedelta
from typing import Literal, NoReturn

import pytest

from pillarbox.application.delivery.ports import (
    SeenEvent,
    SendRejected,
    SendThrottled,
    SendUncertain,
)
from pillarbox.application.delivery.result import DeliveryResult, Outcome, backoff
from pillarbox.domain.accounts.account import QueuedMail, Suspension
from pillarbox.domain.errors import FieldError, ServiceError, Unavailable, ValidationFailed
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import Event, EventKind
from tests.fakes import builders
from tests.fakes.actors import Actor
from tests.fakes.builders import ACCOUNT, NOW, OTHER_HASH, SENDER, at, event
from tests.fakes.stores import Messages
from tests.fakes.world import Fault, Killed, World

ANN, BOB = "ann@example.com", "bob@example.com"
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
PREPARATION = ["rate.acquire", "suppressions.find_suppressed", "jobs.load", "messages.lease"]
#: When an uncertain mail has waited for its event, by any clock.
DUE = timedelta(minutes=15, seconds=30)
#: The calls before a hand-over.
CALLS_TO_SEND = ["messages.peek", *PREPARATION]


@pytest.fixture
def job(world: World) -> Job:
    return world.accept(builders.message())


def raise_unavailable(*_: object) -> NoReturn:
    raise ServiceError("service_unavailable", "planted")


def fail_sending(world: World, error: BaseException, *, accepted: bool = False) -> None:
    """Let the next hand-over end with this error; `accepted` if the provider has the mail."""
    position = len(world.gate.calls) + len(CALLS_TO_SEND)
    world.gate.fault = Fault(position, "after" if accepted else "before", error)


def advance(world: World, **wait: float) -> None:
    world.advance(timedelta(**wait))


def leave_uncertain(world: World, job: Job, *, accepted: bool = False) -> None:
    """Let a hand-over end without an answer; `accepted` if the provider has the mail."""
    fail_sending(world, SendUncertain(), accepted=accepted)
    world.delivery.deliver(job)


def end_event_wait(world: World) -> None:
    """Pass the time in which the event may come, while events of other mails arrive."""
    world.advance(DUE)
    world.store.newest_event = world.now


def stop_before(call: str, world: World, job: Job) -> Actor:
    """Return a worker that has stopped before a call; what the test does then is not stopped."""
    worker = Actor(world, lambda: world.delivery.deliver(job))
    worker.run_to(call)
    world.gate.watch = lambda _: None
    return worker


def failure(world: World) -> Event:
    error = world.message().error
    assert error is not None
    return error


def refuse_to_build(*_: object) -> bytes:
    raise ValidationFailed(FieldError("html", "is too large", "too_large"))


def test_a_pending_message_is_sent_once(world: World, job: Job) -> None:
    """A pending message is prepared, leased, sent and marked as sent with the provider's id."""
    assert world.delivery.deliver(job) == DeliveryResult(
        Outcome.SENT, retry_after=None, resent=False
    )
    assert world.gate.calls == [*CALLS_TO_SEND, "mailer.send", "messages.save", "jobs.discard"]
    message = world.message()
    assert (message.status, message.provider_message_id, message.attempt) == ("sent", "ses-1", 1)
    assert message.lease is None
    ((handed_over, recipients, raw),) = world.mailer.taken
    assert handed_over.lease is not None
    assert (handed_over.lease.taken_at, handed_over.lease.expires_at) == (NOW, at(30))
    assert recipients == (ANN,)
    assert raw == f"{message.message_id} Hello".encode()


@pytest.mark.parametrize("other", [OTHER_HASH, "0" * 64, "f" * 64])
def test_a_job_of_another_request_is_dropped(world: World, job: Job, other: str) -> None:
    """A job whose hash differs from the record's was never accepted."""
    assert world.delivery.deliver(replace(job, body_hash=other)).outcome is Outcome.DROPPED
    assert not world.mailer.taken


@pytest.mark.parametrize(
    ("age", "result"),
    [
        (timedelta(0), DeliveryResult(Outcome.WAITING, 2 * SECOND)),
        (timedelta(seconds=2), DeliveryResult(Outcome.WAITING, 2 * SECOND)),
        (timedelta(seconds=40), DeliveryResult(Outcome.WAITING, 40 * SECOND)),
        (timedelta(seconds=61), DeliveryResult(Outcome.WAITING, MINUTE)),
        (timedelta(minutes=14, seconds=59), DeliveryResult(Outcome.WAITING, MINUTE)),
        (timedelta(minutes=15), DeliveryResult(Outcome.DROPPED)),
        (timedelta(minutes=16), DeliveryResult(Outcome.DROPPED)),
    ],
)
def test_a_job_without_a_record_is_postponed_then_dropped(
    world: World, age: timedelta, result: DeliveryResult
) -> None:
    """Without a record a job waits, each time longer; after 15 minutes it is dropped."""
    message = builders.message()
    world.store.spool["s"] = builders.mail()
    world.advance(age)
    assert world.delivery.deliver(builders.job(message, mail=None, spool_key="s")) == result
    assert world.pauses == [0.05, 0.2, 1.0]
    assert bool(world.store.spool) == (result.retry_after is not None)
    assert not world.mailer.taken


def test_a_job_without_a_record_that_was_withdrawn_is_dropped_at_once(
    world: World, job: Job
) -> None:
    """Nothing can be accepted under its id any more, so there is nothing to wait for."""
    world.store.messages.clear()
    world.delivery.messages.withdraw(job.account_id, [job.message_id], world.now)
    world.gate.calls.clear()
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.DROPPED)
    assert not world.mailer.taken


def test_a_job_whose_record_comes_before_its_tombstone_is_retried_at_once(
    world: World, job: Job
) -> None:
    """The commit of an acceptor that stalled for 15 minutes delays the email no further."""
    late = Messages(world.store)
    vars(late).update(dict.fromkeys(("get", "peek"), lambda *_: None))
    vars(late)["withdraw"] = lambda *_: {job.message_id: builders.message()}
    advance(world, minutes=15)
    result = replace(world.delivery, messages=late).deliver(job)
    assert result == DeliveryResult(Outcome.WAITING, timedelta(0))


def test_an_expired_lease_does_not_allow_a_resend(world: World, job: Job) -> None:
    """After the lease the job waits for the Send event; each wait is twice the last one."""
    fail_sending(world, SendUncertain("ReadTimeoutError"), accepted=True)
    first = world.delivery.deliver(job)
    assert first == DeliveryResult(Outcome.UNCERTAIN, MINUTE)
    assert first.provider_error == "ReadTimeoutError"  # for the log
    advance(world, seconds=90)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, 90 * SECOND)
    advance(world, minutes=13, seconds=10)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, 50 * SECOND)
    assert len(world.mailer.taken) == 1


@pytest.mark.parametrize("newest", [None, 0, 929])
def test_a_missing_event_means_nothing_without_a_heartbeat(
    world: World, job: Job, newest: float | None
) -> None:
    """The job waits, however long, until events of other mails arrive after the wait."""
    leave_uncertain(world, job)
    world.store.newest_event = None if newest is None else at(newest)
    advance(world, hours=5)
    assert world.delivery.deliver(job).outcome is Outcome.UNCERTAIN
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, timedelta(minutes=10))
    assert not world.mailer.taken


@pytest.mark.parametrize("newest", [None, 0, 929])
def test_a_quiet_service_makes_the_proof(world: World, job: Job, newest: float | None) -> None:
    """If no other mail has events, a probe has, and its event lets the mail be handed over."""
    leave_uncertain(world, job)
    world.store.newest_event = None if newest is None else at(newest)
    world.advance(DUE)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, MINUTE)
    assert world.mailer.probes == [SENDER]
    world.store.newest_event = world.now
    advance(world, minutes=1)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.SENT, resent=True)
    assert (len(world.mailer.taken), len(world.mailer.probes)) == (1, 1)


def test_a_thousand_uncertain_mails_cost_one_probe_in_ten_minutes(world: World, job: Job) -> None:
    """Who finds that a probe was just sent waits; after ten minutes another one is sent."""
    leave_uncertain(world, job)
    for minute in range(20):
        world.now = NOW + DUE + minute * MINUTE
        for n in range(50):
            result = world.delivery.deliver(job)
            wait = timedelta(minutes=10) if n or minute % 10 else MINUTE
            assert result == DeliveryResult(Outcome.UNCERTAIN, wait)
    assert len(world.mailer.probes) == 2


@pytest.mark.parametrize(
    ("minutes", "newest", "hold"), [(15, None, False), (15.5, 930, False), (15.5, None, True)]
)
def test_a_probe_is_sent_only_if_its_event_would_help(
    world: World, job: Job, minutes: float, newest: float | None, *, hold: bool
) -> None:
    """None is sent before the time of the event, beside other events, or for mail that is held."""
    world.set_account(builders.account(hold_uncertain=hold))
    leave_uncertain(world, job)
    advance(world, minutes=minutes)
    world.store.newest_event = None if newest is None else at(newest)
    world.store.queued_events = [at(0)]
    world.delivery.deliver(job)
    assert world.mailer.probes == []


@pytest.mark.parametrize("newest", [930, 931, 5000])
def test_an_uncertain_mail_without_event_is_resent_once(
    world: World, job: Job, newest: float
) -> None:
    leave_uncertain(world, job)
    world.advance(DUE)
    world.store.newest_event = at(newest)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.SENT, resent=True)
    assert world.message().attempt == 2
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.DROPPED)
    assert len(world.mailer.taken) == 1


@pytest.mark.parametrize(
    ("queued", "outcome"),
    [(QueuedMail.HOLD, Outcome.HELD), (QueuedMail.DROP, Outcome.FAILED)],
)
def test_an_uncertain_mail_of_a_suspended_account_is_not_resent(
    world: World, job: Job, queued: QueuedMail, outcome: Outcome
) -> None:
    """What the operator holds or drops is not handed over a second time either."""
    leave_uncertain(world, job)
    end_event_wait(world)
    world.set_account(builders.account(suspension=Suspension(NOW, None, queued)))
    result = world.delivery.deliver(job)
    assert (result.outcome, result.resent) == (outcome, False)
    assert world.mailer.taken == []


@pytest.mark.parametrize("newest", [None, 0, 930])
@pytest.mark.parametrize("queued", [[], [0]])
def test_an_account_may_hold_uncertain_mail(
    world: World, job: Job, newest: float | None, queued: list[float]
) -> None:
    """With 'hold' uncertain mail fails, late events or not; a Send event corrects it."""
    world.set_account(builders.account(hold_uncertain=True))
    leave_uncertain(world, job, accepted=True)
    world.store.newest_event = None if newest is None else at(newest)
    world.store.queued_events = [at(second) for second in queued]
    world.advance(DUE)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert (world.message().status, failure(world).code) == ("failed", "delivery_uncertain")
    world.report(world.message(), event(EventKind.SENT, 1))
    assert world.message().status == "sent"


@pytest.mark.parametrize("deadline", [600, 930])
def test_an_uncertain_mail_past_its_deadline_fails(world: World, deadline: float) -> None:
    job = world.accept(builders.message(), deadline=at(deadline))
    leave_uncertain(world, job)
    end_event_wait(world)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert not world.mailer.taken
    assert failure(world).code == "delivery_uncertain"


def test_an_uncertain_mail_of_a_deleted_account_fails(world: World, job: Job) -> None:
    leave_uncertain(world, job)
    end_event_wait(world)
    world.store.accounts.clear()
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert failure(world).code == "delivery_uncertain"


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


@pytest.mark.parametrize("deadline", [600, 599])
def test_past_its_deadline_a_mail_is_not_sent(world: World, deadline: float) -> None:
    job = world.accept(builders.message(), deadline=at(deadline))
    advance(world, minutes=10)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert world.gate.calls == ["messages.peek", "messages.save", "jobs.discard"]
    assert world.message().error == replace(
        event(EventKind.FAILED, 600), code="expired", reason="The email could not be sent in time."
    )


@pytest.mark.parametrize("call", CALLS_TO_SEND)
def test_a_mail_is_not_sent_if_its_preparation_outlasts_its_deadline(
    world: World, call: str
) -> None:
    """A code that expires while the worker waits for a call fails as expired, without a lease."""
    job = world.accept(builders.message(), deadline=at(5))
    worker = stop_before(call, world, job)
    advance(world, seconds=5)
    worker.finish()
    assert worker.result == DeliveryResult(Outcome.FAILED)
    assert not world.mailer.taken
    assert (failure(world).code, world.message().lease) == ("expired", None)


@pytest.mark.parametrize(("stall", "sent"), [(29, True), (30, False), (1200, False)])
def test_a_worker_that_stalls_while_it_leases_does_not_send(
    world: World, job: Job, stall: float, *, sent: bool
) -> None:
    """A lease that is over before the hand-over is given back, and the job is retried at once."""
    worker = stop_before("messages.lease", world, job)
    advance(world, seconds=stall)
    worker.finish()
    world.gate.watch = lambda _: None
    assert len(world.mailer.taken) == sent
    assert world.message().lease is None
    if not sent:
        assert worker.result == DeliveryResult(Outcome.WAITING, timedelta(0))
        assert world.delivery.deliver(job).outcome is Outcome.SENT


def test_a_recipient_suppressed_in_the_meantime_is_left_out(world: World) -> None:
    """If one of three recipients complained while the mail was queued, the others get it."""
    job = world.accept(builders.message(to=(ANN, "Bob@example.com"), bcc=("eve@example.com",)))
    world.store.suppressed[ACCOUNT, BOB] = "complained"
    assert world.delivery.deliver(job).outcome is Outcome.SENT
    ((_, recipients, _),) = world.mailer.taken
    assert recipients == (ANN, "eve@example.com")
    suppressed = [e for e in world.message().events if e.code == "recipient_suppressed"]
    assert [e.recipient for e in suppressed] == ["Bob@example.com"]


def test_a_mail_without_its_spool_object_fails(world: World) -> None:
    job = world.accept(builders.message(), mail=None, spool_key="gone")
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert world.message().status == "failed"


def test_a_mail_that_cannot_be_rendered_fails(world: World, job: Job) -> None:
    assert replace(world.delivery, build=refuse_to_build).deliver(job) == DeliveryResult(
        Outcome.FAILED
    )
    assert (failure(world).code, failure(world).reason) == (
        "rendering_failed",
        "html: is too large",
    )


def test_a_mail_that_cannot_be_built_ends(world: World, job: Job) -> None:
    """An error of building is final at the second receipt, and uses nobody's tokens."""

    def build(*_: object) -> bytes:
        raise UnicodeEncodeError("ascii", "\u0131", 0, 1, "not in range")

    delivery = replace(world.delivery, build=build)
    with pytest.raises(UnicodeEncodeError):
        delivery.deliver(job)
    assert world.message().pending
    assert delivery.deliver(job, first_receipt=False).outcome is Outcome.FAILED
    assert [one.code for one in world.message().events] == ["building_failed"]
    assert world.rate.given_back == sum(recipients for recipients, _ in world.rate.taken) == 2


def test_a_store_that_is_out_of_reach_ends_no_mail(world: World, job: Job) -> None:
    """While building meets `service_unavailable`, each receipt tries again."""

    def build(*_: object) -> bytes:
        raise Unavailable("settings", "not now")

    for first_receipt in (True, False, False):
        with pytest.raises(ServiceError):
            replace(world.delivery, build=build).deliver(job, first_receipt=first_receipt)
    assert world.message().pending


def test_a_mail_without_tokens_waits_without_an_attempt(world: World) -> None:
    """If the sending rate has no tokens, the job waits as told, and nothing was read or leased."""
    job = world.accept(builders.message(to=(ANN, BOB)), deadline=at(3600))
    world.rate.wait = 7 * SECOND
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.WAITING, 7 * SECOND)
    assert world.gate.calls == ["messages.peek", "rate.acquire"]
    assert (world.message().attempt, world.rate.taken) == (0, [])


def test_a_mail_without_tokens_is_received_again_by_its_deadline(world: World) -> None:
    """A wait for tokens ends at the deadline, so that the mail fails as expired in time."""
    job = world.accept(builders.message(), deadline=at(5))
    world.rate.wait = MINUTE
    assert world.delivery.deliver(job).retry_after == 5 * SECOND
    advance(world, seconds=5)
    assert world.delivery.deliver(job).outcome is Outcome.FAILED


@pytest.mark.parametrize(("seconds", "urgent"), [(3600, True), (3601, False)])
def test_a_mail_that_expires_within_an_hour_is_urgent(
    world: World, seconds: int, *, urgent: bool
) -> None:
    """The rate learns whether a mail is urgent, from the time between queueing and deadline."""
    job = world.accept(builders.message(), deadline=at(seconds))
    world.delivery.deliver(job)
    assert world.rate.taken == [(1, urgent)]


@pytest.mark.parametrize(("too_fast", "least", "most"), [(True, 1, 2), (False, 7.5, 15)])
def test_only_the_rate_of_sending_slows_down(
    world: World, job: Job, *, too_fast: bool, least: float, most: float
) -> None:
    """A throttle for the rate slows all workers down and is retried soon; another one later."""
    fail_sending(world, SendThrottled(too_fast=too_fast))
    wait = world.delivery.deliver(job).retry_after
    assert wait is not None
    assert least * SECOND <= wait <= most * SECOND
    assert world.rate.slowed_down == too_fast


def test_only_the_first_receipt_waits_for_a_record(world: World) -> None:
    message = builders.message()
    job = builders.job(message)
    assert world.delivery.deliver(job, first_receipt=False).outcome is Outcome.WAITING
    asked = ["messages.get", "messages.is_withdrawn"]
    assert (world.pauses, world.gate.calls) == ([], asked)
    world.accept(message)
    assert world.delivery.deliver(job, first_receipt=False).outcome is Outcome.SENT


def test_a_failure_does_not_overwrite_another_workers_change(world: World, job: Job) -> None:
    """A worker that cannot render a mail does not fail it if another worker has leased it."""
    other = stop_before("mailer.send", world, job)
    stale = replace(world.message(), lease=None, attempt=0, revision=0)
    world.store.stale_messages[ACCOUNT, stale.message_id] = stale
    result = replace(world.delivery, build=refuse_to_build).deliver(job)
    assert result == DeliveryResult(Outcome.WAITING, timedelta(0))
    other.finish()
    assert world.message().status == "sent"


ANSWERS = {
    "sent": (None, "sent", 1),
    "rejected": (SendRejected("rejected", "No."), "failed", 0),
    "throttled": (SendThrottled(), "sent", 1),
}


@pytest.mark.parametrize(("answer", "status", "taken"), ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_answer_that_cannot_be_saved_is_recorded_by_a_job(
    world: World,
    job: Job,
    *,
    answer: Exception | None,
    status: str,
    taken: int,
    when: Literal["before", "after"],
) -> None:
    world.mailer.answers = [answer]
    world.gate.fault = Fault(len(CALLS_TO_SEND) + 1, when)
    result = world.delivery.deliver(job)
    assert world.gate.calls[-2 if result.retry_after is None else -1] == "jobs.put_result"
    (record,) = world.store.queue
    assert (record.mail, record.message_id) == (None, job.message_id)
    assert world.delivery.deliver(record) == DeliveryResult(Outcome.RECORDED)
    assert world.message().lease is None
    if result.retry_after is not None:
        assert world.delivery.deliver(job).outcome is Outcome.SENT
    assert (world.message().status, len(world.mailer.taken)) == (status, taken)
    assert world.delivery.deliver(record) == DeliveryResult(Outcome.RECORDED)
    assert world.message().status == status


def test_a_mistake_in_the_save_loses_no_answer(world: World, job: Job) -> None:
    """An answer is recorded by a job even if AWS refused to save it for good at that moment."""
    world.gate.fault = Fault(len(CALLS_TO_SEND) + 1, "before", RuntimeError("no permission"))
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.SENT)
    (record,) = world.store.queue
    assert world.delivery.deliver(record) == DeliveryResult(Outcome.RECORDED)
    assert (world.message().status, world.message().lease) == ("sent", None)


def test_an_answer_that_cannot_even_be_queued_leaves_the_job(world: World, job: Job) -> None:
    world.gate.refuse("messages.save", "jobs.put_result")
    with pytest.raises(ServiceError):
        world.delivery.deliver(job)


def test_a_throttle_is_saved_before_the_rate_is_lowered(world: World, job: Job) -> None:
    """A worker that dies while it lowers the rate leaves a message that can be sent at once."""
    fail_sending(world, SendThrottled(too_fast=True))

    world.gate.refuse("rate.slow_down", error=Killed())
    with pytest.raises(Killed):
        world.delivery.deliver(job)
    assert (world.message().status, world.message().lease) == ("pending", None)


def test_a_send_is_dated_before_the_hand_over(world: World, job: Job) -> None:
    """The time is that before SES's call, so an event of SES is never older than it."""

    def pass_time(call: str) -> None:
        if call == "mailer.send":
            world.advance(5 * SECOND)

    world.gate.watch = pass_time
    world.delivery.deliver(job)
    assert [(e.kind, e.at) for e in world.message().events] == [(EventKind.SENT, at(0))]


def test_a_record_keeps_the_spool_for_a_message_that_is_still_to_be_sent(world: World) -> None:
    """A job that records a throttle leaves the mail in the spool; a rejection deletes it."""
    for answer, left in ((SendThrottled(), 1), (SendRejected("rejected", "No."), 0)):
        world.store.queue.clear()
        world.store.spool["s"] = builders.mail()
        job = world.accept(builders.message(), mail=None, spool_key="s")
        world.gate.calls.clear()
        world.mailer.answers = [answer]
        world.gate.fault = Fault(len(CALLS_TO_SEND) + 1, "before")
        world.delivery.deliver(job)
        (record,) = world.store.queue
        world.delivery.deliver(record)
        assert len(world.store.spool) == left


def test_newer_events_in_the_queue_do_not_prevent_a_resend(world: World, job: Job) -> None:
    """Under load the queue is never empty; events from after the event wait do not matter."""
    leave_uncertain(world, job)
    advance(world, minutes=20)
    world.store.newest_event, world.store.queued_events = world.now, [NOW + DUE]
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.SENT, resent=True)


@pytest.mark.parametrize("minutes", [1, 15, 60])
def test_the_mark_of_an_event_resolves_an_uncertain_mail(
    world: World, job: Job, minutes: float
) -> None:
    """An event that was received twice left a mark; the worker reads it and records the send."""
    leave_uncertain(world, job, accepted=True)
    message = world.message()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Messages, "save", raise_unavailable)
        with pytest.raises(ServiceError):
            world.report(message, event(EventKind.SENT, 1), receives=2)
    assert world.store.newest_event is None
    advance(world, minutes=minutes)
    world.store.newest_event = world.now
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.SENT)
    assert (world.message().status, world.message().provider_message_id) == ("sent", "ses-1")
    assert len(world.mailer.taken) == 1


def test_an_event_that_comes_between_the_questions_prevents_a_resend(
    world: World, job: Job
) -> None:
    """Events flow, and the mail's own one comes late: the queue is asked last, and has it then."""
    leave_uncertain(world, job, accepted=True)
    end_event_wait(world)
    worker = Actor(world, lambda: world.delivery.deliver(job))
    while worker.at not in {"heartbeat.latest", "event_queue.may_hold_older_than"}:
        worker.step()
    worker.step()
    world.store.queued_events = [at(1)]
    worker.finish()
    assert worker.result == DeliveryResult(Outcome.UNCERTAIN, 10 * MINUTE)
    assert len(world.mailer.taken) == 1


def test_a_mark_that_comes_while_the_queue_is_asked_prevents_a_resend(
    world: World, job: Job
) -> None:
    leave_uncertain(world, job, accepted=True)
    end_event_wait(world)
    mark = {(ACCOUNT, job.message_id): SeenEvent("ses-1", at(1))}
    world.gate.before(
        "event_queue.may_hold_older_than", do=lambda: world.store.seen_events.update(mark)
    )
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.SENT)
    assert len(world.mailer.taken) == 1


def test_only_one_of_two_workers_resends(world: World, job: Job) -> None:
    """The other one keeps the job, which the first may yet need."""
    leave_uncertain(world, job)
    end_event_wait(world)
    slow = stop_before("messages.save", world, job)
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.SENT, resent=True)
    slow.finish()
    assert slow.result == DeliveryResult(Outcome.WAITING, timedelta(0))
    assert len(world.mailer.taken) == 1


def test_a_stalled_worker_that_sent_records_it(world: World, job: Job) -> None:
    """A worker past its lease that did send records it, so that no worker sends again."""
    first = stop_before("mailer.send", world, job)
    end_event_wait(world)
    second = stop_before("mailer.send", world, job)
    first.finish()
    assert world.message().status == "sent"
    second.finish()
    assert second.error is None
    assert world.message().status == "sent"


@pytest.mark.parametrize("present", [None, "shop-2"])
def test_email_that_waits_names_the_present_tenant(
    world: World, job: Job, present: str | None
) -> None:
    job = replace(job, tenant="shop")
    world.mailer.answers = [SendThrottled("NotFoundException")]
    assert world.delivery.deliver(job).provider_error == "NotFoundException"
    account = world.store.accounts[job.account_id]
    world.store.accounts[job.account_id] = replace(account, tenant=present)
    advance(world, minutes=1)
    assert world.delivery.deliver(job).outcome is Outcome.SENT
    assert world.mailer.tenants == ["shop", present]

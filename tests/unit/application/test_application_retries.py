"""What must survive between two tries: bodies, poison jobs, quotas, positions and moments."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal

import pytest

from pillarbox.application.delivery.poison_jobs import PoisonJobs
from pillarbox.application.delivery.ports import SendUncertain
from pillarbox.application.delivery.result import DeliveryResult, Outcome
from pillarbox.application.ports import LeaseRefusal, UnreadableJob
from pillarbox.domain.accounts.quota import WINDOWS, Window, window_name
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import EventKind, Lease, Message
from tests.fakes import builders, stores
from tests.fakes.builders import ACCOUNT, DIGEST, NOW, at, event
from tests.fakes.world import Fault, World

UNAVAILABLE = ServiceError("service_unavailable", "planted")
#: The last moments of a minute, an hour, a day and a month.
LAST_MOMENTS = [
    datetime.fromisoformat(text)
    for text in (
        "2026-03-14T09:26:59.999+00:00",
        "2026-03-14T09:59:59.999+00:00",
        "2026-03-14T23:59:59.999+00:00",
        "2026-03-31T23:59:59.999+00:00",
        "2026-12-31T23:59:59.999+00:00",
    )
]


class NoLease(stores.Messages):
    """Records whose lease was taken and released between a refusal and its read."""

    def lease(self, *arguments: Any, **keywords: Any) -> LeaseRefusal:
        del keywords
        account_id, message_id = arguments[:2]
        return LeaseRefusal(self.get(account_id, message_id))


def test_a_body_survives_a_retry_at_once(world: World) -> None:
    """A job that is tried again without a wait still finds its email in the spool."""
    job = world.accept(builders.message(), mail=None, spool_key="body")
    world.store.spool["body"] = builders.mail()
    racing = replace(world.delivery, messages=NoLease(world.store))
    assert racing.deliver(job).retry_after == timedelta(0)
    assert world.run(job) is None
    assert len(world.mailer.taken) == 1
    assert world.store.spool == {}


def test_a_poison_job_is_kept_before_its_mail_fails() -> None:
    """If the dead letters are out of reach, the mail is still pending and the job is tried again.

    A worker that died between the two steps would otherwise leave a failed mail without its job.
    """
    store, message = stores.Store(), builders.message()
    store.messages[ACCOUNT, message.message_id] = message

    class Unreachable:
        def put(self, _text: str) -> None:
            raise UNAVAILABLE

    poison_jobs = PoisonJobs(
        messages=stores.Messages(store), dead_letters=Unreachable(), clock=lambda: NOW
    )
    unreadable = UnreadableJob(
        "no job", newer=False, account_id=ACCOUNT, message_id=message.message_id
    )
    with pytest.raises(ServiceError):
        poison_jobs.set_aside("text", unreadable, NOW)
    assert store.messages[ACCOUNT, message.message_id] == message


def counts(world: World, moment: datetime) -> dict[Window, int]:
    return {
        window: world.store.counts.get((ACCOUNT, window_name(window, moment)), 0)
        for window in WINDOWS
    }


@pytest.mark.parametrize("moment", LAST_MOMENTS, ids=str)
@pytest.mark.parametrize("digest", [None, DIGEST], ids=["unkeyed", "keyed"])
@pytest.mark.parametrize("kind", ["single", "batch"])
def test_a_refund_goes_to_the_windows_of_the_reservation(
    world: World, kind: Literal["single", "batch"], digest: str | None, moment: datetime
) -> None:
    world.now = moment
    queue_calls = {"jobs.put", "jobs.put_all"}

    def end_window(call: str) -> None:
        if call in queue_calls:
            world.now = moment + timedelta(milliseconds=1)
            world.gate.fault = Fault(len(world.gate.calls) - 1, "before", UNAVAILABLE)

    world.gate.watch = end_window
    with pytest.raises(ServiceError):
        submit(world, kind, digest)
    assert counts(world, moment) == dict.fromkeys(WINDOWS, 0)
    assert counts(world, world.now) == dict.fromkeys(WINDOWS, 0)


def submit(world: World, kind: Literal["single", "batch"], digest: str | None) -> None:
    if kind == "single":
        world.send(digest=digest)
    else:
        world.send_batch(*[builders.request()] * 3, digest=digest)


@pytest.mark.parametrize("digest", [None, DIGEST], ids=["unkeyed", "keyed"])
def test_each_position_of_a_batch_has_the_id_of_its_own_mail(
    world: World, digest: str | None
) -> None:
    """The result of each position names the message with that position's subject, or its error."""
    items: list[Any] = [builders.request(subject=f"Number {number}") for number in range(25)]
    faulty = {3, 11, 20}
    for position in faulty:
        items[position] = ValidationFailed(FieldError("to", "is required", "required"))
    answer = world.send_batch(*items, digest=digest)
    subjects = {str(id_): message.subject for (_, id_), message in world.store.messages.items()}
    results = json.loads(answer.body)["results"]
    assert [subjects.get(result["messageId"]) for result in results] == [
        None if number in faulty else f"Number {number}" for number in range(25)
    ]
    assert {number for number, result in enumerate(results) if result["error"]} == faulty
    # The body of each job is that of the record with its id.
    jobs = {str(job.message_id): job.mail.subject for job in world.store.queue if job.mail}
    assert jobs == subjects


RETRY_SOON = timedelta(minutes=1)

SECOND = timedelta(seconds=1)
QUARTER = timedelta(minutes=15)
HOUR = timedelta(hours=1)
SET_ASIDE = DeliveryResult(Outcome.QUARANTINED)
POSTPONED = DeliveryResult(Outcome.WAITING, RETRY_SOON)


class Case:
    """The use case over fakes, with the dead letters that it kept."""

    def __init__(self, message: Message | None = None) -> None:
        self.kept: list[str] = []
        self.store = stores.Store()
        if message is not None:
            self.store.messages[ACCOUNT, message.message_id] = message
        self.message = message or builders.message()
        self.messages = stores.Messages(self.store)

    def put(self, text: str) -> None:
        self.kept.append(text)

    def set_aside(
        self, waited: timedelta, *, newer: bool = False, with_id: bool = True
    ) -> DeliveryResult:
        unreadable = UnreadableJob(
            "no job",
            newer=newer,
            account_id=ACCOUNT if with_id else None,
            message_id=self.message.message_id if with_id else None,
        )
        return self.poison_jobs(waited).set_aside("text", unreadable, NOW)

    def record_death(self) -> DeliveryResult:
        job = Job(
            account_id=ACCOUNT,
            message_id=self.message.message_id,
            body_hash=self.message.body_hash,
            queued_at=NOW,
            deadline=NOW + HOUR,
        )
        return self.poison_jobs().record_death("text", job)

    def poison_jobs(self, waited: timedelta = timedelta(0)) -> PoisonJobs:
        return PoisonJobs(messages=self.messages, dead_letters=self, clock=lambda: NOW + waited)

    @property
    def current(self) -> Message:
        return self.store.messages[ACCOUNT, self.message.message_id]


def test_a_job_may_arrive_before_its_record() -> None:
    """A poison job without a record is set aside after a quarter of an hour."""
    case = Case()
    assert case.set_aside(QUARTER - SECOND) == POSTPONED
    assert case.kept == []
    for waited in (QUARTER, QUARTER + SECOND):
        assert case.set_aside(waited) == SET_ASIDE
    with pytest.raises(ServiceError, match="stalled"):
        case.messages.commit(case.message)  # an acceptor that stalled until now
    assert not case.store.messages


@pytest.mark.parametrize("waited", [HOUR, HOUR + SECOND])
def test_a_newer_format_waits_for_newer_workers(waited: timedelta) -> None:
    """During a deployment an older worker postpones a newer job for an hour (promise 12)."""
    case = Case(builders.message())
    assert case.set_aside(HOUR - SECOND, newer=True) == POSTPONED
    assert case.current.status == "pending"
    assert case.set_aside(waited, newer=True) == SET_ASIDE
    assert case.current.status == "failed"


@pytest.mark.parametrize(
    "message",
    [
        replace(builders.message(), events=(event(EventKind.SENT),)),
        replace(
            builders.message(),
            lease=Lease(owner="other", taken_at=NOW, expires_at=at(90)),
        ),
    ],
    ids=["sent", "being sent"],
)
def test_a_message_that_another_copy_delivers_is_unchanged(message: Message) -> None:
    case = Case(message)
    assert case.set_aside(timedelta(0)) == SET_ASIDE
    assert case.current == message


def test_the_failure_is_added_to_the_current_message() -> None:
    case = Case(builders.message())
    save, changes = case.messages.save, iter([True])

    def contended(message: Message) -> bool:
        if next(changes, False):
            save(case.current)
        return save(message)

    case.messages.save = contended  # type: ignore[method-assign]
    assert case.set_aside(timedelta(0)) == SET_ASIDE
    assert (case.current.status, case.current.revision) == ("failed", 2)


def test_the_third_death_sets_a_job_aside() -> None:
    """A job whose builds died three times is kept for an operator, and its mail fails."""
    case = Case(builders.message())
    for deaths in (1, 2):
        assert case.record_death() == DeliveryResult(Outcome.BUILD_DIED, RETRY_SOON)
        assert (case.current.deaths, case.current.status, case.kept) == (deaths, "pending", [])
    assert case.record_death() == SET_ASIDE
    assert case.kept == ["text"]
    error = case.current.error
    assert (case.current.status, error and error.code) == ("failed", "building_failed")


def test_a_death_changes_no_finished_message() -> None:
    """If another copy of the job was delivered in the meantime, its message stays sent."""
    sent = replace(builders.message(), deaths=2, events=(event(EventKind.SENT),))
    case = Case(sent)
    assert case.record_death() == SET_ASIDE
    assert case.current == sent


def test_a_death_without_a_record_is_not_counted() -> None:
    """A job whose record is gone waits, and the next worker drops it."""
    case = Case()
    assert case.record_death() == DeliveryResult(Outcome.BUILD_DIED, RETRY_SOON)
    assert not case.store.messages


ANN = "ann@example.com"


@pytest.mark.parametrize("revision", [0, 1])
def test_a_mail_that_is_resent_may_fail_in_the_same_run(world: World, revision: int) -> None:
    job = world.accept(builders.message(revision=revision))
    world.mailer.answers = [SendUncertain()]
    world.delivery.deliver(job)
    world.advance(timedelta(minutes=15, seconds=30))
    world.store.newest_event = world.now
    world.store.suppressed[ACCOUNT, ANN] = "bounced"
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED, resent=True)
    assert world.message().status == "failed"

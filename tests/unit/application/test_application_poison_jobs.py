"""Poison jobs: they are set aside and their mail fails, but not during a deployment."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pillarbox.application.delivery.poison_jobs import PoisonJobs
from pillarbox.application.delivery.result import DeliveryResult, Outcome
from pillarbox.application.ports import UnreadableJob
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import EventKind, Lease, Message
from tests.fakes import builders, stores
from tests.fakes.builders import ACCOUNT, NOW, at, event

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


@pytest.mark.parametrize(
    ("waited", "suspected"), [(0, False), (59, False), (60, True), (90, True), (86_400, True)]
)
def test_a_job_is_suspected_after_the_time_that_a_dead_worker_keeps_it(
    waited: int, *, suspected: bool
) -> None:
    """A job that comes back sooner than the clocks may differ was in no worker that died."""
    assert Case().poison_jobs(waited * SECOND).may_be_deadly(NOW) is suspected

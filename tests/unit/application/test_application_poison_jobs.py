"""Jobs that nobody can read: set aside, their mail failed, but not before a deploy is over."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pillarbox.application.delivery.deliver import RETRY_SOON, DeliveryResult, Outcome
from pillarbox.application.delivery.poison_jobs import PoisonJobs
from pillarbox.application.ports import UnreadableJob
from pillarbox.domain.message import EventKind, Lease, Message
from tests.fakes import builders, stores
from tests.fakes.builders import ACCOUNT, NOW, at, event

SECOND = timedelta(seconds=1)
QUARTER = timedelta(minutes=15)
HOUR = timedelta(hours=1)
SET_ASIDE = DeliveryResult(Outcome.QUARANTINED)
LATER = DeliveryResult(Outcome.WAITING, RETRY_SOON)


class Case:
    """A quarantine over fakes, with what it set aside."""

    def __init__(self, message: Message | None = None) -> None:
        self.kept: list[str] = []
        self.store = stores.Store()
        if message is not None:
            self.store.messages[ACCOUNT, message.message_id] = message
        self.message = message or builders.message()
        self.messages = stores.FakeMessages(self.store)

    def put(self, text: str) -> None:
        self.kept.append(text)

    def take(self, waited: timedelta, *, newer: bool = False, named: bool = True) -> DeliveryResult:
        quarantine = PoisonJobs(
            messages=self.messages, dead_letters=self, clock=lambda: NOW + waited
        )
        unreadable = UnreadableJob(
            "no job",
            newer=newer,
            account_id=ACCOUNT if named else None,
            message_id=self.message.message_id if named else None,
        )
        return quarantine.set_aside("text", unreadable, NOW)

    @property
    def now(self) -> Message:
        return self.store.messages[ACCOUNT, self.message.message_id]


def test_a_poison_job_is_set_aside_and_its_mail_failed() -> None:
    """A broken job is kept for an operator at once; its mail shows failed, with the reason."""
    case = Case(builders.message())
    assert case.take(timedelta(0)) == SET_ASIDE
    assert case.kept == ["text"]
    error = case.now.error
    assert (case.now.status, error and error.code) == ("failed", "unreadable_job")


def test_a_job_without_a_name_is_set_aside() -> None:
    """What names no message is kept, and that is all."""
    case = Case()
    assert case.take(timedelta(0), named=False) == SET_ASIDE
    assert case.kept == ["text"]
    assert not case.store.messages


def test_a_job_may_be_ahead_of_its_record() -> None:
    """A job comes before its record: a quarter of an hour is waited for it, no more."""
    case = Case()
    assert case.take(QUARTER - SECOND) == LATER
    assert case.kept == []
    for waited in (QUARTER, QUARTER + SECOND):
        assert case.take(waited) == SET_ASIDE
    assert not case.store.messages


@pytest.mark.parametrize("waited", [HOUR, HOUR + SECOND])
def test_a_newer_form_is_left_to_newer_workers(waited: timedelta) -> None:
    """During a deploy an older worker leaves a newer job alone, for an hour (promise 12)."""
    case = Case(builders.message())
    assert case.take(HOUR - SECOND, newer=True) == LATER
    assert case.now.status == "pending"
    assert case.take(waited, newer=True) == SET_ASIDE
    assert case.now.status == "failed"


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
def test_a_message_that_another_copy_delivers_stays_as_it_is(message: Message) -> None:
    """A broken copy of a job says nothing about the mail that a whole one delivers."""
    case = Case(message)
    assert case.take(timedelta(0)) == SET_ASIDE
    assert case.now == message


def test_the_failure_is_written_over_what_it_was_made_from() -> None:
    """Somebody changed the message in between: it is read again, and failed as it is now."""
    case = Case(builders.message())
    save, changes = case.messages.save, iter([True])

    def contended(message: Message) -> bool:
        if next(changes, False):
            save(case.now)
        return save(message)

    case.messages.save = contended  # type: ignore[method-assign]
    assert case.take(timedelta(0)) == SET_ASIDE
    assert (case.now.status, case.now.revision) == ("failed", 2)

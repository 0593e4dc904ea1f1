"""Bugs that the races must find. Each is a context in which the service has the bug."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from unittest import mock
from uuid import UUID

from pillarbox.application.delivery.deliver_due import DueDelivery
from pillarbox.application.delivery.result import DeliveryResult, Outcome
from pillarbox.application.sending.acceptance import Acceptance
from pillarbox.application.sending.changes import MessageChanges
from pillarbox.application.waiting import DueMail, WaitingMail
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import Message
from tests.fakes.stores import FakeMessages


@contextmanager
def saved_before_it_is_arranged() -> Iterator[None]:
    """A new time is in the record before its job is."""

    def change(
        self: MessageChanges, message: Message, *change: Any
    ) -> tuple[Message | None, Message]:
        arranged: list[Message] = []
        with mock.patch.object(WaitingMail, "arrange", lambda _, some: arranged.extend(some)):
            before, after = original(self, message, *change)
        if arranged:
            self.waiting().arrange(arranged[-1:])
        return before, after

    original = MessageChanges._change
    with mock.patch.object(MessageChanges, "_change", change):
        yield


@contextmanager
def committed_before_it_is_arranged() -> Iterator[None]:
    """An accepted message has its record before its job."""

    def commit(self: Acceptance, prepared: Any, claim: Any, text: str) -> Any:
        with mock.patch.object(Acceptance, "_queue"):
            response = original(self, prepared, claim, text)
        self._queue(prepared)
        return response

    original = Acceptance.commit
    with mock.patch.object(Acceptance, "commit", commit):
        yield


@contextmanager
def leased_without_its_time() -> Iterator[None]:
    """The lease does not compare the schedule, so a change meanwhile is not seen."""
    original = FakeMessages.lease

    def lease(self: FakeMessages, *name: Any, **_: Any) -> Any:
        return original(self, *name)

    with mock.patch.object(FakeMessages, "lease", lease):
        yield


@contextmanager
def another_time_is_dropped() -> Iterator[None]:
    """A job without a record, or for another time than its record has, is dropped at once."""
    dropped = DeliveryResult(Outcome.DROPPED)
    with (
        mock.patch.object(DueDelivery, "_unsaved", return_value=dropped),
        mock.patch.object(DueDelivery, "_unrecorded", return_value=dropped),
    ):
        yield


@contextmanager
def removed_before_queued() -> Iterator[None]:
    """The timer forgets jobs before the queue has them."""

    def enqueue(self: DueMail) -> int:
        for minute, jobs in self.times.due(self.clock()):
            self.times.remove(minute, jobs)
            self.queue.wake_all(jobs, self.clock())
        return 0

    with mock.patch.object(DueMail, "enqueue", enqueue):
        yield


@contextmanager
def canceled_while_leased() -> Iterator[None]:
    """A message that a worker has taken can still be canceled."""
    waits = property(lambda self: self.schedule is not None and self.pending)
    with mock.patch.object(Message, "waits", waits):
        yield


@contextmanager
def saved_over_others() -> Iterator[None]:
    """A change is saved whatever happened to the record since it was read."""
    original = FakeMessages.save

    def save(self: FakeMessages, message: Message) -> bool:
        current = self.get(message.account_id, message.message_id)
        return original(self, replace(message, revision=current.revision if current else 0))

    with mock.patch.object(FakeMessages, "save", save):
        yield


@contextmanager
def sent_when_the_job_comes() -> Iterator[None]:
    """A worker does not look at the time in the record, nor whether it is held."""

    def run(self: DueDelivery, job: Job, sent_at: datetime, *, first_receipt: bool) -> Any:
        del sent_at
        message = self.messages.get(job.account_id, job.message_id)
        if message is None:
            return DeliveryResult(Outcome.DROPPED)
        return self._without_hand_over(job, message) or self._hand_over(
            job, message, first_receipt=first_receipt
        )

    with mock.patch.object(DueDelivery, "_run", run):
        yield


@contextmanager
def no_key_is_checked() -> Iterator[None]:
    """What was accepted is sent, even if its key was revoked since."""
    with mock.patch.object(DueDelivery, "_refusal", return_value=None):
        yield


@contextmanager
def content_of_a_dropped_job() -> Iterator[None]:
    """A worker deletes the content with each job that it is done with."""
    original = DueDelivery.deliver

    def deliver(self: DueDelivery, job: Job, **which: Any) -> DeliveryResult:
        result = original(self, job, **which)
        if result.retry_after is None:
            self.contents.remove(job.account_id, job.message_id, None)
        return result

    with mock.patch.object(DueDelivery, "deliver", deliver):
        yield


@contextmanager
def refunded_each_time() -> Iterator[None]:
    """A repeated cancel gives the quota back again."""
    original = MessageChanges.cancel

    def cancel(self: MessageChanges, account_id: str, message_id: UUID) -> Message:
        before = self.messages.get(account_id, message_id)
        if before is not None and before.canceled_at is not None:
            self._refund(before)
        return original(self, account_id, message_id)

    with mock.patch.object(MessageChanges, "cancel", cancel):
        yield


#: Each with a scenario in which it shows.
KNOWN_BUGS: Final[dict[str, tuple[Any, str]]] = {
    bug.__name__: (bug, scenario)
    for bug, scenario in (
        (saved_before_it_is_arranged, "take and postpone"),
        (committed_before_it_is_arranged, "accept"),
        (leased_without_its_time, "take and postpone"),
        (another_time_is_dropped, "accept"),
        (removed_before_queued, "two timers"),
        (canceled_while_leased, "take and cancel"),
        (saved_over_others, "take and cancel"),
        (sent_when_the_job_comes, "take and postpone"),
        (no_key_is_checked, "revoke"),
        (content_of_a_dropped_job, "take and postpone"),
        (refunded_each_time, "take and cancel twice"),
    )
}

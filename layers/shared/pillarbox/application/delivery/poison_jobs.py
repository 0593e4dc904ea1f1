"""Jobs that the worker cannot read: set aside at once, and their mail marked failed.

Trying them again would change nothing, save for a job of a newer form: while a
deploy is under way an older worker may meet one, and must leave it to the others.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.delivery.deliver import LOOK_AGAIN, RECORD_WAIT, DeliveryResult, Outcome
from pillarbox.application.ports import Clock, DeadLetters, Messages, UnreadableJob
from pillarbox.domain.message import Event, EventKind, Message

#: A deploy replaces the workers within minutes; after this no worker knows the form.
VERSION_WAIT: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoisonJobs:
    """Takes jobs out of the queue that nobody can do."""

    messages: Messages
    dead_letters: DeadLetters
    clock: Clock

    def set_aside(
        self, text: str, unreadable: UnreadableJob, queued_at: datetime
    ) -> DeliveryResult:
        """Set a job aside, or let it come again while it may still be read.

        Args:
            text: the job as it came.
            unreadable: what the reader could make out of it.
            queued_at: when it came into the queue.

        Raises:
            ServiceError: `service_unavailable`; the job then comes again by itself.
        """
        message = self._message(unreadable)
        waited = self.clock() - queued_at
        # A job is put before its record, so an absent one may be on its way.
        early = unreadable.message_id is not None and message is None and waited < RECORD_WAIT
        if early or (unreadable.newer and waited < VERSION_WAIT):
            return DeliveryResult(Outcome.WAITING, LOOK_AGAIN)
        # Kept first: a crash after it keeps it twice, a crash before it not at all.
        self.dead_letters.put(text)
        # Somebody else may finish it meanwhile, or deliver another copy, a readable one.
        while (
            message is not None
            and message.pending
            and message.lease is None
            and not self.messages.save(self._failed(message))
        ):
            message = self._message(unreadable)
        return DeliveryResult(Outcome.QUARANTINED)

    def _message(self, job: UnreadableJob) -> Message | None:
        if job.account_id is None or job.message_id is None:
            return None
        return self.messages.get(job.account_id, job.message_id)

    def _failed(self, message: Message) -> Message:
        failed = Event(
            kind=EventKind.FAILED,
            at=self.clock(),
            code="unreadable_job",
            reason="The mail could not be read from the queue.",
        )
        return replace(message.with_events([failed]), lease=None)

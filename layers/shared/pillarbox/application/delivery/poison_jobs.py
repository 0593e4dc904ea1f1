"""Poison jobs: set aside at once what no worker can read, and mark its message as failed.

Another try would change nothing, except for a job of a newer version. During a deploy an
older worker may receive one, and must leave it to the newer workers.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.delivery.deliver import (
    RECORD_WAIT,
    RETRY_SOON,
    DeliveryResult,
    Outcome,
)
from pillarbox.application.ports import Clock, DeadLetters, Messages, UnreadableJob
from pillarbox.domain.message import Event, EventKind, Message

#: A deploy replaces the workers within minutes. After this time no worker knows the version.
VERSION_WAIT: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoisonJobs:
    """Move unreadable jobs to the dead-letter queue."""

    messages: Messages
    dead_letters: DeadLetters
    clock: Clock

    def set_aside(
        self, text: str, unreadable: UnreadableJob, queued_at: datetime
    ) -> DeliveryResult:
        """Set a job aside, or wait while a newer worker may still read it.

        Args:
            text: the job as it was received.
            unreadable: what could be read of it.
            queued_at: when it was queued.

        Raises:
            ServiceError: `service_unavailable`; the queue then delivers the job again.
        """
        message = self._message(unreadable)
        waited = self.clock() - queued_at
        # A job is queued before its record is put, so the record may still be on its way.
        early = unreadable.message_id is not None and message is None and waited < RECORD_WAIT
        if early or (unreadable.newer and waited < VERSION_WAIT):
            return DeliveryResult(Outcome.WAITING, RETRY_SOON)
        # The dead-letter queue comes first: after a crash in between it has the job twice, and
        # the job is not lost.
        self.dead_letters.put(text)
        # Another worker may finish the message meanwhile, or deliver a readable copy of the job.
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
            reason="The email could not be read from the queue.",
        )
        return replace(message.with_events([failed]), lease=None)

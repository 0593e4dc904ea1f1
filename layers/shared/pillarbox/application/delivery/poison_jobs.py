"""Poison jobs: set aside what no worker can read or survive, and mark its message as failed.

Another try to read a job would change nothing, except for a job of a newer version. During a
deploy an older worker may receive one, and must leave it to the newer workers.

A job that was in a worker that died may have killed it. From then on its message is built in a
process of its own, so that its death harms no other job. Each of these deaths is counted.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.delivery.deliver import RECORD_WAIT, RETRY_SOON
from pillarbox.application.delivery.ports import DeadLetters
from pillarbox.application.delivery.result import VISIBILITY, DeliveryResult, Outcome
from pillarbox.application.ports import Clock, Messages, UnreadableJob
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import MEANINGS, Event, EventKind, Message
from pillarbox.domain.timing import CLOCK_MARGIN

#: A deploy replaces the workers within minutes. After this time no worker knows the version.
VERSION_WAIT: Final = timedelta(hours=1)
#: After so many deaths in a process of its own a job is set aside.
MAX_DEATHS: Final = 3

_UNREADABLE: Final = "unreadable_job"
_DEADLY: Final = "building_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoisonJobs:
    """Move jobs that cannot be delivered to the dead-letter queue."""

    messages: Messages
    dead_letters: DeadLetters
    clock: Clock

    def set_aside(
        self, text: str, unreadable: UnreadableJob, queued_at: datetime
    ) -> DeliveryResult:
        """Set a job aside, or wait while a newer worker may still read it.

        Raises:
            ServiceError: `service_unavailable`; the queue then delivers the job again.
        """
        account_id, message_id, message = unreadable.account_id, unreadable.message_id, None
        if account_id is not None and message_id is not None:
            message = self.messages.get(account_id, message_id)
        waited = self.clock() - queued_at
        # A job is queued before its record is put, so the record may still be on its way.
        early = message_id is not None and message is None and waited < RECORD_WAIT
        if early or (unreadable.newer and waited < VERSION_WAIT):
            return DeliveryResult(Outcome.WAITING, RETRY_SOON)
        if account_id is not None and message_id is not None and message is None:
            # As before a job is dropped: a stalled acceptor must not commit it later.
            found = self.messages.withdraw(account_id, [message_id], self.clock())
            message = found.get(message_id)
        return self._set_aside(text, message, _UNREADABLE)

    def may_be_deadly(self, first_received_at: datetime) -> bool:
        """Return whether a worker that had the job may have died.

        Such a worker keeps its jobs until their visibility timeout is over. A job that
        waited as long for its turn is suspected too, which only costs a process of its own.
        """
        return self.clock() - first_received_at >= VISIBILITY - CLOCK_MARGIN

    def record_death(self, text: str, job: Job) -> DeliveryResult:
        """Count the death of a process that built the message of a job; set the third aside.

        Raises:
            ServiceError: `service_unavailable`; the queue then delivers the job again.
        """
        message = self.messages.get(job.account_id, job.message_id)
        if message is None or message.deaths + 1 < MAX_DEATHS:
            # If another worker has just changed the message, this death does not count.
            if message is not None:
                self.messages.save(replace(message, deaths=message.deaths + 1))
            return DeliveryResult(Outcome.BUILD_DIED, RETRY_SOON)
        return self._set_aside(text, message, _DEADLY)

    def _set_aside(self, text: str, message: Message | None, code: str) -> DeliveryResult:
        failed = Event(kind=EventKind.FAILED, at=self.clock(), code=code, reason=MEANINGS[code])
        # The dead-letter queue comes first: after a crash in between it has the job twice, and
        # the job is not lost.
        self.dead_letters.put(text)
        # Another worker may finish the message meanwhile, or deliver a readable copy of the job.
        while (
            message is not None
            and message.pending
            and message.lease is None
            and not self.messages.save(message.with_events([failed]))
        ):
            message = self.messages.get(message.account_id, message.message_id)
        return DeliveryResult(Outcome.QUARANTINED)

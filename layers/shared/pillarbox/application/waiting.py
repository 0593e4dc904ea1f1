"""Emails that wait until they are due.

The record of a message decides: its time, whether it is held, canceled or sent. The content waits
beside it, under the message's id, until the message is final. A job of its own, without content,
wakes the worker at a time. Each change puts the job for the new time first and then saves the
record, so a record always has a job for its time; a job for another time changes nothing.

| who        | does                                                                           |
|------------|--------------------------------------------------------------------------------|
| acceptance | stores the content, arranges the job, commits the record                       |
| reschedule | arranges the job for the new time, saves the record                            |
| release    | queues the job for now, saves the record                                       |
| cancel     | saves the record, deletes the content, gives back the quota                    |
| the timer  | queues the jobs of the next minutes, each hidden until it is due               |
| the worker | compares job and record, checks everything again, leases by the record's time |
| the sweep  | queues again what is late, and deletes contents of messages that are final     |

The time that a record gets is compared with the one of its job, so a job whose change of the record
is still on its way waits, as a job waits for its record.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pillarbox.application.ports import Clock
from pillarbox.application.waiting_ports import WaitingContents, WakeQueue, WakeTimes
from pillarbox.domain.errors import STALLED, Unavailable
from pillarbox.domain.messages.mail import CHANGE_TIME, Job, Mail
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.schedule import QUEUED_AHEAD, Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingMail:
    """Stores contents, and arranges the jobs for them."""

    contents: WaitingContents
    times: WakeTimes
    queue: WakeQueue
    clock: Clock
    #: Returns the seconds of a monotonic clock.
    monotonic: Callable[[], float]

    def put_all(self, mails: Sequence[tuple[Message, Mail]]) -> None:
        """Store the contents of messages with a schedule, and arrange their jobs."""
        self.contents.put_all(mails)
        self.arrange([message for message, _ in mails])

    def arrange(self, messages: Iterable[Message]) -> None:
        """Let a job of each message come when its schedule says."""
        began = self.monotonic()
        now, soon, later = self.clock(), list[Job](), list[Job]()
        for message in messages:
            if (schedule := message.schedule) is not None:
                is_soon = schedule.due_at - now <= QUEUED_AHEAD
                (soon if is_soon else later).append(wake_job(message, schedule))
        if later:
            self.times.put_all(later)
        if soon:
            self.queue.wake_all(soon, self.clock())
        if self.monotonic() - began > CHANGE_TIME.total_seconds():
            raise Unavailable("service", STALLED)


def wake_job(message: Message, schedule: Schedule) -> Job:
    return Job(
        account_id=message.account_id,
        message_id=message.message_id,
        body_hash=message.body_hash,
        queued_at=schedule.due_at,
        deadline=schedule.deadline,
        due_at=schedule.due_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DueMail:
    """Takes jobs out of the timer when they are due."""

    times: WakeTimes
    queue: WakeQueue
    clock: Clock

    def enqueue(self) -> int:
        """Queue the jobs that are due soon, then remove them. Return their number."""
        count = 0
        for minute, jobs in self.times.due(self.clock()):
            self.queue.wake_all(jobs, self.clock())
            self.times.remove(minute, jobs)
            count += len(jobs)
        return count

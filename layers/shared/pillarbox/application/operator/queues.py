"""Count the messages of the queues, and move dead letters back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pillarbox.application.operator.ports import QueueAges, QueueLog, Queues, QueueStatus, Redrive
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account_log import COMMAND
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.ids import new_id

#: The entries of the log that are shown.
LOG_LENGTH: Final = 50


@dataclass(frozen=True, slots=True)
class QueueUrls:
    """The URLs of a queue and of its dead-letter queue.

    `dead_letters` is None if another queue of the list has the same.
    """

    queue: str
    dead_letters: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOperations:
    """The queues of the service by name: `jobs`, `urgent` (jobs), `events` and `sweep`."""

    queues: Queues
    ages: QueueAges
    log: QueueLog
    clock: Clock
    urls: Mapping[str, QueueUrls]

    def status(self) -> Mapping[str, tuple[QueueStatus, QueueStatus | None]]:
        """Count the messages of each queue and of its dead-letter queue, if it has its own."""
        return {
            name: (
                self.queues.status(urls.queue),
                self.queues.status(urls.dead_letters) if urls.dead_letters else None,
            )
            for name, urls in self.urls.items()
        }

    def oldest_message_ages(self) -> Mapping[str, float | None]:
        """Return the age in seconds of each queue's oldest message; None if it is not known."""
        return {name: self.ages.oldest_message_age(urls.queue) for name, urls in self.urls.items()}

    def redrives(self) -> Sequence[Redrive]:
        """Read the last `LOG_LENGTH` redrives, the newest first."""
        return self.log.newest(LOG_LENGTH)

    def redrive(self, name: str, at_most: int, *, by: str = COMMAND) -> int:
        """Move dead letters back into their queue and return how many.

        The log has the redrive before it begins, and the number when it has ended. `by` is the
        operator's address, or `COMMAND`.

        This is safe at any time: a job whose message is finished is dropped, and an event
        that was already processed changes nothing. Nor does a sweep task that runs twice.
        """
        urls = self.urls.get(name)
        if urls is None or urls.dead_letters is None:
            names = " or ".join(name for name, urls in self.urls.items() if urls.dead_letters)
            raise ValidationFailed(FieldError("queue", f"must be {names}", "unknown_queue"))
        now = self.clock()
        entry = Redrive(entry_id=str(new_id(now)), at=now, by=by, queue=name)
        self.log.put(entry)
        moved = self.queues.move(urls.dead_letters, urls.queue, at_most)
        self.log.put(replace(entry, moved=moved))
        return moved

"""Count the messages of the queues, and move dead letters back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from admin.operations.ports import Queues, QueueStatus
from pillarbox.domain.errors import FieldError, ValidationFailed

_NONE: Final = QueueStatus(waiting=0, in_flight=0, delayed=0)


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
    urls: Mapping[str, QueueUrls]

    def status(self) -> Mapping[str, tuple[QueueStatus, QueueStatus]]:
        """Count the messages of each queue and of its dead-letter queue."""
        return {
            name: (
                self.queues.status(urls.queue),
                self.queues.status(urls.dead_letters) if urls.dead_letters else _NONE,
            )
            for name, urls in self.urls.items()
        }

    def redrive(self, name: str, at_most: int) -> int:
        """Move dead letters back into their queue and return how many.

        This is safe at any time: a job whose message is finished is dropped, and an event
        that was already processed changes nothing. Nor does a sweep task that runs twice.

        Raises:
            ValidationFailed: there is no such queue.
        """
        urls = self.urls.get(name)
        if urls is None or urls.dead_letters is None:
            names = " or ".join(name for name, urls in self.urls.items() if urls.dead_letters)
            raise ValidationFailed(FieldError("queue", f"must be {names}", "unknown_queue"))
        return self.queues.move(urls.dead_letters, urls.queue, at_most)

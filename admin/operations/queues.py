"""An operator's work on the queues: what waits, and what was set aside."""

from collections.abc import Mapping
from dataclasses import dataclass

from admin.operations.ports import Queues, QueueStatus
from pillarbox.domain.errors import FieldFault, ValidationFailed


@dataclass(frozen=True, slots=True)
class QueueUrls:
    """A queue, and where its messages are set aside."""

    queue: str
    dead_letters: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOperations:
    """The queues of the service by name: `jobs` and `events`."""

    queues: Queues
    urls: Mapping[str, QueueUrls]

    def status(self) -> Mapping[str, tuple[QueueStatus, QueueStatus]]:
        """How many messages each queue has, and how many were set aside from it."""
        return {
            name: (self.queues.status(urls.queue), self.queues.status(urls.dead_letters))
            for name, urls in self.urls.items()
        }

    def redrive(self, name: str, at_most: int) -> int:
        """Put what was set aside back into its queue; gives how many messages.

        It is safe whatever happened meanwhile: a job whose mail is finished is
        dropped, and an event that is known changes nothing.

        Raises:
            ValidationFailed: there is no such queue.
        """
        if name not in self.urls:
            known = " or ".join(self.urls)
            raise ValidationFailed(FieldFault("queue", f"must be {known}", "unknown_queue"))
        urls = self.urls[name]
        return self.queues.move(urls.dead_letters, urls.queue, at_most)

"""What operators need from the outside world.

Every method may raise ServiceError `service_unavailable`, as in `application.ports`.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """The approximate number of messages in a queue."""

    waiting: int
    #: Received by a worker and not finished, including messages that it postponed.
    in_flight: int
    delayed: int


class Queues(Protocol):
    """The service's queues, by URL."""

    def status(self, queue_url: str) -> QueueStatus:
        """Count a queue's messages."""
        ...

    def move(self, source_url: str, target_url: str, at_most: int) -> int:
        """Move messages from one queue to another and return how many."""
        ...


class QueueAges(Protocol):
    """How long messages wait in the service's queues, by URL."""

    def oldest_message_age(self, queue_url: str) -> float | None:
        """Return the age in seconds of a queue's oldest message; None without a recent metric."""
        ...

"""What the consumers of the table's stream return."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamResult:
    """The result of a batch.

    `retry_from` is the position from which to retry the batch (None for no retry), and
    `marked_hours` is how many hours were marked for rebuild because a retry would not help.
    `paused` is how many keys, templates and accounts the breaker slowed down or stopped.
    """

    retry_from: int | None
    errors: list[Exception]
    marked_hours: int = 0
    paused: int = 0

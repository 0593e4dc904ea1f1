"""Queue the tasks of webhooks whose time has come."""

from dataclasses import dataclass

from pillarbox.application.ports import Clock
from pillarbox.application.webhooks.ports import DueTimes, WebhookQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTasks:
    """Moves tasks from the timer to the queue."""

    due: DueTimes
    queue: WebhookQueue
    clock: Clock

    def enqueue(self) -> int:
        """Queue each task that is due before it is removed; return their number."""
        count = 0
        for minute, tasks in self.due.due(self.clock()):
            self.queue.put_all(tasks)
            self.due.remove(minute, tasks)
            count += len(tasks)
        return count

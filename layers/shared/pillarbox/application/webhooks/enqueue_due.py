"""Do what waits for its time: queue the tasks of webhooks, and raise alerts about endpoints."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.ports import Clock
from pillarbox.application.webhooks.owner_notice import OwnerNotices
from pillarbox.application.webhooks.ports import DueTimes, WebhookQueue
from pillarbox.domain.webhooks.endpoint import OwnerNotice

#: A notice that fails is tried again after this time …
_NOTICE_PAUSE: Final = timedelta(minutes=5)
#: … but not when it is so old.
_NOTICE_KEPT: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTasks:
    """Takes tasks out of the timer when they are due."""

    due: DueTimes
    queue: WebhookQueue
    notices: OwnerNotices
    clock: Clock

    def enqueue(self) -> int:
        """Queue or do each task that is due, then remove it. Return their number.

        A notice that fails stops no other task. Its error is raised after all of them.
        """
        count = 0
        errors: list[Exception] = []
        for minute, due in self.due.due(self.clock()):
            tasks = [task for task in due if not isinstance(task, OwnerNotice)]
            notices = [task for task in due if isinstance(task, OwnerNotice)]
            if tasks:
                self.queue.put_all(tasks)
                self.due.remove(minute, tasks)
            errors += self._send(minute, notices)
            count += len(due)
        if errors:
            raise errors[0]
        return count

    def _send(self, minute: datetime, notices: Sequence[OwnerNotice]) -> list[Exception]:
        """Send notices and return their errors. Put those that failed into a later minute."""
        errors: list[Exception] = []
        for notice in notices:
            try:
                self.notices.send(notice)
            except Exception as error:  # noqa: BLE001  a failed notice must not stop webhooks
                errors.append(error)
                now = self.clock()
                if now - notice.at < _NOTICE_KEPT:
                    self.due.put(notice, now + _NOTICE_PAUSE)
            self.due.remove(minute, [notice])
        return errors

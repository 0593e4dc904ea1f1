"""Look after emails that wait: queue again what is late, and delete what no email needs.

Nothing is late here unless a write took effect much too late, or the timer stood still for weeks.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.delivery.deliver import RECORD_WAIT, event_due
from pillarbox.application.delivery.holds import HOLD_TIME
from pillarbox.application.ports import Messages
from pillarbox.application.waiting import wake_job
from pillarbox.application.waiting_ports import WaitingContents, WakeQueue
from pillarbox.domain.messages.message import STALL_TIME

#: After this time a job of a message has come and, as it is still pending, may be lost.
_LATE: Final = RECORD_WAIT * 2
#: A message is held for four hours at most while its sender is paused. After this time a person
#: should look.
_OVERDUE: Final = HOLD_TIME + timedelta(hours=1)
#: Long before this time no worker reads the content of a finished message any more.
_SETTLED: Final = RECORD_WAIT * 4


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """How many messages of a page are overdue, and the cursor of the next page."""

    overdue: int
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingSweep:
    """Goes through the contents that wait."""

    contents: WaitingContents
    messages: Messages
    queue: WakeQueue

    def sweep(self, account_id: str, now: datetime, cursor: str | None) -> WaitingPage:
        """Do one page of an account's contents.

        Raises:
            ServiceError: `service_unavailable`; it can be repeated.
        """
        page = self.contents.of_account(account_id, cursor)
        ids = [content.message_id for content in page.items]
        messages = self.messages.get_all(account_id, ids) if ids else {}
        late, overdue = [], 0
        for content in page.items:
            message = messages.get(content.message_id)
            schedule = message.schedule if message and message.pending else None
            if message is None or schedule is None:
                if now - content.put_at > (_SETTLED if message else STALL_TIME):
                    self.contents.remove(account_id, content.message_id, content.template_id)
            elif message.lease is not None and now < event_due(message.lease):
                continue  # the job of its hand-over comes again
            elif now - schedule.due_at > _LATE:
                late.append(wake_job(message, schedule))
                overdue += now - schedule.due_at > _OVERDUE
        if late:
            self.queue.wake_all(late, now)
        return WaitingPage(overdue, page.next)

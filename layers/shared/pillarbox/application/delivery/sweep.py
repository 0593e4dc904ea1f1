"""Find messages and spool objects that got stuck; report them, and repair what is safe.

There is no index for this, because every message would pay for it. Message ids sort by time,
so one pass reads the messages of two short time ranges and nothing else. Claims need no
sweep: if the owner of one died, the next request takes it over, or it expires.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.delivery.deliver import EVENT_WAIT, RECORD_WAIT, uncertain_event
from pillarbox.application.ports import AccountIds, Clock, MessageLog, Messages, Spool, SpoolObject
from pillarbox.domain.mail import MAX_DELIVERY_TIME
from pillarbox.domain.message import Event, EventKind, Message

#: A pass runs every hour. Reading two hours makes up for a pass that did not run.
TIME_RANGE: Final = timedelta(hours=2)
#: After this time the deadline is over and the worker has given up every message.
OVERDUE: Final = MAX_DELIVERY_TIME + timedelta(hours=1)
#: An id may be a day older than its job, if its claim was taken over late.
HOPELESS: Final = OVERDUE + timedelta(hours=24)
#: Long before this time a spooled message is committed, or never will be.
SETTLED: Final = RECORD_WAIT * 4


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a pass found; the names are those of the metrics."""

    #: Messages pending after their deadline: their jobs are dead, or no worker runs.
    overdue: int
    #: The hopeless ones among them, which are marked as failed now.
    given_up: int
    #: Spool objects that no worker will send any more, deleted now.
    orphaned_bodies: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Pass over all accounts and the spool."""

    accounts: AccountIds
    log: MessageLog
    messages: Messages
    spool: Spool
    clock: Clock

    def run(self) -> SweepReport:
        """Make one pass.

        Raises:
            ServiceError: `service_unavailable`; the next pass covers the same time again.
        """
        now = self.clock()
        overdue = given_up = 0
        for account_id in self.accounts.all_ids():
            overdue += sum(1 for _ in self._pending(account_id, now - OVERDUE))
            for message in self._pending(account_id, now - HOPELESS):
                overdue += 1
                given_up += self._give_up(message, now)
        return SweepReport(overdue, given_up, self._clear_spool(now))

    def _pending(self, account_id: str, until: datetime) -> Iterator[Message]:
        first, last = (round(at.timestamp() * 1000) for at in (until - TIME_RANGE, until))
        return (
            message for message in self.log.newest_first(account_id, first, last) if message.pending
        )

    def _give_up(self, message: Message, now: datetime) -> bool:
        """Mark a message as failed: it was never handed over, or no response came."""
        lease = message.lease
        if lease is None:
            event = Event(
                kind=EventKind.FAILED,
                at=now,
                code="expired",
                reason="The email could not be sent in time.",
            )
        elif now < lease.taken_at + EVENT_WAIT:
            return False
        else:
            event = uncertain_event(now)
        return self.messages.save(replace(message.with_events([event]), lease=None))

    def _clear_spool(self, now: datetime) -> int:
        orphans = [
            spooled for spooled in self.spool.all_before(now - SETTLED) if self._finished(spooled)
        ]
        for orphan in orphans:
            self.spool.delete(orphan.key)
        return len(orphans)

    def _finished(self, spooled: SpoolObject) -> bool:
        message = self.messages.get(spooled.account_id, spooled.message_id)
        return message is None or not message.pending

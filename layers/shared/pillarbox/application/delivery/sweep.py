"""Looking for what got stuck: told to the operator, and mended where that is safe.

No index is kept for it, which each mail would pay for: message ids sort by
time, so a pass reads the mail of two short stretches and nothing else.
Claims of idempotency keys need no sweep: one whose owner died is taken over by
the next request or expires, and holds up nothing meanwhile.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.delivery.deliver import EVENT_WAIT, RECORD_WAIT
from pillarbox.application.ports import AccountIds, Clock, MessageLog, Messages, Spool, SpoolObject
from pillarbox.domain.mail import MAX_DELIVERY_TIME
from pillarbox.domain.message import Event, EventKind, Message

#: A pass runs every hour; reading two makes up for one that did not.
STRETCH: Final = timedelta(hours=2)
#: After this the worker has given up every mail: its deadline is over.
OVERDUE: Final = MAX_DELIVERY_TIME + timedelta(hours=1)
#: An id may be a day older than its job, when a claim was taken over late.
HOPELESS: Final = OVERDUE + timedelta(hours=24)
#: A spooled mail is committed, or never will be, long before.
SETTLED: Final = RECORD_WAIT * 4


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a pass found; the names are those of the metrics."""

    #: Pending after their deadline: their jobs are dead, or the worker does not run.
    overdue: int
    #: Of these the hopeless, which are failed now.
    given_up: int
    #: Spooled bodies that nobody will send any more, deleted now.
    orphaned_bodies: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One pass over the accounts and the spool."""

    accounts: AccountIds
    log: MessageLog
    messages: Messages
    spool: Spool
    clock: Clock

    def run(self) -> SweepReport:
        """Look at everything once.

        Raises:
            ServiceError: `service_unavailable`; the next pass looks again.
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
        first, last = (round(at.timestamp() * 1000) for at in (until - STRETCH, until))
        return (
            message for message in self.log.newest_first(account_id, first, last) if message.pending
        )

    def _give_up(self, message: Message, now: datetime) -> bool:
        """Say how it ended: never handed over, or with an answer that never came."""
        lease = message.lease
        if lease is None:
            end = Event(
                kind=EventKind.FAILED,
                at=now,
                code="expired",
                reason="The mail could not be sent in time.",
            )
        elif now < lease.taken_at + EVENT_WAIT:
            return False
        else:
            end = Event(
                kind=EventKind.UNCERTAIN,
                at=now,
                code="delivery_uncertain",
                reason="The provider gave no answer; the mail may or may not have been sent.",
            )
        return self.messages.save(replace(message.with_events([end]), lease=None))

    def _clear_spool(self, now: datetime) -> int:
        orphans = [stored for stored in self.spool.all_before(now - SETTLED) if self._done(stored)]
        for orphan in orphans:
            self.spool.delete(orphan.key)
        return len(orphans)

    def _done(self, stored: SpoolObject) -> bool:
        message = self.messages.get(stored.account_id, stored.message_id)
        return message is None or not message.pending

"""Whether an email that waits in the queue must not be sent now: its sender was paused meanwhile.

Acceptance has just read the account. So an email that waited for seconds only is not checked, and
delivery at its usual speed costs no read more.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from pillarbox.application.ports import Clock, Directory
from pillarbox.domain.accounts.account import Account, QueuedMail
from pillarbox.domain.accounts.pause import PauseLevel, find_pause
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import Message, SendRoute

#: How long a held email waits, from the pause on or from its acceptance if that is later.
HOLD_TIME: Final = timedelta(hours=4)
#: An email that was queued so short a time ago was accepted by what its account says now.
_FRESH: Final = timedelta(seconds=10)
#: A held email is looked at again after this time at the latest.
_LOOK_AGAIN: Final = timedelta(minutes=10)
#: How long a process remembers an account, and how many.
_REMEMBERED: Final = timedelta(seconds=10)
_MAX_ACCOUNTS: Final = 1_000


@dataclass(slots=True)
class Holds:
    """Finds the emails that are held. Threads may share it."""

    directory: Directory
    clock: Clock
    _accounts: dict[str, tuple[datetime, Account | None]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def find(self, job: Job, message: Message) -> timedelta | None:
        """Return how long an email must wait until another look; None if it may be sent.

        Nothing to wait for means that it must not be sent any more: it has waited for too long, or
        the operator drops the emails of its account. Notices of the service are never held.

        Raises:
            ServiceError: `service_unavailable`.
        """
        now = self.clock()
        is_notice = message.origin.route is SendRoute.NOTICE
        is_fresh = job.due_at is None and now - job.queued_at < _FRESH
        if is_notice or is_fresh or now >= job.deadline:
            return None
        account = self._account(job.account_id, now)
        if account is None:
            return None
        if account.suspension and account.suspension.queued is not QueuedMail.SEND:
            since, until = account.suspension.at, None
            if account.suspension.queued is QueuedMail.DROP:
                return timedelta(0)
        else:
            origin = message.origin
            pause = find_pause(
                account.pauses, key_id=origin.key_id, template=origin.template, now=now
            )
            if pause is None or pause.level_for(origin.template) is not PauseLevel.STOP:
                return None
            since, until = pause.since, pause.until
        ends = max(since, job.due_at or message.created_at) + HOLD_TIME
        next_look = min(ends, until or ends, job.deadline, now + _LOOK_AGAIN)
        return max(next_look - now, timedelta(0))

    def _account(self, account_id: str, now: datetime) -> Account | None:
        with self._lock:
            read_at, account = self._accounts.get(account_id, (None, None))
        if read_at is not None and now - read_at < _REMEMBERED:
            return account
        account = self.directory.look_up(account_id).account
        with self._lock:
            if len(self._accounts) >= _MAX_ACCOUNTS:
                self._accounts.clear()
            self._accounts[account_id] = (now, account)
        return account

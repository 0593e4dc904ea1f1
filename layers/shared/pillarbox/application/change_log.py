"""Note in the log of an account what its members, its keys and the service itself change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account_log import AccountAction, LogEntry, SettingValue
from pillarbox.domain.ids import named_id, new_id


class LogEntries(Protocol):
    """The entries of the logs of accounts."""

    def add(self, account_id: str, entry: LogEntry) -> None:
        """Store a new entry; of a call that is stored already, count it once more."""


@dataclass(frozen=True, slots=True)
class ChangeLog:
    """Adds an entry after a change.

    They are two writes. A change whose entry cannot be written stays, and its request gets a 503.
    """

    entries: LogEntries
    clock: Clock

    def note(
        self,
        account_id: str,
        action: AccountAction,
        subject: str,
        *,
        by: str,
        changes: Mapping[str, tuple[SettingValue, SettingValue]] | None = None,
    ) -> None:
        """Add an entry about something that the account has.

        Args:
            subject: what it was done to, as people know it.
            by: the address of a member, the id of a key, `COMMAND` or `SERVICE`.
            changes: what changed, with the value before and the value after.
        """
        now = self.clock()
        entry_id = new_id(now)
        if action.is_call:
            # Equal calls of a minute have one entry.
            entry_id = named_id(f"{action} {by} {subject}", now.replace(second=0, microsecond=0))
        entry = LogEntry(
            entry_id=str(entry_id),
            at=now,
            by=by,
            action=action,
            subject=subject,
            changes=changes or {},
        )
        self.entries.add(account_id, entry)

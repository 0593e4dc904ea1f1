"""A fake of the logs of accounts."""

from dataclasses import dataclass, field

from pillarbox.domain.accounts.account_log import LogEntry


@dataclass
class FakeLogEntries:
    """Implements `change_log.LogEntries`, for one account."""

    entries: list[LogEntry] = field(default_factory=list)

    def add(self, _: str, entry: LogEntry) -> None:
        self.entries.append(entry)

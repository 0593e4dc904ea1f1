"""Move the API keys that older releases wrote from the first table to `Credentials`.

It may run while mail is accepted, more than once at a time, and again after an interruption.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from pillarbox.domain.errors import ServiceError

#: Longer than one read of a key and its account can take, with all its repetitions, in seconds.
_READ_TIME: Final = 120.0


class FormerKeys(Protocol):
    """The keys in the first table."""

    def account_ids(self) -> Iterable[str]:
        """Return the ids of all accounts."""
        ...

    def unmarked(self) -> list[str]:
        """Return the ids of the accounts that are not marked as moved."""
        ...

    def count(self, account_id: str) -> int:
        """Count the keys of an account that the first table has."""
        ...

    def move(self, account_id: str) -> int:
        """Move the keys of an account; return their number.

        Each key works, and each revocation takes effect, at every moment.

        Raises:
            ServiceError: `service_unavailable`: a copy differs. Its original stays.
        """
        ...

    def mark(self, account_id: str) -> None:
        """Mark an account as moved: its keys are read only in `Credentials` from now on."""
        ...


@dataclass(frozen=True, slots=True)
class MigrationResult:
    """What a migration did."""

    moved_keys: int
    marked_accounts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMigration:
    """Moves keys, and marks accounts that have no key in the first table."""

    records: FormerKeys
    pause: Callable[[float], None]

    def run(self, report: Callable[[int], None]) -> MigrationResult:
        """Move every key; `report` receives the number of keys moved so far.

        A request may have read a key before it moved, and may read its account later. So the
        accounts are marked when such a request has ended.

        Raises:
            ServiceError: `service_unavailable`: a copy differs, or the first table has new keys.
        """
        unmarked, moved = self.records.unmarked(), 0
        for account_id in self.records.account_ids():
            moved += self.records.move(account_id)
            report(moved)
        if unmarked:
            self.pause(_READ_TIME)
        for account_id in unmarked:
            self.records.mark(account_id)
        left = sum(map(self.records.count, self.records.account_ids()))
        if left:
            raise ServiceError(
                "service_unavailable",
                f"An older release of this command created {left} keys meanwhile. They do not work"
                " yet. Update the command on every computer, then run this again.",
            )
        return MigrationResult(moved, len(unmarked))

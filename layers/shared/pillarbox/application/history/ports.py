"""The ports of the history, as Protocols; see `application/ports.py` for their errors."""

from collections.abc import Iterable
from typing import Protocol

from pillarbox.domain.message import Status
from pillarbox.domain.statistics import Granularity, IndexEntry, Rollup, TimeRange


class Ledger(Protocol):
    """An account's index entries, one for each message, and rollups of them.

    The ledger lags behind the records by seconds. An hour, day or month has a
    rollup once it is over, which is when an entry of a later one exists.
    """

    def newest_entry_time(self, account_id: str) -> int | None:
        """Return when the newest message that has an entry was created."""
        ...

    def newest_entry(self, account_id: str, max_lag: int) -> IndexEntry | None:
        """Return the newest entry of the slowest shard; None if a shard has no entries.

        The changes of one shard arrive in order, but another shard may be ahead of it. A
        shard that is more than `max_lag` milliseconds behind counts as having no messages.
        """
        ...

    def entries_created(self, account_id: str, created: TimeRange) -> list[IndexEntry]:
        """Return the entries of the messages created in a time range, in any order."""
        ...

    def entries_updated(
        self, account_id: str, status: Status, updated: TimeRange, created: TimeRange
    ) -> list[IndexEntry]:
        """Return the entries of a status by both their last update and creation, in any order."""
        ...

    def rollups(self, account_id: str, granularity: Granularity, starts: TimeRange) -> list[Rollup]:
        """Return the rollups of the buckets that start in a time range, in any order.

        A bucket without messages may have none.
        """
        ...

    def put_entries(self, account_id: str, entries: Iterable[IndexEntry]) -> None:
        """Bring the entries of some messages up to date.

        Of several entries of a message the newest revision counts. The call may
        be repeated, in whole or in part and in any order: an older revision
        never replaces a newer one.
        """
        ...

    def roll_up(self, account_id: str, granularity: Granularity, start: int) -> None:
        """Recompute the rollup of a bucket from its entries or its finer rollups."""
        ...


class LedgerAudit(Protocol):
    """Compares an account's ledger with the entries that it should have."""

    def entries(self, account_id: str) -> Iterable[IndexEntry]:
        """Return all entries that the ledger has by creation."""
        ...

    def count_differences(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        """Return the number of items that differ from what these entries make, rollups included."""
        ...

    def repair(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        """Write the items that these entries make, and return the number of those that differed.

        Raises:
            ServiceError: `service_unavailable` when the ledger changed meanwhile. The items
                written before that are correct.
        """
        ...

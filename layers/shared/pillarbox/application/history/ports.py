"""What looking back needs of the world, as Protocols; see `ports.py` for their errors."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from pillarbox.domain.message import Status
from pillarbox.domain.statistics import Granularity, IndexEntry, Rollup

#: From a moment to before another, in milliseconds since 1970.
type TimeRange = tuple[int, int]


class Ledger(Protocol):
    """What is known of messages in small: an entry for each, and tallies of the entries.

    It follows the records by seconds. Tallies are there for hours, days and
    months that are over, which is when an entry of a later one is there.
    """

    def newest_entry(self, account_id: str) -> int | None:
        """When the newest message that has an entry was created."""
        ...

    def entries_created(self, account_id: str, since: int, until: int) -> list[IndexEntry]:
        """The entries of messages created from `since` to before `until`, in any order."""
        ...

    def entries_updated(
        self, account_id: str, status: Status, since: int, until: int, created: TimeRange
    ) -> list[IndexEntry]:
        """The entries of a status last updated from `since` to before `until`, in any order.

        Only those of messages created in a stretch: from its first to before its second moment.
        """
        ...

    def rollups(
        self, account_id: str, level: Granularity, since: int, until: int
    ) -> Mapping[int, Rollup]:
        """The tallies of buckets beginning from `since` to before `until`, by beginning."""
        ...

    def put_entries(self, account_id: str, images: Iterable[IndexEntry]) -> None:
        """Bring the entries of some messages up to date; of several images the newest counts.

        Safe to repeat, whole or in part and in any order: an entry never goes back.
        """
        ...

    def roll_up(self, account_id: str, level: Granularity, start: int) -> None:
        """Tally a bucket anew from the entries, or the finer tallies, that it is made of."""
        ...


class LedgerAudit(Protocol):
    """The ledger held against the messages that it is about."""

    def entries(self, account_id: str) -> Iterable[IndexEntry]:
        """Everything that is entered by creation."""
        ...

    def count_wrong(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        """How many of its items, tallies included, are not what these entries make."""
        ...

    def repair(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        """Make it what these entries make, and give the number of items that were not.

        Raises:
            ServiceError: `service_unavailable`, when it changed meanwhile; what is
                written by then is right.
        """
        ...

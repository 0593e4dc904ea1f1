"""The ports of the history, as Protocols; see `application/ports.py` for their errors."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import (
    Granularity,
    IndexEntry,
    Rollup,
    SearchTerm,
    Subset,
    TimeRange,
)


class ForEach(Protocol):
    """Calls a function for each argument, possibly for several at the same time.

    The results are in the order of the arguments.
    """

    def __call__[T, R](self, call: Callable[[T], R], arguments: Sequence[T], /) -> Iterable[R]: ...


class Ledger(Protocol):
    """An account's index entries, one for each message, and rollups of them.

    The ledger lags behind the records by seconds. An hour, day or month has a
    rollup once it is over, which is when an entry of a later one exists.
    """

    def newest_entry_time(self, account_id: str) -> int | None:
        """Return when the newest message that has an entry was created."""

    def newest_entry(self, account_id: str, max_lag: int) -> IndexEntry | None:
        """Return the newest entry of the slowest shard; None if a shard has no entries.

        The changes of one shard arrive in order, but another shard may be ahead of it. A
        shard that is more than `max_lag` milliseconds behind counts as having no messages.
        """

    def entries_created(self, account_id: str, created: TimeRange) -> list[IndexEntry]:
        """Return the entries of the messages created in a time range, in any order."""

    def entries_updated(
        self, account_id: str, status: Status, updated: TimeRange, created: TimeRange
    ) -> list[IndexEntry]:
        """Return the entries of a status by both their last update and creation, in any order."""

    def rollups(
        self,
        account_id: str,
        granularity: Granularity,
        starts: TimeRange,
        subset: Subset | None = None,
    ) -> list[Rollup]:
        """Return the rollups of the buckets that start in a time range, in any order.

        They count the messages of a subset, or all. A bucket without messages may have none.
        """

    def put_entries(self, account_id: str, entries: Iterable[IndexEntry]) -> None:
        """Bring the entries of some messages up to date.

        Of several entries of a message the newest revision counts. The call may
        be repeated, in whole or in part and in any order: an older revision
        never replaces a newer one.
        """

    def roll_up(self, account_id: str, granularity: Granularity, start: int) -> bool:
        """Recompute the rollups of a bucket from its entries or its finer rollups.

        They are that of all messages, and those of the subsets. Return whether a stored one was
        different.
        """


class LedgerAudit(Protocol):
    """Compares an account's ledger with the entries that it should have."""

    def entries(self, account_id: str) -> Iterable[IndexEntry]:
        """Return all entries that the ledger has by creation."""

    def count_differences(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        """Return the number of items that differ from what these entries make, rollups included."""

    def repair(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        """Write the items that these entries make, and return the number of those that differed.

        Raises:
            ServiceError: `service_unavailable` when the ledger changed meanwhile. The items
                written before that are correct.
        """

    def find_wrong(
        self, account_id: str, created: TimeRange, entries: Mapping[UUID, IndexEntry]
    ) -> set[UUID]:
        """Compare the messages created in a time range with the entries that they make.

        Return the ids whose entries are not exactly these: one is missing, is different, is in
        a list where it does not belong, or has no message.
        """

    def correct(
        self, account_id: str, created: TimeRange, entries: Mapping[UUID, IndexEntry | None]
    ) -> None:
        """Store the entries of some messages created in a time range; None removes one.

        An entry of a newer revision stays. A change of the same message that the stream applies
        at the same moment can leave a wrong copy, which the next comparison finds.

        Raises:
            ServiceError: `service_unavailable`; a part may have been stored.
        """


@dataclass(frozen=True, slots=True)
class SearchEntry:
    """What the search index stores: a message that can be found by a term."""

    message_id: UUID
    term: SearchTerm


class SearchIndex(Protocol):
    """An account's messages by recipient and by tag. Like the ledger it lags by seconds."""

    def find(
        self, account_id: str, term: SearchTerm, created: TimeRange, limit: int, shards: int | None
    ) -> list[UUID]:
        """Return the newest messages with a term that were created in a time range.

        For how addresses begin, return any `limit` messages and ignore the time range. `shards`
        is as in `MessageLog.newest_first`.
        """

    def find_all(self, account_id: str, term: SearchTerm, shards: int) -> Iterable[UUID]:
        """Return all messages with a term, in any order."""

    def copies(self, account_id: str, shards: int) -> Iterable[tuple[UUID, UUID]]:
        """Return all messages that repeat the content of another one: that one, and the copy."""

    def change(self, account_id: str, changes: Mapping[SearchEntry, bool]) -> None:
        """Put (True) and remove (False) entries.

        The call may be repeated, in whole or in part.
        """


class UnreadableChange(ValueError):
    """A change of a message that this version of the service cannot read.

    Args:
        created: when the message was created, in milliseconds; None if its id is unreadable too.
    """

    def __init__(self, account_id: str, created: int | None) -> None:
        super().__init__("a change of a message cannot be read")
        self.account_id = account_id
        self.created = created


@dataclass(frozen=True, slots=True)
class RebuildMark:
    """An hour of an account's messages whose statistics lack a change.

    `hour` is its start in milliseconds.
    """

    account_id: str
    hour: int
    marked_at: datetime


class RebuildMarks(Protocol):
    """The hours that the sweep has to rebuild."""

    def put(self, mark: RebuildMark) -> None:
        """Mark an hour, also if it is marked already."""

    def all(self) -> Iterable[RebuildMark]:
        """Read all marks."""

    def remove(self, mark: RebuildMark) -> None:
        """Remove a mark, unless the hour was marked again since then."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check of a time range, from its newest messages on.

    `rest` is the end of the part that is still to be checked, or None.
    """

    repaired: int
    rest: int | None


class StatisticsCheck(Protocol):
    """Compares hours of the statistics with the records of the messages, and repairs them."""

    def check_ended_hours(
        self, account_id: str, at: datetime, until: int | None = None
    ) -> CheckResult:
        """Check the last hours that ended before a moment, or their part before `until`."""

    def rebuild_hour(self, mark: RebuildMark, until: int | None = None) -> CheckResult:
        """Check a marked hour, or its part before `until`, and remove the mark at the end."""

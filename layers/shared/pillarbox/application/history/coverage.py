"""All messages of a time range in the smallest form: records, index entries and rollups.

The newest messages are read from their records, so that a client sees its own
sends at once. The ledger, which lags by seconds, supplies the older ones:
rollups for whole hours, days and months, and index entries for both ends of the
range.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain
from typing import Final
from uuid import UUID

from pillarbox.application.history.ports import ForEach, Ledger
from pillarbox.application.history.tuning import Tuning
from pillarbox.application.message_log import MessageLog
from pillarbox.application.ports import Clock
from pillarbox.domain.messages.message import Message, Status
from pillarbox.domain.messages.statistics import (
    Granularity,
    IndexEntry,
    Rollup,
    Subset,
    TimeRange,
    index_entry,
)
from pillarbox.domain.timing import milliseconds

_NEVER: Final = TimeRange(0, 0)


@dataclass(slots=True)
class Coverage:
    """Every message of a time range, once: as an index entry or counted in a rollup."""

    #: Entries of the messages created after the rollups.
    newest_entries: list[IndexEntry] = field(default_factory=list)
    #: The rollups, newest first.
    rollups: list[Rollup] = field(default_factory=list)
    #: Entries of the messages created before the rollups.
    oldest_entries: list[IndexEntry] = field(default_factory=list)
    #: The time range of all rollups together.
    rolled_up: TimeRange = _NEVER
    #: The records that were read for some of the newest entries.
    recent_records: dict[UUID, Message] = field(default_factory=dict)

    def entries(self, statuses: frozenset[Status]) -> list[IndexEntry]:
        """Return the entries that have one of the statuses, in no order."""
        return [
            entry
            for entry in (*self.newest_entries, *self.oldest_entries)
            if entry.status in statuses
        ]

    def count_error(self, error: str) -> int:
        """Return the number of messages whose current failure has a code."""
        entries = sum(e.error == error for e in (*self.newest_entries, *self.oldest_entries))
        return entries + sum(rollup.errors[error] for rollup in self.rollups)

    def count(self, statuses: frozenset[Status]) -> int:
        """Return the number of messages that have one of the statuses."""
        in_rollups = sum(rollup.count(statuses) for rollup in self.rollups)
        return in_rollups + len(self.entries(statuses))


class CoverageReader:
    """Reads coverages, and the finer rollups of those that they contain."""

    def __init__(
        self, log: MessageLog, ledger: Ledger, clock: Clock, tuning: Tuning, *, for_each: ForEach
    ) -> None:
        self._for_each = for_each
        self._log = log
        self._ledger = ledger
        self._clock = clock
        self._tuning = tuning

    def read(
        self,
        account_id: str,
        created: TimeRange,
        coarsest: Granularity,
        shards: int | None = None,
        subset: Subset | None = None,
    ) -> Coverage:
        """Cover the messages created in a time range, with rollups up to a granularity.

        With a subset, cover only its messages. It has rollups of its own and no other entries.
        """
        newest_entry, indexed_until = read_newest_entry(self._ledger, account_id, self._tuning)
        recent, until = self._read_recent(account_id, created, indexed_until, shards)

        def entries_created(time_range: TimeRange) -> list[IndexEntry]:
            entries = self._ledger.entries_created(account_id, time_range)
            return [entry for entry in entries if entry.is_in(subset)]

        coverage = Coverage(
            newest_entries=[e for e in map(index_entry, recent) if e.is_in(subset)],
            recent_records={message.message_id: message for message in recent},
        )
        indexed = TimeRange(created.since, until)
        if newest_entry is None or indexed.is_empty:
            return coverage
        rolled_up = TimeRange(
            Granularity.HOUR.ceiling(indexed.since), _rolled_up_until(indexed.until, newest_entry)
        )
        if rolled_up.is_empty:
            coverage.newest_entries += entries_created(indexed)
            return coverage
        after = TimeRange(rolled_up.until, indexed.until)
        before = TimeRange(indexed.since, rolled_up.since)
        newest, oldest = self._for_each(entries_created, (after, before))
        coverage.newest_entries += newest
        coverage.oldest_entries += oldest
        coverage.rolled_up = rolled_up
        rollups = self._for_each(
            lambda part: self._read_granularity(account_id, *part, subset),
            _fewest_rollups(coarsest, rolled_up),
        )
        coverage.rollups = [*chain.from_iterable(rollups)]
        return coverage

    def finer_rollups(
        self, account_id: str, rollup: Rollup, subset: Subset | None = None
    ) -> list[Rollup]:
        """Read the finer rollups of a day or a month, newest first."""
        finer = rollup.granularity.finer or Granularity.HOUR
        return self._read_granularity(account_id, finer, rollup.created, subset)

    def _read_recent(
        self,
        account_id: str,
        created: TimeRange,
        indexed_until: int,
        shards: int | None,
    ) -> tuple[list[Message], int]:
        """Read the records of messages that may have no entry yet or are still changing.

        Return them, and the time before which to read the ledger.
        """
        settled_until = milliseconds(self._clock() - self._tuning.settling_time)
        ledger_until = min(indexed_until, settled_until)
        since = max(created.since, ledger_until)
        recent: list[Message] = []
        for message in self._log.newest_first(account_id, since, created.until, shards):
            at = milliseconds(message.created_at)
            if len(recent) >= self._tuning.max_recent_records and at < indexed_until:
                # More messages of this millisecond may follow: leave all of them to the ledger.
                later = [record for record in recent if milliseconds(record.created_at) > at]
                return later, at + 1
            recent.append(message)
        return recent, min(created.until, ledger_until)

    def _read_granularity(
        self,
        account_id: str,
        granularity: Granularity,
        created: TimeRange,
        subset: Subset | None = None,
    ) -> list[Rollup]:
        rollups = self._ledger.rollups(account_id, granularity, created, subset)
        return sorted(rollups, key=lambda rollup: rollup.start, reverse=True)


def read_newest_entry(
    ledger: Ledger, account_id: str, tuning: Tuning
) -> tuple[IndexEntry | None, int]:
    """Return the newest entry, and the time before which all messages have an entry."""
    millisecond = timedelta(milliseconds=1)
    newest = ledger.newest_entry(account_id, tuning.max_stream_lag // millisecond)
    return newest, newest.created - tuning.max_write_delay // millisecond if newest else 0


def _fewest_rollups(
    granularity: Granularity, created: TimeRange
) -> list[tuple[Granularity, TimeRange]]:
    """Divide a time range, which starts and ends on the hour, into the fewest buckets.

    Return the parts with the granularity of each, newest first.
    """
    finer = granularity.finer
    aligned = TimeRange(granularity.ceiling(created.since), granularity.start(created.until))
    if aligned.is_empty:
        return _fewest_rollups(finer, created) if finer and not created.is_empty else []
    if finer is None:
        return [(granularity, aligned)]
    after = TimeRange(aligned.until, created.until)
    before = TimeRange(created.since, aligned.since)
    return [
        *_fewest_rollups(finer, after),
        (granularity, aligned),
        *_fewest_rollups(finer, before),
    ]


def _rolled_up_until(until: int, newest: IndexEntry) -> int:
    """Return up to when rollups count the messages created before a time.

    The hour of the newest entry has rollups of ten seconds if its messages are in shards.
    """
    until = min(until, newest.created)
    hour = Granularity.HOUR.start(until)
    if newest.is_sharded and newest.created in TimeRange(hour, Granularity.HOUR.end(hour)):
        return Granularity.TEN_SECONDS.start(until)
    return hour


def sort_by_creation(entries: Iterable[IndexEntry]) -> list[IndexEntry]:
    """Sort entries by creation, newest first."""
    return sorted(entries, key=lambda entry: entry.message_id.int, reverse=True)


def sort_by_update(entries: Iterable[IndexEntry]) -> list[IndexEntry]:
    """Sort entries by their last update, newest first; equal ones by creation."""
    return sorted(entries, key=lambda entry: (entry.updated, entry.message_id.int), reverse=True)

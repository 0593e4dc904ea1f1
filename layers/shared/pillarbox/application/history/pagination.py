"""Find a page in a coverage: skip by rollups, then read only the entries near the page."""

from collections import Counter
from collections.abc import Mapping

from pillarbox.application.history.coverage import (
    Coverage,
    CoverageReader,
    sort_by_creation,
    sort_by_update,
)
from pillarbox.application.history.ports import Ledger
from pillarbox.application.history.tuning import Tuning
from pillarbox.domain.message import Status
from pillarbox.domain.statistics import END_OF_TIME, Granularity, IndexEntry, Rollup, TimeRange


class Pagination:
    """Finds pages in the coverages of one account."""

    def __init__(
        self, account_id: str, ledger: Ledger, reader: CoverageReader, tuning: Tuning
    ) -> None:
        self._account_id = account_id
        self._ledger = ledger
        self._reader = reader
        self._tuning = tuning

    def by_creation(
        self, coverage: Coverage, statuses: frozenset[Status], skip: int, limit: int
    ) -> list[IndexEntry]:
        """Return the page in the order of creation, newest first."""
        page = _PageWindow(skip, limit)
        page.add(sort_by_creation(e for e in coverage.newest_entries if e.status in statuses))
        remaining = [*reversed(coverage.rollups)]
        while remaining and not page.is_full:
            rollup = remaining.pop()
            if page.skip(rollup.count(statuses)):
                continue
            entries = self._entries(rollup, statuses)
            if entries is None:
                remaining += reversed(self._reader.finer_rollups(self._account_id, rollup))
            else:
                page.add(sort_by_creation(entries))
        page.add(sort_by_creation(e for e in coverage.oldest_entries if e.status in statuses))
        return page.entries

    def by_update(
        self, coverage: Coverage, statuses: frozenset[Status], skip: int, limit: int
    ) -> list[IndexEntry]:
        """Return the page in the order of the last update, newest first.

        Narrow the time range of updates that contains the page down to months,
        days and hours. At each step read finer rollups only for those buckets
        of creation whose messages have updates in the range.
        """
        entries, rollups = coverage.entries(statuses), coverage.rollups
        updated = TimeRange(0, END_OF_TIME)
        for granularity in (Granularity.MONTH, Granularity.DAY, Granularity.HOUR):
            counts = Counter(granularity.start(e.updated) for e in entries if e.updated in updated)
            for rollup in rollups:
                for _, start, n in rollup.counts(statuses, updated):
                    counts[granularity.start(start)] += n
            updated, skip = _narrow(granularity, counts, skip, limit)
            in_range = sum(n for start, n in counts.items() if start in updated)
            if in_range <= self._tuning.max_entries or granularity is Granularity.HOUR:
                break
            rollups = [
                part
                for rollup in rollups
                if any(rollup.counts(statuses, updated))
                for part in self._split(rollup, granularity)
            ]
        candidates = [entry for entry in entries if entry.updated in updated]
        rolled_up = {
            status for rollup in rollups for status, *_ in rollup.counts(statuses, updated)
        }
        for status in rolled_up:
            candidates += self._ledger.entries_updated(
                self._account_id, status, updated, coverage.rolled_up
            )
        return sort_by_update(candidates)[skip : skip + limit]

    def by_status(
        self, coverage: Coverage, statuses: frozenset[Status], skip: int, limit: int
    ) -> list[IndexEntry]:
        """Return the page in descending order of the statuses' names, then by update."""
        page: list[IndexEntry] = []
        for status in sorted(statuses, reverse=True):
            only = frozenset({status})
            count = coverage.count(only)
            if skip < count and len(page) < limit:
                page += self.by_update(coverage, only, skip, limit - len(page))
            skip = max(skip - count, 0)
        return page

    def _entries(self, rollup: Rollup, statuses: frozenset[Status]) -> list[IndexEntry] | None:
        """Read the entries of a rollup, or return None if finer rollups cost less to read."""
        count, total = rollup.count(statuses), rollup.total
        rare = count * self._tuning.rare_status_ratio < total
        to_read = count if rare else total
        if to_read > self._tuning.max_entries and rollup.is_divisible:
            return None
        if not rare:
            entries = self._ledger.entries_created(self._account_id, rollup.created)
            return [entry for entry in entries if entry.status in statuses]
        return [
            entry
            for status in statuses
            for updated in _update_ranges(rollup, status)
            for entry in self._ledger.entries_updated(
                self._account_id, status, updated, rollup.created
            )
        ]

    def _split(self, rollup: Rollup, granularity: Granularity) -> list[Rollup]:
        """Return the finer rollups of a rollup of this granularity, or a finer one unchanged."""
        if rollup.granularity is granularity:
            return self._reader.finer_rollups(self._account_id, rollup)
        return [rollup]


class _PageWindow:
    """Collects the entries of a page from entries that arrive in order."""

    def __init__(self, skip: int, limit: int) -> None:
        self._skip = skip
        self._limit = limit
        self.entries: list[IndexEntry] = []

    @property
    def is_full(self) -> bool:
        return len(self.entries) >= self._limit

    def skip(self, count: int) -> bool:
        """Skip the next entries, this many, if all of them are before the page."""
        if count > self._skip:
            return False
        self._skip -= count
        return True

    def add(self, entries: list[IndexEntry]) -> None:
        """Add those of the next entries that are on the page."""
        room = self._limit - len(self.entries)
        self.entries += entries[self._skip : self._skip + room]
        self._skip = max(self._skip - len(entries), 0)


def _narrow(
    granularity: Granularity, counts: Mapping[int, int], skip: int, limit: int
) -> tuple[TimeRange, int]:
    """Return the time range of the buckets that contain a page, and what to skip in it.

    Args:
        granularity: that of the buckets.
        counts: start of a bucket -> number of messages; the newest bucket comes first.
        skip: the number of messages before the page.
        limit: the number of messages on the page.
    """
    since = until = 0
    for start in sorted(counts, reverse=True):
        if not until and counts[start] <= skip:
            skip -= counts[start]
            continue
        since, until = start, until or granularity.end(start)
        limit -= counts[start]
        if limit + skip <= 0:
            break
    return TimeRange(since, until), skip


def _update_ranges(rollup: Rollup, status: Status) -> list[TimeRange]:
    """Return when the messages of a status were updated, with adjacent buckets joined."""
    ranges: list[TimeRange] = []
    for start in sorted(s for counted, s in rollup.by_status_and_update if counted is status):
        end = rollup.granularity.end(start)
        if ranges and ranges[-1].until == start:
            ranges[-1] = TimeRange(ranges[-1].since, end)
        else:
            ranges.append(TimeRange(start, end))
    return ranges

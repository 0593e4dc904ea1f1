"""Find a page in a coverage: skip by rollups, then read only the entries near the page."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from pillarbox.application.history.coverage import (
    Coverage,
    CoverageReader,
    sort_by_creation,
    sort_by_update,
)
from pillarbox.application.history.ports import ForEach, Ledger
from pillarbox.application.history.tuning import Tuning
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import (
    END_OF_TIME,
    Granularity,
    IndexEntry,
    Rollup,
    Subset,
    TimeRange,
)

_ALWAYS: Final = TimeRange(0, END_OF_TIME)
#: The statuses of messages that have an error.
_FAILURES: Final = frozenset({Status.BOUNCED, Status.COMPLAINED, Status.FAILED})


class Pagination:
    """Finds pages in the coverages of one account.

    The counts of the rollups tell which of them have messages of the page. What a step needs of
    each of these is read at the same time.
    """

    def __init__(  # noqa: PLR0913  its ports, and whose messages
        self,
        account_id: str,
        ledger: Ledger,
        reader: CoverageReader,
        tuning: Tuning,
        *,
        for_each: ForEach,
        subset: Subset | None = None,
    ) -> None:
        self._account_id = account_id
        self._ledger = ledger
        self._reader = reader
        self._tuning = tuning
        self._for_each = for_each
        self._subset = subset

    def by_creation(
        self, coverage: Coverage, statuses: frozenset[Status], skip: int, limit: int
    ) -> list[IndexEntry]:
        """Return the page in the order of creation, newest first."""
        page = _PageWindow(skip, limit)
        page.add(sort_by_creation(e for e in coverage.newest_entries if e.status in statuses))
        remaining = coverage.rollups
        while remaining and not page.is_full:
            reached, remaining = page.reach(remaining, lambda rollup: rollup.count(statuses))
            if coarse := [rollup for rollup in reached if self._is_coarse(rollup, statuses)]:
                remaining = [*self._divide(reached, coarse), *remaining]
                continue
            for entries in self._for_each(lambda rollup: self._entries(rollup, statuses), reached):
                page.add(sort_by_creation(entries))
        page.add(sort_by_creation(e for e in coverage.oldest_entries if e.status in statuses))
        return page.entries

    def by_error(self, coverage: Coverage, error: str, skip: int, limit: int) -> list[IndexEntry]:
        """Return the page of the messages with an error, in the order of creation, newest first.

        Rollups count each error. Failures are few, so the entries of a rollup are found by status.
        """
        page = _PageWindow(skip, limit)
        page.add(sort_by_creation(e for e in coverage.newest_entries if e.error == error))
        remaining = coverage.rollups
        while remaining and not page.is_full:
            reached, remaining = page.reach(remaining, lambda rollup: rollup.errors[error])
            coarse = [
                rollup
                for rollup in reached
                if rollup.is_divisible
                and (self._subset or rollup.count(_FAILURES) > self._tuning.max_entries)
            ]
            if coarse:
                remaining = [*self._divide(reached, coarse), *remaining]
                continue
            read = self._for_each(lambda each: self._updated(each, _FAILURES, _ALWAYS), reached)
            for entries in read:
                page.add(
                    sort_by_creation(
                        e for e in entries if e.error == error and e.is_in(self._subset)
                    )
                )
        page.add(sort_by_creation(e for e in coverage.oldest_entries if e.error == error))
        return page.entries

    def by_update(
        self, coverage: Coverage, statuses: frozenset[Status], skip: int, limit: int
    ) -> list[IndexEntry]:
        """Return the page in the order of the last update, newest first.

        Narrow the time range of updates that contains the page down to months,
        days and hours. At each step read finer rollups only for those buckets
        of creation whose messages have updates in the range.
        """
        entries = coverage.entries(statuses)
        rollups = _unfold(coverage.rollups, statuses, entries)
        updated = _ALWAYS
        for granularity in (Granularity.MONTH, Granularity.DAY, Granularity.HOUR):
            counts = Counter(granularity.start(e.updated) for e in entries if e.updated in updated)
            for rollup in rollups:
                for _, start, n in rollup.counts(statuses, updated):
                    counts[granularity.start(start)] += n
            updated, skip = _narrow(granularity, counts, skip, limit)
            in_range = sum(n for start, n in counts.items() if start in updated)
            is_short = self._subset is None and in_range <= self._tuning.max_entries
            if is_short or granularity is Granularity.HOUR:
                break
            rollups = [rollup for rollup in rollups if any(rollup.counts(statuses, updated))]
            coarse = [rollup for rollup in rollups if rollup.granularity is granularity]
            rollups = _unfold(self._divide(rollups, coarse), statuses, entries)
        candidates = [entry for entry in entries if entry.updated in updated]
        if self._subset is not None:
            read = self._for_each(lambda each: self._in_subset(each, statuses, updated), rollups)
        else:
            rolled_up = {
                status for rollup in rollups for status, *_ in rollup.counts(statuses, updated)
            }
            read = self._for_each(
                lambda status: self._ledger.entries_updated(
                    self._account_id, status, updated, coverage.rolled_up
                ),
                [*rolled_up],
            )
        candidates += chain.from_iterable(read)
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

    def _is_coarse(self, rollup: Rollup, statuses: frozenset[Status]) -> bool:
        """Return whether finer rollups cost less to read than the entries of a rollup."""
        if rollup.has_entries or not rollup.is_divisible:
            return False
        # How many messages the account has in the time of a subset's rollup is not known.
        if self._subset is not None:
            return True
        is_rare = self._is_rare(rollup, statuses, _ALWAYS)
        to_read = rollup.count(statuses) if is_rare else rollup.total
        return to_read > self._tuning.max_entries

    def _is_rare(self, rollup: Rollup, statuses: frozenset[Status], updated: TimeRange) -> bool:
        count = sum(n for *_, n in rollup.counts(statuses, updated))
        return count * self._tuning.rare_status_ratio < rollup.total

    def _entries(self, rollup: Rollup, statuses: frozenset[Status]) -> list[IndexEntry]:
        """Return the entries of a rollup, which has or counts them."""
        if rollup.has_entries:
            return [entry for entry in rollup.entries if entry.status in statuses]
        if self._subset is not None:
            return self._in_subset(rollup, statuses, _ALWAYS)
        if self._is_rare(rollup, statuses, _ALWAYS):
            return self._updated(rollup, statuses, _ALWAYS)
        entries = self._ledger.entries_created(self._account_id, rollup.created)
        return [entry for entry in entries if entry.status in statuses]

    def _in_subset(
        self, rollup: Rollup, statuses: frozenset[Status], updated: TimeRange
    ) -> list[IndexEntry]:
        """Read those of the account's entries that the rollup of a subset counts."""
        if self._is_rare(rollup, statuses, updated):
            found = [e for e in self._updated(rollup, statuses, updated) if e.is_in(self._subset)]
            # Messages that were delivered at once have no key and template there.
            if len(found) >= sum(n for *_, n in rollup.counts(statuses, updated)):
                return found
        return [
            entry
            for entry in self._ledger.entries_created(self._account_id, rollup.created)
            if entry.is_in(self._subset) and entry.status in statuses and entry.updated in updated
        ]

    def _updated(
        self, rollup: Rollup, statuses: frozenset[Status], updated: TimeRange
    ) -> list[IndexEntry]:
        """Read the entries of the time of a rollup by status and update."""
        return [
            entry
            for status in statuses
            for in_range in _update_ranges(rollup, status, updated)
            for entry in self._ledger.entries_updated(
                self._account_id, status, in_range, rollup.created
            )
        ]

    def _divide(self, rollups: Sequence[Rollup], coarse: Sequence[Rollup]) -> list[Rollup]:
        """Return rollups in their order, with the finer ones in the place of coarse ones."""
        read = self._for_each(
            lambda rollup: self._reader.finer_rollups(self._account_id, rollup, self._subset),
            coarse,
        )
        finer = dict(zip((rollup.start for rollup in coarse), read, strict=True))
        return [part for rollup in rollups for part in finer.get(rollup.start, [rollup])]


class _PageWindow:
    """Collects the entries of a page from entries that arrive in order."""

    def __init__(self, skip: int, limit: int) -> None:
        self._skip = skip
        self._limit = limit
        self.entries: list[IndexEntry] = []

    @property
    def is_full(self) -> bool:
        return len(self.entries) >= self._limit

    def reach(
        self, rollups: Sequence[Rollup], count: Callable[[Rollup], int]
    ) -> tuple[list[Rollup], list[Rollup]]:
        """Return the next rollups that have entries of the page, by their counts, and those after.

        Skip the entries of the rollups before the page.
        """
        counts = [count(rollup) for rollup in rollups]
        first = 0
        while first < len(counts) and counts[first] <= self._skip:
            self._skip -= counts[first]
            first += 1
        last, missing = first, self._skip + self._limit - len(self.entries)
        while last < len(counts) and missing > 0:
            missing -= counts[last]
            last += 1
        reached = [rollup for rollup in rollups[first:last] if count(rollup)]
        return reached, [*rollups[last:]]

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


def _unfold(
    rollups: Iterable[Rollup], statuses: frozenset[Status], entries: list[IndexEntry]
) -> list[Rollup]:
    """Add to the entries those that rollups have, and return the other rollups."""
    others: list[Rollup] = []
    for rollup in rollups:
        if rollup.has_entries:
            entries += [entry for entry in rollup.entries if entry.status in statuses]
        else:
            others.append(rollup)
    return others


def _update_ranges(rollup: Rollup, status: Status, updated: TimeRange) -> list[TimeRange]:
    """Return when the messages of a status were updated, with adjacent buckets joined."""
    ranges: list[TimeRange] = []
    for _, start, _ in sorted(rollup.counts(frozenset({status}), updated)):
        end = rollup.granularity.end(start)
        if ranges and ranges[-1].until == start:
            ranges[-1] = TimeRange(ranges[-1].since, end)
        else:
            ranges.append(TimeRange(start, end))
    return ranges

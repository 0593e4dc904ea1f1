"""Find a page of messages: skip by rollups, then read only the entries near the page.

The newest messages are read from their records, so that a client sees its own
sends at once. The ledger, which lags by seconds, supplies the older ones:
rollups for whole hours, days and months, and index entries for both ends of the
range.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from itertools import chain
from typing import Final
from uuid import UUID

from pillarbox.application.history.ports import ForEach, Ledger
from pillarbox.application.history.tuning import Tuning
from pillarbox.application.message_log import MessageLog
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.messages.message import Message, Status
from pillarbox.domain.messages.statistics import (
    END_OF_TIME,
    Granularity,
    IndexEntry,
    RecipientTerm,
    Rollup,
    SearchTerm,
    Subset,
    SubsetKind,
    TagTerm,
    TimeRange,
    index_entry,
)
from pillarbox.domain.timing import milliseconds


class SortBy(StrEnum):
    """The orders of contract 4.3. Each is descending; equal messages are ordered by messageId."""

    CREATED_AT = "created_at"
    UPDATED_AT = "updated_at"
    STATUS = "status"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """The messages to list (contract 4.3); times are milliseconds since 1970."""

    since: int | None = None
    until: int | None = None
    status: Status | None = None
    skip: int = 0
    limit: int = 50
    sort_by: SortBy = SortBy.CREATED_AT
    recipient: RecipientTerm | None = None
    tag: TagTerm | None = None
    key_id: str | None = None
    template: str | None = None
    #: The code of the current failure.
    error: str | None = None

    def of(self, account: Account) -> "PageRequest":
        """Return the request for what an account still has records of."""
        if account.records_from is None:
            return self
        return replace(self, since=max(self.since or 0, milliseconds(account.records_from)))

    @property
    def terms(self) -> tuple[SearchTerm, ...]:
        """What the messages are found by, the recipient first."""
        return tuple(term for term in (self.recipient, self.tag) if term is not None)

    @property
    def subsets(self) -> tuple[Subset, ...]:
        """The subsets of the account's messages that each message is in, the key's first."""
        ids = ((SubsetKind.KEY, self.key_id), (SubsetKind.TEMPLATE, self.template))
        return tuple(Subset(kind, each) for kind, each in ids if each is not None)

    def page_of(self, found: Iterable[Message]) -> "Page":
        """Return the page of some records in the time range: those that match all the rest."""
        matching = sorted(filter(self._accepts, found), key=self._place, reverse=True)
        return Page(matching[self.skip : self.skip + self.limit], len(matching))

    def _accepts(self, message: Message) -> bool:
        entry = index_entry(message)
        return (
            self.status in {None, message.status}
            and self.error in {None, entry.error}
            and all(term.matches(message) for term in self.terms)
            and all(entry.is_in(subset) for subset in self.subsets)
        )

    def _place(self, message: Message) -> tuple[object, ...]:
        match self.sort_by:
            case SortBy.CREATED_AT:
                return (message.message_id.int,)
            case SortBy.UPDATED_AT:
                return (message.updated_at, message.message_id.int)
            case SortBy.STATUS:
                return (message.status.value, message.updated_at, message.message_id.int)


@dataclass(frozen=True, slots=True)
class Page:
    """The messages on a page, and the number of messages on all pages."""

    items: list[Message]
    total: int


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
        in_rollups = sum(rollup.count(statuses) for rollup in self.rollups)
        return in_rollups + len(self.entries(statuses))


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageReader:
    """Reads coverages, and the finer rollups of those that they contain."""

    log: MessageLog
    ledger: Ledger
    clock: Clock
    tuning: Tuning
    for_each: ForEach

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
        newest_entry, indexed_until = read_newest_entry(self.ledger, account_id, self.tuning)
        recent, until = self._read_recent(account_id, created, indexed_until, shards)

        def entries_created(time_range: TimeRange) -> list[IndexEntry]:
            entries = self.ledger.entries_created(account_id, time_range)
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
        newest, oldest = self.for_each(entries_created, (after, before))
        coverage.newest_entries += newest
        coverage.oldest_entries += oldest
        coverage.rolled_up = rolled_up
        rollups = self.for_each(
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
        settled_until = milliseconds(self.clock() - self.tuning.settling_time)
        ledger_until = min(indexed_until, settled_until)
        since = max(created.since, ledger_until)
        recent: list[Message] = []
        for message in self.log.newest_first(account_id, since, created.until, shards):
            at = milliseconds(message.created_at)
            if len(recent) >= self.tuning.max_recent_records and at < indexed_until:
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
        rollups = self.ledger.rollups(account_id, granularity, created, subset)
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


_ALWAYS: Final = TimeRange(0, END_OF_TIME)
#: The statuses of messages that have an error.
_FAILURES: Final = frozenset({Status.BOUNCED, Status.COMPLAINED, Status.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pagination:
    """Finds pages in the coverages of one account.

    The counts of the rollups tell which of them have messages of the page. What a step needs of
    each of these is read at the same time.
    """

    account_id: str
    ledger: Ledger
    reader: CoverageReader
    tuning: Tuning
    for_each: ForEach
    subset: Subset | None = None

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
            for entries in self.for_each(lambda rollup: self._entries(rollup, statuses), reached):
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
                and (self.subset or rollup.count(_FAILURES) > self.tuning.max_entries)
            ]
            if coarse:
                remaining = [*self._divide(reached, coarse), *remaining]
                continue
            read = self.for_each(lambda each: self._updated(each, _FAILURES, _ALWAYS), reached)
            for entries in read:
                page.add(
                    sort_by_creation(
                        e for e in entries if e.error == error and e.is_in(self.subset)
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
            is_short = self.subset is None and in_range <= self.tuning.max_entries
            if is_short or granularity is Granularity.HOUR:
                break
            rollups = [rollup for rollup in rollups if any(rollup.counts(statuses, updated))]
            coarse = [rollup for rollup in rollups if rollup.granularity is granularity]
            rollups = _unfold(self._divide(rollups, coarse), statuses, entries)
        candidates = [entry for entry in entries if entry.updated in updated]
        if self.subset is not None:
            read = self.for_each(lambda each: self._in_subset(each, statuses, updated), rollups)
        else:
            rolled_up = {
                status for rollup in rollups for status, *_ in rollup.counts(statuses, updated)
            }
            read = self.for_each(
                lambda status: self.ledger.entries_updated(
                    self.account_id, status, updated, coverage.rolled_up
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
        if self.subset is not None:
            return True
        is_rare = self._is_rare(rollup, statuses, _ALWAYS)
        to_read = rollup.count(statuses) if is_rare else rollup.total
        return to_read > self.tuning.max_entries

    def _is_rare(self, rollup: Rollup, statuses: frozenset[Status], updated: TimeRange) -> bool:
        count = sum(n for *_, n in rollup.counts(statuses, updated))
        return count * self.tuning.rare_status_ratio < rollup.total

    def _entries(self, rollup: Rollup, statuses: frozenset[Status]) -> list[IndexEntry]:
        """Return the entries of a rollup, which has or counts them."""
        if rollup.has_entries:
            return [entry for entry in rollup.entries if entry.status in statuses]
        if self.subset is not None:
            return self._in_subset(rollup, statuses, _ALWAYS)
        if self._is_rare(rollup, statuses, _ALWAYS):
            return self._updated(rollup, statuses, _ALWAYS)
        entries = self.ledger.entries_created(self.account_id, rollup.created)
        return [entry for entry in entries if entry.status in statuses]

    def _in_subset(
        self, rollup: Rollup, statuses: frozenset[Status], updated: TimeRange
    ) -> list[IndexEntry]:
        """Read those of the account's entries that the rollup of a subset counts."""
        if self._is_rare(rollup, statuses, updated):
            found = [e for e in self._updated(rollup, statuses, updated) if e.is_in(self.subset)]
            # Messages that were delivered at once have no key and template there.
            if len(found) >= sum(n for *_, n in rollup.counts(statuses, updated)):
                return found
        return [
            entry
            for entry in self.ledger.entries_created(self.account_id, rollup.created)
            if entry.is_in(self.subset) and entry.status in statuses and entry.updated in updated
        ]

    def _updated(
        self, rollup: Rollup, statuses: frozenset[Status], updated: TimeRange
    ) -> list[IndexEntry]:
        """Read the entries of the time of a rollup by status and update."""
        return [
            entry
            for status in statuses
            for in_range in _update_ranges(rollup, status, updated)
            for entry in self.ledger.entries_updated(
                self.account_id, status, in_range, rollup.created
            )
        ]

    def _divide(self, rollups: Sequence[Rollup], coarse: Sequence[Rollup]) -> list[Rollup]:
        """Return rollups in their order, with the finer ones in the place of coarse ones."""
        read = self.for_each(
            lambda rollup: self.reader.finer_rollups(self.account_id, rollup, self.subset),
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
        room = self._limit - len(self.entries)
        self.entries += entries[self._skip : self._skip + room]
        self._skip = max(self._skip - len(entries), 0)


def _narrow(
    granularity: Granularity, counts: Mapping[int, int], skip: int, limit: int
) -> tuple[TimeRange, int]:
    """Return the time range of the buckets that contain a page, and what to skip in it.

    Args:
        counts: start of a bucket -> number of messages; the newest bucket comes first.
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

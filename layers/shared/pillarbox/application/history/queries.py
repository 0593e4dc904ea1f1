"""Looking back at many messages: a page of them, or all in numbers."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from pillarbox.application.history.coverage import Coverage, CoverageReader
from pillarbox.application.history.pagination import Pagination
from pillarbox.application.history.ports import Ledger
from pillarbox.application.ports import Clock, MessageLog
from pillarbox.domain.message import Message, Status
from pillarbox.domain.statistics import Granularity, IndexEntry, Rollup, roll_up, tally

_ALL: Final = frozenset(Status)
#: Beyond what the id of a message can hold.
_FOREVER: Final = 2**48
_TOP_ERRORS: Final = 10


class SortBy(StrEnum):
    """The orders of contract 4.3, each descending; equal ones by messageId."""

    CREATED_AT = "created_at"
    UPDATED_AT = "updated_at"
    STATUS = "status"


class Bucket(StrEnum):
    """What one row of analytics is about (contract 4.5)."""

    HOUR = "hour"
    DAY = "day"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """What to list (contract 4.3); times are milliseconds since 1970."""

    since: int | None = None
    until: int | None = None
    status: Status | None = None
    skip: int = 0
    limit: int = 50
    sort_by: SortBy = SortBy.CREATED_AT


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the messages that were asked for, and how many there are."""

    items: list[Message]
    total: int


@dataclass(frozen=True, slots=True)
class MessageCounts:
    """Messages counted (contract 2.8): all, and those that ever reached a status."""

    count: int = 0
    reached: Counter[Status] = field(default_factory=Counter)

    def __add__(self, tally: Rollup) -> "MessageCounts":
        return MessageCounts(self.count + tally.total, self.reached + tally.reached)


@dataclass(frozen=True, slots=True)
class Analytics:
    """The figures of a window, by buckets in the order of time, and its errors by number."""

    volume: dict[int, MessageCounts]
    total: MessageCounts
    errors: list[tuple[str, int]]

    def rate(self, status: Status) -> float:
        """The fraction of messages that reached a status, to four places; 0 when there are none."""
        return round(self.total.reached[status] / (self.total.count or 1), 4)


class HistoryQueries:
    """The messages of an account; what a look at them costs does not grow with their number."""

    def __init__(self, *, log: MessageLog, ledger: Ledger, clock: Clock) -> None:
        self._log = log
        self._ledger = ledger
        self._coverage = CoverageReader(log, ledger, clock)

    def page(self, account_id: str, request: PageRequest) -> Page:
        """List messages (contract 4.3)."""
        since, until = request.since or 0, _FOREVER if request.until is None else request.until
        statuses = _ALL if request.status is None else frozenset({request.status})
        cover = self._coverage.read(account_id, max(since, 0), until, Granularity.MONTH)
        total = cover.count(statuses)
        if request.skip >= total:
            return Page([], total)
        selection = Pagination(account_id, self._ledger, self._coverage)
        select = {
            SortBy.CREATED_AT: selection.by_created,
            SortBy.UPDATED_AT: selection.by_updated,
            SortBy.STATUS: selection.by_status,
        }[request.sort_by]
        entries = select(cover, statuses, request.skip, request.limit)
        neighbours = request.sort_by is SortBy.CREATED_AT and statuses is _ALL
        return Page(self._records(account_id, cover, entries, neighbours=neighbours), total)

    def analytics(self, account_id: str, since: int, until: int, bucket: Bucket) -> Analytics:
        """Count messages by when they were created (contract 4.5), to the millisecond."""
        level = Granularity(bucket)
        cover = self._coverage.read(account_id, max(since, 0), max(until, 0), level)
        volume = {}
        start = level.start(since)
        while start < until:
            volume[start] = MessageCounts()
            start = level.end(start)
        loose: defaultdict[int, list[IndexEntry]] = defaultdict(list)
        for entry in (*cover.above, *cover.below):
            loose[level.start(entry.created)].append(entry)
        parts = [(level.start(piece.start), piece.tally) for piece in cover.pieces]
        parts += [(start, tally(level, entries)) for start, entries in loose.items()]
        for start, part in parts:
            volume[start] += part
        whole = roll_up(level, (part for _, part in parts))
        errors = sorted(whole.errors.items(), key=lambda error: (-error[1], error[0]))
        return Analytics(volume, MessageCounts() + whole, errors[:_TOP_ERRORS])

    def _records(
        self, account_id: str, cover: Coverage, entries: list[IndexEntry], *, neighbours: bool
    ) -> list[Message]:
        """The records of entries, in their order; neighbours lie side by side in the log."""
        found = cover.records
        absent = [e for e in entries if e.message_id not in found]
        if absent and neighbours:
            read = self._log.newest_first(account_id, absent[-1].created, absent[0].created + 1)
        else:
            read = self._log.get_all(account_id, [e.message_id for e in absent])
        found = found | {message.message_id: message for message in read}
        return [found[e.message_id] for e in entries if e.message_id in found]

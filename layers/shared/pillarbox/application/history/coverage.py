"""A stretch of an account's messages, held as small as it can be: tallies, entries at its edges.

The newest messages are read from their records, so that a client finds its own
sends at once; older ones are known from the ledger, which follows by seconds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from pillarbox.application.history.ports import Ledger
from pillarbox.application.ports import Clock, MessageLog
from pillarbox.domain.message import Message, Status
from pillarbox.domain.statistics import Granularity, IndexEntry, Rollup, index_entry, milliseconds

#: A record is put at most this long after the time in its id (the claim's lease, 35 s). So
#: when a message has an entry, all that were created this much before it have theirs.
_PUT_WITHIN: Final = 40_000
#: Younger messages are mostly still under way: their records are looked at themselves …
_UNDER_WAY: Final = timedelta(minutes=2)
#: … as long as there are no more of them than this.
_MOST_RECORDS: Final = 400


@dataclass(frozen=True, slots=True)
class RollupBucket:
    """All messages created in one bucket of time, as a tally."""

    level: Granularity
    start: int
    tally: Rollup

    @property
    def end(self) -> int:
        """Where the bucket ends."""
        return self.level.end(self.start)


@dataclass(slots=True)
class Coverage:
    """The messages of a stretch: entries above and below, and between them pieces, newest first."""

    above: list[IndexEntry] = field(default_factory=list)
    pieces: list[RollupBucket] = field(default_factory=list)
    below: list[IndexEntry] = field(default_factory=list)
    #: Where the pieces begin and end.
    since: int = 0
    until: int = 0
    #: Records that were read on the way.
    records: dict[UUID, Message] = field(default_factory=dict)

    def entries(self, statuses: frozenset[Status]) -> list[IndexEntry]:
        """The entries that have one of the statuses, in no order."""
        return [entry for entry in (*self.above, *self.below) if entry.status in statuses]

    def count(self, statuses: frozenset[Status]) -> int:
        """The messages that have one of the statuses."""
        tallied = sum(piece.tally.count(statuses) for piece in self.pieces)
        return tallied + len(self.entries(statuses))


class CoverageReader:
    """Makes covers."""

    def __init__(self, log: MessageLog, ledger: Ledger, clock: Clock) -> None:
        self._log = log
        self._ledger = ledger
        self._clock = clock

    def read(self, account_id: str, since: int, until: int, coarsest: Granularity) -> Coverage:
        """Cover the messages created from `since` to before `until`, with pieces up to a level."""
        cover = Coverage()
        newest = self._ledger.newest_entry(account_id)
        until, recent = self._recent(account_id, since, until, newest)
        cover.records = {message.message_id: message for message in recent}
        cover.above = list(map(index_entry, recent))
        if newest is None or since >= until:
            return cover
        low = Granularity.HOUR.ceiling(since)
        high = Granularity.HOUR.start(min(until, newest))
        if low >= high:
            cover.above += self._ledger.entries_created(account_id, since, until)
            return cover
        cover.above += self._ledger.entries_created(account_id, high, until)
        cover.below += self._ledger.entries_created(account_id, since, low)
        cover.since, cover.until = low, high
        cover.pieces = self._pieces(account_id, coarsest, low, high)
        return cover

    def finer_rollups(self, account_id: str, piece: RollupBucket) -> list[RollupBucket]:
        """The finer pieces that a day or a month is made of, newest first."""
        return self._tallied(
            account_id, piece.level.finer or Granularity.HOUR, piece.start, piece.end
        )

    def _recent(
        self, account_id: str, since: int, until: int, newest: int | None
    ) -> tuple[int, Sequence[Message]]:
        """The messages to be read from their records, and where the ledger serves from there on."""
        entered = 0 if newest is None else newest - _PUT_WITHIN
        settled = min(entered, milliseconds(self._clock() - _UNDER_WAY))
        recent: list[Message] = []
        for message in self._log.newest_first(account_id, max(since, settled), until):
            created = milliseconds(message.created_at)
            if len(recent) >= _MOST_RECORDS and created < entered:
                # Others of this millisecond may not have been read yet.
                later = [each for each in recent if milliseconds(each.created_at) > created]
                return created + 1, later
            recent.append(message)
        return min(until, settled), recent

    def _pieces(
        self, account_id: str, level: Granularity, since: int, until: int
    ) -> list[RollupBucket]:
        low, high = level.ceiling(since), level.start(until)
        if low >= high:
            finer = level.finer
            return self._pieces(account_id, finer, since, until) if finer and since < until else []
        return [
            *(self._pieces(account_id, level.finer, high, until) if level.finer else ()),
            *self._tallied(account_id, level, low, high),
            *(self._pieces(account_id, level.finer, since, low) if level.finer else ()),
        ]

    def _tallied(
        self, account_id: str, level: Granularity, since: int, until: int
    ) -> list[RollupBucket]:
        tallies = self._ledger.rollups(account_id, level, since, until)
        return [
            RollupBucket(level, start, tallies[start]) for start in sorted(tallies, reverse=True)
        ]


def newest_created(entries: Iterable[IndexEntry]) -> list[IndexEntry]:
    """Order entries by creation."""
    return sorted(entries, key=lambda entry: entry.message_id.int, reverse=True)


def newest_updated(entries: Iterable[IndexEntry]) -> list[IndexEntry]:
    """Order entries by update; equal ones by creation."""
    return sorted(entries, key=lambda entry: (entry.updated, entry.message_id.int), reverse=True)

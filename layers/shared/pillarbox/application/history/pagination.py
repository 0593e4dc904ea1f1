"""Finding a page in a cover: skip by tallies, look into the buckets that the page is in."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from pillarbox.application.history.coverage import (
    Coverage,
    CoverageReader,
    RollupBucket,
    newest_created,
    newest_updated,
)
from pillarbox.application.history.ports import Ledger
from pillarbox.domain.message import Status
from pillarbox.domain.statistics import Granularity, IndexEntry

#: So many entries are read rather than told apart further: about four read units.
_FEW: Final = 400
#: Later than every update.
_EVER: Final = 2**48
#: A status that less than one message in so many has is read from the entries by status.
_RARE: Final = 4


class Pagination:
    """Finds pages in the covers of one account."""

    def __init__(self, account_id: str, ledger: Ledger, coverage: CoverageReader) -> None:
        self._account_id = account_id
        self._ledger = ledger
        self._coverage = coverage

    def by_created(
        self, cover: Coverage, statuses: frozenset[Status], skip: int, limit: int
    ) -> list[IndexEntry]:
        """The page in the order of creation, the newest first."""
        page = _PageWindow(skip, limit)
        page.collect(newest_created(e for e in cover.above if e.status in statuses))
        ahead = [*reversed(cover.pieces)]
        while ahead and page.wanted:
            piece = ahead.pop()
            if page.skips(piece.tally.count(statuses)):
                continue
            entries = self._entries(piece, statuses)
            if entries is None:
                ahead += reversed(self._coverage.finer_rollups(self._account_id, piece))
            else:
                page.collect(newest_created(entries))
        page.collect(newest_created(e for e in cover.below if e.status in statuses))
        return page.entries

    def by_updated(
        self, cover: Coverage, statuses: frozenset[Status], skip: int, limit: int
    ) -> list[IndexEntry]:
        """The page in the order of the last update, the latest first.

        The stretch of updates that the page is in is narrowed down level by
        level; each level needs the finer tallies of only those pieces that
        have messages in it.
        """
        loose, pieces = cover.entries(statuses), cover.pieces
        low, high = 0, _EVER
        for level in (Granularity.MONTH, Granularity.DAY, Granularity.HOUR):
            counts = Counter(level.start(e.updated) for e in loose if low <= e.updated < high)
            for piece in pieces:
                for (_, updated), n in _updates(piece, statuses, low, high):
                    counts[level.start(updated)] += n
            low, high, skip = _narrow(level, counts, skip, limit)
            within = sum(n for start, n in counts.items() if low <= start < high)
            if within <= _FEW or level is Granularity.HOUR:
                break
            pieces = [
                part
                for piece in pieces
                if any(_updates(piece, statuses, low, high))
                for part in self._divided(piece, level)
            ]
        found = [entry for entry in loose if low <= entry.updated < high]
        tallied = {cell for piece in pieces for cell, _ in _updates(piece, statuses, low, high)}
        for status in {status for status, _ in tallied}:
            created = cover.since, cover.until
            found += self._ledger.entries_updated(self._account_id, status, low, high, created)
        return newest_updated(found)[skip : skip + limit]

    def by_status(
        self, cover: Coverage, statuses: frozenset[Status], skip: int, limit: int
    ) -> list[IndexEntry]:
        """The page in the order of the statuses' names, the last first, then by update."""
        page: list[IndexEntry] = []
        for status in sorted(statuses, reverse=True):
            one = frozenset({status})
            count = cover.count(one)
            if skip < count and len(page) < limit:
                page += self.by_updated(cover, one, skip, limit - len(page))
            skip = max(skip - count, 0)
        return page

    def _entries(self, piece: RollupBucket, statuses: frozenset[Status]) -> list[IndexEntry] | None:
        """The entries of a piece; None when they are so many that it is better divided."""
        count, total = piece.tally.count(statuses), piece.tally.total
        rare = count * _RARE < total
        if (count if rare else total) > _FEW and piece.level is not Granularity.HOUR:
            return None
        if not rare:
            entries = self._ledger.entries_created(self._account_id, piece.start, piece.end)
            return [entry for entry in entries if entry.status in statuses]
        created = piece.start, piece.end
        return [
            entry
            for status in statuses
            for stretch in _stretches(piece, status)
            for entry in self._ledger.entries_updated(self._account_id, status, *stretch, created)
        ]

    def _divided(self, piece: RollupBucket, level: Granularity) -> list[RollupBucket]:
        """The parts of a piece of a level; one that is finer as it is."""
        return (
            self._coverage.finer_rollups(self._account_id, piece)
            if piece.level is level
            else [piece]
        )


class _PageWindow:
    """The entries from a position on, while they are found in order."""

    def __init__(self, skip: int, limit: int) -> None:
        self._skip = skip
        self._limit = limit
        self.entries: list[IndexEntry] = []

    @property
    def wanted(self) -> bool:
        return len(self.entries) < self._limit

    def skips(self, count: int) -> bool:
        """Whether the next so many lie all before the page."""
        if count > self._skip:
            return False
        self._skip -= count
        return True

    def collect(self, entries: list[IndexEntry]) -> None:
        """Take what is on the page of the next entries."""
        room = self._limit - len(self.entries)
        self.entries += entries[self._skip : self._skip + room]
        self._skip = max(self._skip - len(entries), 0)


def _updates(
    piece: RollupBucket, statuses: frozenset[Status], low: int, high: int
) -> Iterator[tuple[tuple[Status, int], int]]:
    """The cells of a piece in a stretch of updates, each with the number of its messages."""
    for cell, count in piece.tally.cells.items():
        if cell[0] in statuses and low <= cell[1] < high:
            yield cell, count


def _narrow(
    level: Granularity, counts: Mapping[int, int], skip: int, limit: int
) -> tuple[int, int, int]:
    """The buckets that a page is in: where they begin and end, and what is to skip in them."""
    low = high = 0
    for start in sorted(counts, reverse=True):
        if not high and counts[start] <= skip:
            skip -= counts[start]
            continue
        low, high = start, high or level.end(start)
        limit -= counts[start]
        if limit + skip <= 0:
            break
    return low, high, skip


def _stretches(piece: RollupBucket, status: Status) -> list[tuple[int, int]]:
    """When the messages of a status were updated: the piece's cells, neighbours as one."""
    stretches: list[tuple[int, int]] = []
    for start in sorted(updated for known, updated in piece.tally.cells if known is status):
        end = piece.level.end(start)
        if stretches and stretches[-1][1] == start:
            stretches[-1] = (stretches[-1][0], end)
        else:
            stretches.append((start, end))
    return stretches

"""Keeping the ledger: each change is entered, each bucket that is over tallied, all audited."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pillarbox.application.history.ports import Ledger
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.message import Message
from pillarbox.domain.statistics import Granularity, IndexEntry, index_entry

#: What the stream has not brought after this long, it has lost.
_STREAM_LAG: Final = timedelta(minutes=15)
#: Beyond what the id of a message can hold.
_FOREVER: Final = 2**48


@dataclass(frozen=True, slots=True)
class StreamResult:
    """What became of a batch: from where on it must come again (None: not at all), and why."""

    again: int | None
    errors: list[Exception]


#: Makes a call for each account; they may be made at the same time.
type ForEach = Callable[
    [Callable[[str], ServiceError | None], Sequence[str]], Iterable[ServiceError | None]
]


class Aggregation[Record]:
    """Follows the changes of messages, in batches."""

    def __init__(
        self,
        *,
        read: Callable[[Record], Message | None],
        ledger: Ledger,
        for_each: ForEach = map,
    ) -> None:
        self._read = read
        self._ledger = ledger
        self._for_each = for_each

    def apply(self, records: Iterable[Record]) -> StreamResult:
        """Take a batch of changes. It may come again, in part or whole.

        What fails holds up nothing else in the batch; but the changes behind
        it will come again with it, since a stream goes on in order.
        """
        images: defaultdict[str, list[IndexEntry]] = defaultdict(list)
        first: dict[str, int] = {}
        failures: list[tuple[int, Exception]] = []
        for position, record in enumerate(records):
            try:
                message = self._read(record)
                if message is not None:
                    images[message.account_id].append(index_entry(message))
                    first.setdefault(message.account_id, position)
            except (KeyError, TypeError, ValueError) as error:
                failures.append((position, error))

        def follow(account_id: str) -> ServiceError | None:
            try:
                self._follow(account_id, images[account_id])
            except ServiceError as error:
                return error
            return None

        for account_id, failed in zip(images, self._for_each(follow, [*images]), strict=True):
            if failed is not None:
                failures.append((first[account_id], failed))
        positions = [position for position, _ in failures]
        return StreamResult(min(positions, default=None), [error for _, error in failures])

    def _follow(self, account_id: str, entries: Sequence[IndexEntry]) -> None:
        """Enter what is new, hour by hour, and tally what that changes of the past.

        Readers take every hour before the newest entry's as tallied. So the
        hour that was open is tallied before an entry of a later one is there,
        and once more after: another batch, which saw it open, may have added to
        it in between.
        """
        newest = self._ledger.newest_entry(account_id)
        open_hour = None if newest is None else Granularity.HOUR.start(newest)
        hours: defaultdict[int, list[IndexEntry]] = defaultdict(list)
        for entry in entries:
            hours[Granularity.HOUR.start(entry.created)].append(entry)
        touched = {*hours} if open_hour is None else {*hours, open_hour}
        for hour, group in sorted(hours.items()):
            if open_hour is not None and hour > open_hour:
                self._tally(account_id, {open_hour}, hour)
            open_hour = hour if open_hour is None else max(hour, open_hour)
            self._ledger.put_entries(account_id, group)
        newest = self._ledger.newest_entry(account_id)
        if newest is not None:
            self._tally(account_id, touched, newest)

    def _tally(self, account_id: str, hours: Iterable[int], horizon: int) -> None:
        """Tally the hours that are over at the horizon, then their days and months that are."""
        starts = set(hours)
        for level in (Granularity.HOUR, Granularity.DAY, Granularity.MONTH):
            starts = {level.start(start) for start in starts}
            starts = {start for start in starts if level.end(start) <= horizon}
            for start in sorted(starts):
                self._ledger.roll_up(account_id, level, start)

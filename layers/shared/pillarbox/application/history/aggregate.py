"""Apply the changes of messages to the ledger, and roll up every hour that is over."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pillarbox.application.history.ports import (
    Ledger,
    RebuildMark,
    RebuildMarks,
    UnreadableChange,
)
from pillarbox.application.history.tuning import STANDARD, Tuning
from pillarbox.application.ports import Clock
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.message import Message
from pillarbox.domain.statistics import Granularity, IndexEntry, index_entry


@dataclass(frozen=True, slots=True)
class StreamResult:
    """The result of a batch.

    `retry_from` is the position from which to retry the batch (None for no retry), and
    `marked_hours` is how many hours were marked for rebuild because a retry would not help.
    """

    retry_from: int | None
    errors: list[Exception]
    marked_hours: int = 0


#: Calls a function for each account, possibly for several at the same time.
type ForEach = Callable[
    [Callable[[str], Exception | None], Sequence[str]], Iterable[Exception | None]
]


class Aggregation[Record]:
    """Applies batches of changes from the table's stream to the ledger.

    Args:
        read: returns the message in a record, or None; raises `UnreadableChange`.
        written_at: returns when a record's change was written, or None.
        ledger: the ledger.
        marks: where to mark the hours of changes that could not be applied.
        clock: the clock.
        for_each: calls a function for each account.
        tuning: the figures.
    """

    def __init__(  # noqa: PLR0913  its ports
        self,
        *,
        read: Callable[[Record], Message | None],
        written_at: Callable[[Record], datetime | None],
        ledger: Ledger,
        marks: RebuildMarks,
        clock: Clock,
        for_each: ForEach = map,
        tuning: Tuning = STANDARD,
    ) -> None:
        self._read = read
        self._written_at = written_at
        self._ledger = ledger
        self._marks = marks
        self._clock = clock
        self._for_each = for_each
        self._tuning = tuning

    def apply(self, records: Sequence[Record]) -> StreamResult:
        """Apply a batch of changes. The batch may be repeated, in part or in whole.

        A failure does not stop the rest of the batch. If a retry may help, the batch is
        retried: a temporary failure, for some minutes after the change. Otherwise the hours of
        the account's changes are marked for rebuild, so that one account cannot stop others.
        """
        entries: defaultdict[str, list[IndexEntry]] = defaultdict(list)
        unreadable: defaultdict[str, set[int]] = defaultdict(set)
        first_positions: dict[str, int] = {}
        errors: list[Exception] = []
        for position, record in enumerate(records):
            try:
                message = self._read(record)
            except UnreadableChange as change:
                errors.append(change)
                if change.created is not None:
                    unreadable[change.account_id].add(Granularity.HOUR.start(change.created))
                    first_positions.setdefault(change.account_id, position)
                continue
            if message is not None:
                entries[message.account_id].append(index_entry(message))
                first_positions.setdefault(message.account_id, position)

        def apply_to_account(account_id: str) -> Exception | None:
            try:
                self._apply_to_account(account_id, entries[account_id])
            except Exception as error:  # noqa: BLE001  no error of one account may stop others
                return error
            return None

        account_ids = [*entries]
        to_mark, to_retry = dict(unreadable), list[int]()
        failures = self._for_each(apply_to_account, account_ids)
        for account_id, failure in zip(account_ids, failures, strict=True):
            if failure is None:
                continue
            errors.append(failure)
            position = first_positions[account_id]
            if isinstance(failure, ServiceError) and self._is_recent(records[position]):
                to_retry.append(position)
            else:
                hours = {Granularity.HOUR.start(entry.created) for entry in entries[account_id]}
                to_mark[account_id] = hours | to_mark.get(account_id, set())
        marked_hours = 0
        for account_id, hours in to_mark.items():
            try:
                self._mark(account_id, hours)
                marked_hours += len(hours)
            except Exception as error:  # noqa: BLE001  without a mark the change must be retried
                errors.append(error)
                to_retry.append(first_positions[account_id])
        return StreamResult(min(to_retry, default=None), errors, marked_hours)

    def _is_recent(self, record: Record) -> bool:
        written_at = self._written_at(record)
        return written_at is None or self._clock() < written_at + self._tuning.retry_failures_for

    def _mark(self, account_id: str, hours: Iterable[int]) -> None:
        for hour in sorted(hours):
            self._marks.put(RebuildMark(account_id, hour, self._clock()))

    def _apply_to_account(self, account_id: str, entries: Sequence[IndexEntry]) -> None:
        """Put an account's entries hour by hour, and roll up the hours that they change.

        Readers expect a rollup for every hour before that of the newest entry.
        So the open hour is rolled up before an entry of a later hour exists. It
        is rolled up again afterwards, because another batch for which it was
        still open may have put an entry into it in between.
        """
        newest = self._ledger.newest_entry_time(account_id)
        open_hour = None if newest is None else Granularity.HOUR.start(newest)
        by_hour: defaultdict[int, list[IndexEntry]] = defaultdict(list)
        for entry in entries:
            by_hour[Granularity.HOUR.start(entry.created)].append(entry)
        changed_hours = {*by_hour} if open_hour is None else {*by_hour, open_hour}
        for hour, in_hour in sorted(by_hour.items()):
            if open_hour is not None and hour > open_hour:
                roll_up_ended(self._ledger, account_id, {open_hour}, hour)
            open_hour = hour if open_hour is None else max(hour, open_hour)
            self._ledger.put_entries(account_id, in_hour)
        newest = self._ledger.newest_entry_time(account_id)
        if newest is not None:
            roll_up_ended(self._ledger, account_id, changed_hours, newest)


def roll_up_ended(ledger: Ledger, account_id: str, hours: Iterable[int], newest: int) -> int:
    """Roll up those of some hours, and of their days and months, that are over.

    They are over if the newest entry was created after them. Return how many rollups were wrong.
    """
    starts, wrong = set(hours), 0
    for granularity in (Granularity.HOUR, Granularity.DAY, Granularity.MONTH):
        starts = {granularity.start(start) for start in starts}
        starts = {start for start in starts if granularity.end(start) <= newest}
        wrong += sum(ledger.roll_up(account_id, granularity, start) for start in sorted(starts))
    return wrong

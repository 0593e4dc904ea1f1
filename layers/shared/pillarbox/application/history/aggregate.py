"""Apply the changes of messages to the ledger, and roll up every hour that is over."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pillarbox.application.history.ports import Ledger
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.message import Message
from pillarbox.domain.statistics import Granularity, IndexEntry, index_entry


@dataclass(frozen=True, slots=True)
class StreamResult:
    """The result of a batch: the position to retry it from (None for no retry), and why."""

    retry_from: int | None
    errors: list[Exception]


#: Calls a function for each account, possibly for several at the same time.
type ForEach = Callable[
    [Callable[[str], ServiceError | None], Sequence[str]], Iterable[ServiceError | None]
]


class Aggregation[Record]:
    """Applies batches of changes from the table's stream to the ledger."""

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
        """Apply a batch of changes. The batch may be repeated, in part or in whole.

        A failure does not stop the rest of the batch. The records after it are
        retried as well, since a stream resumes at one position.
        """
        entries: defaultdict[str, list[IndexEntry]] = defaultdict(list)
        first_positions: dict[str, int] = {}
        failures: list[tuple[int, Exception]] = []
        for position, record in enumerate(records):
            try:
                message = self._read(record)
                if message is not None:
                    entries[message.account_id].append(index_entry(message))
                    first_positions.setdefault(message.account_id, position)
            except (KeyError, TypeError, ValueError) as error:
                failures.append((position, error))

        def apply_to_account(account_id: str) -> ServiceError | None:
            try:
                self._apply_to_account(account_id, entries[account_id])
            except ServiceError as error:
                return error
            return None

        account_ids = [*entries]
        errors = self._for_each(apply_to_account, account_ids)
        for account_id, failure in zip(account_ids, errors, strict=True):
            if failure is not None:
                failures.append((first_positions[account_id], failure))
        positions = [position for position, _ in failures]
        return StreamResult(min(positions, default=None), [error for _, error in failures])

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
                self._roll_up(account_id, {open_hour}, hour)
            open_hour = hour if open_hour is None else max(hour, open_hour)
            self._put_entries(account_id, in_hour)
        newest = self._ledger.newest_entry_time(account_id)
        if newest is not None:
            self._roll_up(account_id, changed_hours, newest)

    def _put_entries(self, account_id: str, entries: Iterable[IndexEntry]) -> None:
        """Put the entries of an hour, those of shards ten seconds by ten seconds.

        An hour of shards may have millions of entries, so it is rolled up from these parts.
        Readers expect a part's rollup once its shard has later entries.
        """
        parts: defaultdict[int, list[IndexEntry]] = defaultdict(list)
        plain: list[IndexEntry] = []
        for entry in entries:
            part = Granularity.TEN_SECONDS.start(entry.created)
            (parts[part] if entry.is_sharded else plain).append(entry)
        self._ledger.put_entries(account_id, plain)
        for start, in_part in sorted(parts.items()):
            self._ledger.put_entries(account_id, in_part)
            self._ledger.roll_up(account_id, Granularity.TEN_SECONDS, start)

    def _roll_up(self, account_id: str, hours: Iterable[int], newest: int) -> None:
        """Roll up those of some hours, and of their days and months, that are over.

        They are over if the newest entry was created after them.
        """
        starts = set(hours)
        for granularity in (Granularity.HOUR, Granularity.DAY, Granularity.MONTH):
            starts = {granularity.start(start) for start in starts}
            starts = {start for start in starts if granularity.end(start) <= newest}
            for start in sorted(starts):
                self._ledger.roll_up(account_id, granularity, start)

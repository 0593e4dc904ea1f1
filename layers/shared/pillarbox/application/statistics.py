"""Keeping the ledger: each change is entered, each bucket that is over tallied, all audited."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from pillarbox.application.administration.accounts import find_account
from pillarbox.application.administration.ports import AccountRecords
from pillarbox.application.history_ports import Ledger, LedgerAudit
from pillarbox.application.ports import Clock, MessageLog
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.message import Message
from pillarbox.domain.statistics import Entry, Level, entry_of, milliseconds

#: What the stream has not brought after this long, it has lost.
_STREAM_LAG: Final = timedelta(minutes=15)
#: Beyond what the id of a message can hold.
_FOREVER: Final = 2**48


@dataclass(frozen=True, slots=True)
class Taken:
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

    def take(self, records: Iterable[Record]) -> Taken:
        """Take a batch of changes. It may come again, in part or whole.

        What fails holds up nothing else in the batch; but the changes behind
        it will come again with it, since a stream goes on in order.
        """
        images: defaultdict[str, list[Entry]] = defaultdict(list)
        first: dict[str, int] = {}
        failures: list[tuple[int, Exception]] = []
        for position, record in enumerate(records):
            try:
                message = self._read(record)
                if message is not None:
                    images[message.account_id].append(entry_of(message))
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
        return Taken(min(positions, default=None), [error for _, error in failures])

    def _follow(self, account_id: str, entries: Sequence[Entry]) -> None:
        """Enter what is new, hour by hour, and tally what that changes of the past.

        Readers take every hour before the newest entry's as tallied. So the
        hour that was open is tallied before an entry of a later one is there,
        and once more after: another batch, which saw it open, may have added to
        it in between.
        """
        newest = self._ledger.newest(account_id)
        open_hour = None if newest is None else Level.HOUR.start(newest)
        hours: defaultdict[int, list[Entry]] = defaultdict(list)
        for entry in entries:
            hours[Level.HOUR.start(entry.created)].append(entry)
        touched = {*hours} if open_hour is None else {*hours, open_hour}
        for hour, group in sorted(hours.items()):
            if open_hour is not None and hour > open_hour:
                self._tally(account_id, {open_hour}, hour)
            open_hour = hour if open_hour is None else max(hour, open_hour)
            self._ledger.enter(account_id, group)
        newest = self._ledger.newest(account_id)
        if newest is not None:
            self._tally(account_id, touched, newest)

    def _tally(self, account_id: str, hours: Iterable[int], horizon: int) -> None:
        """Tally the hours that are over at the horizon, then their days and months that are."""
        starts = set(hours)
        for level in (Level.HOUR, Level.DAY, Level.MONTH):
            starts = {level.start(start) for start in starts}
            starts = {start for start in starts if level.end(start) <= horizon}
            for start in sorted(starts):
                self._ledger.roll_up(account_id, level, start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What an audit found.

    `behind` are messages whose last change the stream has yet to bring; `wrong`
    are items that no such change explains.
    """

    messages: int
    behind: int
    wrong: int
    repaired: int = 0

    @property
    def right(self) -> bool:
        """Whether the statistics were right."""
        return not self.wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Counts an account's messages anew; it reads and holds all of them in small."""

    log: MessageLog
    ledger: LedgerAudit
    accounts: AccountRecords
    clock: Clock

    def verify(self, account_id: str) -> Findings:
        """Say whether the statistics are right.

        Raises:
            ServiceError: `account_not_found`.
        """
        messages, entered = self._read(account_id)
        lagging = {
            message_id for message_id, entry in messages.items() if entry != entered.get(message_id)
        }
        recently = milliseconds(self.clock() - _STREAM_LAG)
        behind = {each for each in lagging if messages[each].updated >= recently}
        # Apart from what is on its way, the entries must be those of the messages.
        expected = entered | {each: messages[each] for each in lagging - behind}
        wrong = self.ledger.wrong(
            account_id, (entry for each, entry in expected.items() if each in messages)
        )
        return Findings(messages=len(messages), behind=len(behind), wrong=wrong)

    def rebuild(self, account_id: str) -> Findings:
        """Make the statistics right, and say whether they were.

        Raises:
            ServiceError: `account_not_found`; `service_unavailable` when they
                were being written at the same time.
        """
        found = self.verify(account_id)
        messages, entered = self._read(account_id)
        # A change that the stream brought since the messages were read is not undone.
        newest = (
            max(entry, entered.get(each, entry), key=lambda image: image.revision)
            for each, entry in messages.items()
        )
        return replace(found, repaired=self.ledger.set(account_id, newest))

    def _read(self, account_id: str) -> tuple[dict[UUID, Entry], dict[UUID, Entry]]:
        """The entries of all messages, and those of the ledger, with equal ones made the same."""
        find_account(self.accounts, account_id)
        log = self.log.newest_first(account_id, 0, _FOREVER)
        messages = {message.message_id: entry_of(message) for message in log}
        entered = {entry.message_id: entry for entry in self.ledger.entries(account_id)}
        for message_id, entry in entered.items():
            known = messages.get(message_id)
            # Taking a lease is a revision too, but no change that is entered.
            if known is not None and replace(known, revision=entry.revision) == entry:
                messages[message_id] = entry
        return messages, entered

"""Apply changes of messages to ledger and search index; roll up and check hours that are over.

`admin/use_cases/audit.py` checks a whole account at an operator's request. The sweep checks a few
hours at a time, so that its cost depends on the account's mail and not on its history.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched
from typing import Final
from uuid import UUID

from pillarbox.application.account_lookup import AccountReader
from pillarbox.application.history.ports import (
    CheckResult,
    Ledger,
    LedgerAudit,
    RebuildMark,
    RebuildMarks,
    SearchEntry,
    SearchIndex,
    UnreadableChange,
)
from pillarbox.application.history.tuning import STANDARD, Tuning
from pillarbox.application.message_log import MessageLog
from pillarbox.application.ports import Clock, KeyUses
from pillarbox.application.stream_result import StreamResult
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.statistics import (
    Granularity,
    IndexEntry,
    TimeRange,
    index_entry,
    terms_of,
)
from pillarbox.domain.timing import milliseconds, to_datetime

#: Records are read by their ids so many at a time.
_BATCH: Final = 100

#: Whether an entry is put (True) or removed (False).
type SearchChanges = dict[SearchEntry, bool]


@dataclass(frozen=True, slots=True)
class SearchIndexing[Record]:
    """Applies changes of messages to the search index.

    Only a new message, the erasure of a recipient and a deletion change it. The stream delivers
    the changes of a message in order, so the last one decides, however often they are repeated.

    Args:
        read: returns the message in a record before and after its change, from the record and
            the message after it; both are None if the index does not depend on the change.
    """

    read: Callable[[Record, Message | None], tuple[Message | None, Message | None]]
    index: SearchIndex

    def changes(self, record: Record, message: Message | None) -> tuple[str, SearchChanges]:
        """Return the account and the changes that a record makes; no account if it makes none.

        `message` is the message after the change; None if it was deleted.
        """
        before, after = self.read(record, message)
        changed = after or before
        if changed is None:
            return "", {}
        changes = dict.fromkeys(_entries(before), False) | dict.fromkeys(_entries(after), True)
        return changed.account_id, changes


def index_again(
    log: MessageLog, index: SearchIndex, account_id: str, messages: Iterable[Message]
) -> int:
    """Put the entries of some messages that may lack them, and return the number of messages.

    A recipient who was erased in between is removed again.
    """
    number = 0
    for batch in batched(messages, _BATCH, strict=False):
        put = {entry: True for message in batch for entry in _entries(message)}
        index.change(account_id, put)
        current = log.get_all(account_id, [message.message_id for message in batch])
        right = {entry for message in current for entry in _entries(message)}
        index.change(account_id, dict.fromkeys(put.keys() - right, False))
        number += len(batch)
    return number


def _entries(message: Message | None) -> set[SearchEntry]:
    if message is None:
        return set()
    return {SearchEntry(message.message_id, term) for term in terms_of(message)}


@dataclass(slots=True)
class _AccountChanges:
    """What a batch changes for one account, and where in the batch the first change is."""

    first_position: int
    #: When the first change was written, if the stream says so.
    first_written: datetime | None
    entries: list[IndexEntry] = field(default_factory=list)
    #: The hours of messages whose changes cannot be read.
    unreadable_hours: set[int] = field(default_factory=set)
    search: SearchChanges = field(default_factory=dict)
    #: New messages that wait for an owner.
    held: list[Message] = field(default_factory=list)

    @property
    def needs_retry(self) -> bool:
        """Whether it has something left to do that no rebuild of its hours does.

        A rebuild puts entries of the search index that are missing. It removes none of an address
        that the record has lost, and tells no owners.
        """
        return bool(self.held) or not all(self.search.values())


#: Calls a function for each account, possibly for several at the same time.
type ForEach = Callable[
    [Callable[[str], Exception | None], Sequence[str]], Iterable[Exception | None]
]


#: Judges an account, by its id, because of some entries.
type Judge = Callable[[str, Sequence[IndexEntry]], int]
#: Tells the owners of an account about new messages that wait for them.
type TellOwners = Callable[[str, Sequence[Message]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregation[Record]:
    """Applies batches of changes from the table's stream to the ledger."""

    #: Returns the message in a record, or None; raises `UnreadableChange`.
    read: Callable[[Record], Message | None]
    #: Returns when a record's change was written, or None.
    written_at: Callable[[Record], datetime | None]
    ledger: Ledger
    #: Where to mark the hours of changes that could not be applied.
    marks: RebuildMarks
    key_uses: KeyUses
    clock: Clock
    for_each: ForEach = map
    #: Applies the changes to the search index; None if there is none.
    search: SearchIndexing[Record] | None = None
    #: Judges an account by entries that the ledger has now, and returns how many scopes it paused;
    #: None where no breaker acts.
    judge: Judge | None = None
    tell_owners: TellOwners = lambda _, __: None
    tuning: Tuning = STANDARD

    def apply(self, records: Sequence[Record]) -> StreamResult:
        """Apply a batch of changes. The batch may be repeated, in part or in whole.

        A failure does not stop the rest of the batch. If a retry may help, the batch is
        retried: a temporary failure, for some minutes after the change. Otherwise the hours of
        the account's changes are marked for rebuild, so that one account cannot stop others.
        What no rebuild does is retried for as long as the stream offers it.
        """
        errors: list[Exception] = []
        paused: list[int] = []
        changes = self._group(records, errors)

        def apply_to_account(account_id: str) -> Exception | None:
            try:
                self._apply_to_account(account_id, changes[account_id])
            except Exception as error:  # noqa: BLE001  no error of one account may stop others
                return error
            return self._follow_up(account_id, changes[account_id], errors, paused)

        failures = self.for_each(apply_to_account, [*changes])
        to_retry: list[int] = []
        marked_hours = 0
        for (account_id, of_account), failure in zip(changes.items(), failures, strict=True):
            hours = of_account.unreadable_hours
            if failure is not None:
                errors.append(failure)
                if isinstance(failure, ServiceError) and (
                    of_account.needs_retry or self._is_recent(of_account.first_written)
                ):
                    to_retry.append(of_account.first_position)
                else:
                    hours |= {Granularity.HOUR.start(entry.created) for entry in of_account.entries}
            try:
                for hour in sorted(hours):
                    self.marks.put(RebuildMark(account_id, hour, self.clock()))
                marked_hours += len(hours)
            except Exception as error:  # noqa: BLE001  without a mark the change must be retried
                errors.append(error)
                to_retry.append(of_account.first_position)
        return StreamResult(min(to_retry, default=None), errors, marked_hours, sum(paused))

    def _group(
        self, records: Sequence[Record], errors: list[Exception]
    ) -> dict[str, "_AccountChanges"]:
        """Group a batch by account, and add an error for each unreadable record."""
        changes: dict[str, _AccountChanges] = {}
        for position, record in enumerate(records):
            try:
                message = self.read(record)
                searched, search = self.search.changes(record, message) if self.search else ("", {})
            except UnreadableChange as change:
                errors.append(change)
                if change.created is None:
                    continue
                account_id, message, entry, search = change.account_id, None, None, {}
                unreadable_hours = {Granularity.HOUR.start(change.created)}
            else:
                if message is None and not searched:
                    continue
                account_id = message.account_id if message else searched
                entry = index_entry(message) if message else None
                unreadable_hours = set()
            of_account = changes.setdefault(
                account_id, _AccountChanges(position, self.written_at(record))
            )
            of_account.entries += [entry] if entry else []
            of_account.unreadable_hours |= unreadable_hours
            of_account.search |= search
            if message and message.awaits_owner and message.revision == 0:
                of_account.held.append(message)
        return changes

    def _follow_up(
        self,
        account_id: str,
        of_account: _AccountChanges,
        errors: list[Exception],
        paused: list[int],
    ) -> Exception | None:
        """Do what follows from entries that the ledger has; return an error for which to retry."""
        entries = of_account.entries
        try:
            self._record_key_uses(account_id, entries)
        except Exception as error:  # noqa: BLE001  a later message of the key repairs it
            errors.append(error)
        try:
            if of_account.held:
                self.tell_owners(account_id, of_account.held)
                of_account.held = []
            if self.judge is not None:
                paused.append(self.judge(account_id, entries))
        except ServiceError as error:
            return error
        except Exception as error:  # noqa: BLE001  a later bounce of the account repairs it
            errors.append(error)
        return None

    def _record_key_uses(self, account_id: str, entries: Iterable[IndexEntry]) -> None:
        newest: dict[str, int] = {}
        for entry in entries:
            if entry.key_id is not None:
                newest[entry.key_id] = max(entry.created, newest.get(entry.key_id, 0))
        for key_id, created in newest.items():
            self.key_uses.record(account_id, key_id, to_datetime(created))

    def _is_recent(self, written_at: datetime | None) -> bool:
        return written_at is None or self.clock() < written_at + self.tuning.retry_failures_for

    def _apply_to_account(self, account_id: str, of_account: _AccountChanges) -> None:
        """Apply an account's changes, to the search index first.

        So a message that has an entry in the ledger is in the search index, and readers of both
        need to know only how far the ledger is.
        """
        if self.search is not None:
            self.search.index.change(account_id, of_account.search)
            of_account.search = {}
        if of_account.entries:
            self._apply_to_ledger(account_id, of_account.entries)

    def _apply_to_ledger(self, account_id: str, entries: Sequence[IndexEntry]) -> None:
        """Put an account's entries hour by hour, and roll up the hours that they change.

        Readers expect a rollup for every hour before that of the newest entry.
        So the open hour is rolled up before an entry of a later hour exists. It
        is rolled up again afterwards, because another batch for which it was
        still open may have put an entry into it in between.
        """
        newest = self.ledger.newest_entry_time(account_id)
        open_hour = None if newest is None else Granularity.HOUR.start(newest)
        by_hour: defaultdict[int, list[IndexEntry]] = defaultdict(list)
        for entry in entries:
            by_hour[Granularity.HOUR.start(entry.created)].append(entry)
        changed_hours = {*by_hour} if open_hour is None else {*by_hour, open_hour}
        for hour, in_hour in sorted(by_hour.items()):
            if open_hour is not None and hour > open_hour:
                roll_up_ended(self.ledger, account_id, {open_hour}, hour)
            open_hour = hour if open_hour is None else max(hour, open_hour)
            self._put_entries(account_id, in_hour)
        newest = self.ledger.newest_entry_time(account_id)
        if newest is not None:
            roll_up_ended(self.ledger, account_id, changed_hours, newest)

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
        self.ledger.put_entries(account_id, plain)
        for start, in_part in sorted(parts.items()):
            self.ledger.put_entries(account_id, in_part)
            self.ledger.roll_up(account_id, Granularity.TEN_SECONDS, start)


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


#: Hours that a pass checks. The sweep runs every hour, so each hour is checked twice.
_HOURS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerCheck:
    """Implements `history.ports.StatisticsCheck` on an account's ledger."""

    log: MessageLog
    ledger: Ledger
    audit: LedgerAudit
    marks: RebuildMarks
    index: SearchIndex
    accounts: AccountReader
    clock: Clock
    tuning: Tuning = STANDARD

    def check_ended_hours(
        self, account_id: str, at: datetime, until: int | None = None
    ) -> CheckResult:
        """Check the last hours that ended before a moment, or their part before `until`.

        The stream has had time to deliver their changes.
        """
        end = Granularity.HOUR.start(milliseconds(at - self.tuning.max_stream_lag))
        since = end
        for _ in range(_HOURS):
            since = Granularity.HOUR.start(since - 1)
        created = TimeRange(since, end if until is None else until)
        result, _ = self._check(account_id, created)
        return result

    def rebuild_hour(self, mark: RebuildMark, until: int | None = None) -> CheckResult:
        """Check a marked hour, or its part before `until`, and remove the mark at the end.

        The mark stays if the stream may still deliver a change of the hour: then the next pass
        checks it again. Of an hour whose records may be deleted the entries are right.
        """
        account = self.accounts.get(mark.account_id)
        if account and account.records_from and mark.hour < milliseconds(account.records_from):
            self.marks.remove(mark)
            return CheckResult(0, None)
        end = Granularity.HOUR.end(mark.hour) if until is None else until
        result, has_lagging = self._check(mark.account_id, TimeRange(mark.hour, end))
        since = mark.hour if result.rest is None else result.rest
        self._index_again(mark.account_id, self.log.newest_first(mark.account_id, since, end))
        if has_lagging:
            return CheckResult(result.repaired, None)
        if result.rest is None:
            self.marks.remove(mark)
        return result

    def _check(self, account_id: str, created: TimeRange) -> tuple[CheckResult, bool]:
        """Check a time range or its newest part; also return whether changes may still come."""
        checked, actual = self._read_newest(account_id, created)
        now = self.clock()
        suspects = self.audit.find_wrong(account_id, checked, actual)
        # The record may have changed between the two reads, so read it again.
        current: dict[UUID, IndexEntry | None] = dict.fromkeys(suspects)
        messages = [*self.log.get_all(account_id, suspects)] if suspects else []
        current |= {message.message_id: index_entry(message) for message in messages}
        wrong = {
            message_id: entry
            for message_id, entry in current.items()
            if entry is None or not self.tuning.may_lag(entry.updated, now)
        }
        if wrong:
            # The stream writes the search index first, so only these can lack its entries.
            self._index_again(account_id, (m for m in messages if m.message_id in wrong))
            self.audit.correct(account_id, checked, wrong)
        repaired = len(wrong)
        if actual or wrong:
            changes_now = any(self.tuning.may_lag(each.updated, now) for each in actual.values())
            wrong_rollups = self._roll_up(account_id, checked, actual.values())
            # The stream may be about to roll up a change that it has just applied.
            repaired += 0 if changes_now and not wrong else wrong_rollups
        rest = checked.since if checked.since > created.since else None
        return CheckResult(repaired, rest), len(wrong) < len(current)

    def _index_again(self, account_id: str, messages: Iterable[Message]) -> None:
        index_again(self.log, self.index, account_id, messages)

    def _read_newest(
        self, account_id: str, created: TimeRange
    ) -> tuple[TimeRange, dict[UUID, IndexEntry]]:
        """Read the newest records of a time range, and return what part of it they are.

        The messages of a millisecond stay together.
        """
        entries: dict[UUID, IndexEntry] = {}
        oldest = created.until
        for message in self.log.newest_first(account_id, created.since, created.until):
            entry = index_entry(message)
            if len(entries) >= self.tuning.max_checked_messages and entry.created < oldest:
                return TimeRange(oldest, created.until), entries
            entries[entry.message_id] = entry
            oldest = entry.created
        return created, entries

    def _roll_up(self, account_id: str, created: TimeRange, entries: Iterable[IndexEntry]) -> int:
        """Roll up the hours that start in a time range; return how many rollups were wrong.

        Hours of shards are rolled up from ten seconds, so those of the entries come first.
        """
        newest = self.ledger.newest_entry_time(account_id)
        if newest is None:
            return 0
        parts = {Granularity.TEN_SECONDS.start(e.created) for e in entries if e.is_sharded}
        wrong = sum(
            self.ledger.roll_up(account_id, Granularity.TEN_SECONDS, part) for part in sorted(parts)
        )
        hours, start = [], Granularity.HOUR.ceiling(created.since)
        while start < created.until:
            hours.append(start)
            start = Granularity.HOUR.end(start)
        return wrong + roll_up_ended(self.ledger, account_id, hours, newest)

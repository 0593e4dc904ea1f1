"""Compare recent or marked hours of the ledger with the records, and repair what is wrong.

`admin/use_cases/audit.py` does this for a whole account at an operator's request. The sweep does it
here for a few hours at a time, so that its cost depends on the account's mail and not on its
history.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from pillarbox.application.account_lookup import AccountReader
from pillarbox.application.history.aggregate import index_again, roll_up_ended
from pillarbox.application.history.ports import (
    CheckResult,
    Ledger,
    LedgerAudit,
    RebuildMark,
    RebuildMarks,
    SearchIndex,
)
from pillarbox.application.history.tuning import STANDARD, Tuning
from pillarbox.application.message_log import MessageLog
from pillarbox.application.ports import Clock
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.statistics import Granularity, IndexEntry, TimeRange, index_entry
from pillarbox.domain.timing import milliseconds

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

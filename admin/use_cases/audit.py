"""Compare the ledger with the records of the messages; repair it and the search index."""

from dataclasses import dataclass, replace
from uuid import UUID

from pillarbox.application.account_lookup import AccountReader, find_account
from pillarbox.application.history.aggregate import index_again
from pillarbox.application.history.ports import LedgerAudit, SearchIndex
from pillarbox.application.history.tuning import STANDARD, Tuning
from pillarbox.application.message_log import MessageLog
from pillarbox.application.ports import Clock
from pillarbox.domain.messages.statistics import END_OF_TIME, IndexEntry, index_entry
from pillarbox.domain.timing import milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """The result of an audit."""

    messages: int
    #: Messages whose last change the stream may still deliver.
    lagging_messages: int
    #: Items of the ledger that are wrong, and that no lagging message explains.
    wrong_items: int
    repaired_items: int = 0

    @property
    def is_correct(self) -> bool:
        return not self.wrong_items


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Recounts an account's messages. It reads all records and holds their index entries."""

    log: MessageLog
    ledger: LedgerAudit
    index: SearchIndex
    accounts: AccountReader
    clock: Clock
    tuning: Tuning = STANDARD

    def verify(self, account_id: str) -> AuditReport:
        actual, indexed = self._read(account_id)
        outdated = {
            message_id for message_id, entry in actual.items() if entry != indexed.get(message_id)
        }
        now, may_lag = self.clock(), self.tuning.may_lag
        lagging = {each for each in outdated if may_lag(actual[each].updated, now)}
        # Leave the lagging entries as they are; all others must be those of the records.
        expected = indexed | {message_id: actual[message_id] for message_id in outdated - lagging}
        wrong = self.ledger.count_differences(
            account_id, (entry for message_id, entry in expected.items() if message_id in actual)
        )
        return AuditReport(messages=len(actual), lagging_messages=len(lagging), wrong_items=wrong)

    def rebuild(self, account_id: str) -> AuditReport:
        """Repair the ledger, index all messages again, and report whether it was correct."""
        report = self.verify(account_id)
        actual, indexed = self._read(account_id)
        # Keep a change that the stream delivered after the records were read.
        newest = (
            max(entry, indexed.get(message_id, entry), key=lambda entry: entry.revision)
            for message_id, entry in actual.items()
        )
        repaired = self.ledger.repair(account_id, newest)
        messages = self.log.newest_first(account_id, 0, END_OF_TIME)
        index_again(self.log, self.index, account_id, messages)
        return replace(report, repaired_items=repaired)

    def _read(self, account_id: str) -> tuple[dict[UUID, IndexEntry], dict[UUID, IndexEntry]]:
        """Return the entries that the records make, and those of the ledger.

        Entries that differ only in the revision are made equal. Of messages whose records were
        deleted for their age the ledger's entries are right: figures are made of them.
        """
        account = find_account(self.accounts, account_id)
        first = milliseconds(account.records_from) if account.records_from else 0
        log = self.log.newest_first(account_id, 0, END_OF_TIME)
        actual = {message.message_id: index_entry(message) for message in log}
        indexed = {entry.message_id: entry for entry in self.ledger.entries(account_id)}
        for message_id, entry in indexed.items():
            recorded = actual.get(message_id)
            # A lease makes a new revision, but the ledger does not store it.
            is_deleted = recorded is None and entry.created < first
            if is_deleted or (recorded and replace(recorded, revision=entry.revision) == entry):
                actual[message_id] = entry
        return actual, indexed

"""Compare the ledger with the messages that it counts, and repair it."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from pillarbox.application.accounts.lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.history.ports import LedgerAudit
from pillarbox.application.ports import Clock, MessageLog
from pillarbox.domain.statistics import IndexEntry, index_entry, milliseconds

#: What the stream has not brought after this long, it has lost.
_STREAM_LAG: Final = timedelta(minutes=15)
#: Beyond what the id of a message can hold.
_FOREVER: Final = 2**48


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
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

    def verify(self, account_id: str) -> AuditReport:
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
        wrong = self.ledger.count_wrong(
            account_id, (entry for each, entry in expected.items() if each in messages)
        )
        return AuditReport(messages=len(messages), behind=len(behind), wrong=wrong)

    def rebuild(self, account_id: str) -> AuditReport:
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
        return replace(found, repaired=self.ledger.repair(account_id, newest))

    def _read(self, account_id: str) -> tuple[dict[UUID, IndexEntry], dict[UUID, IndexEntry]]:
        """The entries of all messages, and those of the ledger, with equal ones made the same."""
        find_account(self.accounts, account_id)
        log = self.log.newest_first(account_id, 0, _FOREVER)
        messages = {message.message_id: index_entry(message) for message in log}
        entered = {entry.message_id: entry for entry in self.ledger.entries(account_id)}
        for message_id, entry in entered.items():
            known = messages.get(message_id)
            # Taking a lease is a revision too, but no change that is entered.
            if known is not None and replace(known, revision=entry.revision) == entry:
                messages[message_id] = entry
        return messages, entered

"""Delete the records of old emails, for accounts that want them for some days only.

An entry of the ledger stays: it has no address, subject or tag, and figures are made of it. The
search index, which has addresses and tags, follows its records through the table's stream. Lists
end at the account's `records_from`, which is set before anything is deleted.

A copy that went to other addresses repeats subject, tags and content. An erasure finds it by the
email that it repeats, so it loses them before that one's record is deleted.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from pillarbox.application.message_log import ScanPage
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.messages.erasure import erase_copy
from pillarbox.domain.messages.kept import KeptContent
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.search import mailboxes_of
from pillarbox.domain.timing import milliseconds


class OldRecords(Protocol):
    """The records of an account from the oldest one on. Each method may be repeated."""

    def oldest(self, account_id: str, until: int, cursor: str | None) -> ScanPage[Message]:
        """Return the next of the messages created before a time, in milliseconds."""

    def get_all(self, account_id: str, message_ids: Iterable[UUID]) -> Iterable[Message]:
        """Return the existing ones among some messages."""

    def rewrite_copy(self, message: Message) -> None:
        """Store what `erase_copy` changed in a message, if its record is there."""

    def delete(self, account_id: str, message_ids: Sequence[UUID]) -> None:
        """Delete records, if they are there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRetention:
    """Deletes the records that an account does not want any more."""

    records: OldRecords
    #: `SearchIndex.copies`, which lacks one that was made in the last seconds.
    copies: Callable[[str, int], Iterable[tuple[UUID, UUID]]]
    #: Stores from when on an account has all its records. The time never falls.
    set_records_from: Callable[[str, datetime], None]
    #: Deletes the kept content of a message, if it is there.
    remove_kept: Callable[[KeptContent], None]

    def delete_page(self, account: Account, now: datetime, cursor: str | None) -> str | None:
        """Delete one page of an account's old records; return the cursor of the next page.

        Whole days of UTC end together. An email that is still pending stays.

        Raises:
            ServiceError: `service_unavailable`; it can be repeated.
        """
        if not account.record_days:
            return None
        day = now - timedelta(days=account.record_days)
        until = day.replace(hour=0, minute=0, second=0, microsecond=0)
        if account.records_from is None or account.records_from < until:
            self.set_records_from(account.account_id, until)
        page = self.records.oldest(account.account_id, milliseconds(until), cursor)
        old = [message for message in page.items if not message.pending]
        if old:
            self._erase_copies(account, old)
        for message in old:
            self._remove_kept(message)
        self.records.delete(account.account_id, [message.message_id for message in old])
        return page.next

    def _erase_copies(self, account: Account, old: Sequence[Message]) -> None:
        """Erase what repeats the old emails to others, and the copies of that.

        A copy that has all their recipients stays as it is: an erasure finds it by them. But a copy
        that is deleted may name others than its recipients, so all its own copies are erased.
        """
        account_id, lost = account.account_id, {message.message_id: message for message in old}
        # The oldest first, because a copy may have copies.
        pairs = self.copies(account_id, account.shards)
        for original_id, copy_id in sorted(pairs, key=lambda pair: pair[1].int):
            original = lost.get(original_id)
            if original is None or copy_id in lost:
                continue
            copy = next(iter(self.records.get_all(account_id, [copy_id])), None)
            if copy is None or (
                original.origin.resend_of is None and mailboxes_of(copy) >= mailboxes_of(original)
            ):
                continue
            lost[copy_id] = copy
            if (erased := erase_copy(copy)) is not copy:
                self._remove_kept(copy)
                self.records.rewrite_copy(erased)

    def _remove_kept(self, message: Message) -> None:
        if message.keep:
            self.remove_kept(KeptContent.of(message))

"""Erase a person: the address, and what may name the person, from the history of accounts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import batched
from typing import Final
from uuid import UUID

from admin.use_cases.ports import AnnouncedAddresses, MessageRewrite
from pillarbox.application.accounts.ports import AccountRecords, SuppressionRecords
from pillarbox.application.accounts.suppressions import MANUAL
from pillarbox.application.history.ports import SearchEntry, SearchIndex
from pillarbox.application.history.tuning import STANDARD, Tuning
from pillarbox.application.message_log import MessageLog
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.suppression import Suppression, hashed_mailbox
from pillarbox.domain.messages.erasure import erase_recipient
from pillarbox.domain.messages.kept import KeptContent
from pillarbox.domain.messages.message import MEANINGS, Event, EventKind, Message
from pillarbox.domain.messages.search import RecipientTerm, SearchTerm, terms_of
from pillarbox.domain.messages.statistics import END_OF_TIME

#: Records that are read by their ids at a time.
_BATCH: Final = 100


@dataclass(slots=True)
class AccountErasure:
    """What was erased from an account."""

    account: Account
    #: Messages that had the address.
    messages: int = 0
    #: Those of them that waited to be sent. They do not go to the address any more.
    pending: int = 0
    #: Whether a hash of the address is suppressed now.
    suppressed: bool = False
    #: Where the content of these messages was or may be kept.
    kept: set[KeptContent] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientErasure:
    """Erases recipients. An erasure that was interrupted goes on when it is run again.

    A record is changed before its entries in the index are removed, so a second run finds what
    the first one left.
    """

    accounts: AccountRecords
    log: MessageLog
    rewrite: MessageRewrite
    index: SearchIndex
    #: Returns the time before which all messages of an account are in the index.
    indexed_until: Callable[[str], int]
    suppressions: SuppressionRecords
    announced: AnnouncedAddresses
    #: Deletes the content of a message that waits, by account, message and template.
    remove_content: Callable[[str, UUID, str | None], None]
    #: Deletes the kept content of a message, if it is there.
    remove_kept: Callable[[KeptContent], None]
    clock: Clock
    pause: Callable[[float], None]
    tuning: Tuning = STANDARD

    def erase(
        self,
        accounts: Sequence[Account],
        mailbox: str,
        report: Callable[[int], None],
        *,
        suppress: bool = False,
        everywhere: bool = False,
    ) -> list[AccountErasure]:
        """Erase a mailbox from accounts, and return what was erased from those that had it.

        A message that is being accepted meanwhile is erased by a second pass, when its record is
        surely there.

        Args:
            accounts: the accounts.
            mailbox: the address as `mailbox_key` returns it.
            report: receives the number of messages erased so far.
            suppress: whether accounts that had the mailbox must not send to it any more.
            everywhere: whether this includes accounts that did not have it.

        Raises:
            ServiceError: `service_unavailable`; run it again.
        """
        began = self.clock()
        erasures = [AccountErasure(account) for account in accounts]

        def erase_once() -> None:
            for erasure in erasures:
                self._hash_suppression(erasure, mailbox, add=suppress and everywhere)
                self._erase_messages(erasure, mailbox, suppress=suppress)
                report(sum(each.messages for each in erasures))

        erase_once()
        settled = began + self.tuning.max_write_delay
        self.pause(max((settled - self.clock()).total_seconds(), 0))
        erase_once()
        # Again: a worker may have kept what it handed over during the first pass.
        for content in {content for each in erasures for content in each.kept}:
            self.remove_kept(content)
        for account in accounts:
            self.announced.erase(account.account_id, mailbox)
        return [each for each in erasures if each.messages or each.suppressed]

    def _erase_messages(self, erasure: AccountErasure, mailbox: str, *, suppress: bool) -> None:
        account, is_first = erasure.account, True
        for message_id, message in self._find(account, mailbox):
            if is_first:
                # First, because a late bounce of an erased message suppresses a hash.
                self.accounts.set_hashed_suppressions(account.account_id)
                self._hash_suppression(erasure, mailbox, add=suppress)
                is_first = False
            self._erase(erasure, message_id, message, mailbox)

    def _find(self, account: Account, mailbox: str) -> Iterator[tuple[UUID, Message | None]]:
        """Yield the messages that have the mailbox, or an entry of it that was left over.

        The newest records may not be in the index yet.
        """
        account_id, term = account.account_id, RecipientTerm(mailbox)
        since = self.indexed_until(account_id)  # before the index, which grows meanwhile
        entries = self.index.find_all(account_id, term, account.shards)
        for ids in batched(entries, _BATCH, strict=False):
            found = {each.message_id: each for each in self.log.get_all(account_id, ids)}
            yield from ((message_id, found.get(message_id)) for message_id in ids)
        for message in self.log.newest_first(account_id, since, END_OF_TIME, account.shards):
            if message.has_recipient(mailbox):
                yield message.message_id, message

    def _erase(
        self, erasure: AccountErasure, message_id: UUID, message: Message | None, mailbox: str
    ) -> None:
        """Change a record, then remove its entries. A worker may change it at the same time."""
        account_id = erasure.account.account_id
        outdated: set[SearchTerm] = {RecipientTerm(mailbox)}
        while message is not None and message.has_recipient(mailbox):
            if message.keep:
                # Before the record, by which an interrupted erasure finds it again.
                erasure.kept.add(content := KeptContent.of(message))
                self.remove_kept(content)
            erased = erase_recipient(message, mailbox)
            if message.waits:
                erased = self._without_content(erased)
            if self.rewrite.replace(erased):
                erasure.messages += 1
                erasure.pending += message.pending
                outdated |= terms_of(message) - terms_of(erased)
                break
            message = next(iter(self.log.get_all(account_id, [message_id])), None)
        if message is not None and message.schedule is not None:
            # Before the index, by which an erasure that was interrupted finds the message again.
            self.remove_content(account_id, message_id, message.origin.template_id)
        self.index.change(account_id, {SearchEntry(message_id, term): False for term in outdated})

    def _without_content(self, message: Message) -> Message:
        """Return a message that waits as failed: its content may name the person, and goes."""
        code = "recipient_erased"
        event = Event(kind=EventKind.FAILED, at=self.clock(), code=code, reason=MEANINGS[code])
        return message.with_events([event])

    def _hash_suppression(self, erasure: AccountErasure, mailbox: str, *, add: bool) -> None:
        """Replace the suppression of a mailbox by one of its hash; without one, perhaps add it."""
        account_id = erasure.account.account_id
        stored = self.suppressions.get(account_id, mailbox)
        if stored is None and not add:
            return
        self.accounts.set_hashed_suppressions(account_id)
        suppression = stored or Suppression(address=mailbox, reason=MANUAL, at=self.clock())
        hashed = hashed_mailbox(account_id, mailbox)
        self.suppressions.add(account_id, replace(suppression, address=hashed))
        if stored is not None:
            self.suppressions.remove(account_id, mailbox)
        erasure.suppressed = True

"""Erase a person: the address, and what may name the person, from the history of accounts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import batched
from typing import Final
from uuid import UUID

from pillarbox.application.accounts.ports import AccountRecords, SuppressionRecords
from pillarbox.application.accounts.suppressions import MANUAL
from pillarbox.application.history.ports import SearchEntry, SearchIndex
from pillarbox.application.history.tuning import STANDARD, Tuning
from pillarbox.application.message_log import MessageLog
from pillarbox.application.ports import Clock
from pillarbox.application.receiving_ports import ReceivedMails
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.suppression import Suppression, hashed_mailbox
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.messages.kept import KeptContent, erase_copy, erase_recipient
from pillarbox.domain.messages.message import MEANINGS, Event, EventKind, Message
from pillarbox.domain.messages.statistics import END_OF_TIME, RecipientTerm, SearchTerm, terms_of
from pillarbox.domain.replies import ReceivedMail

#: Records that are read by their ids at a time.
_BATCH: Final = 100
#: The longest that a worker runs, which keeps the content that it hands over.
_WORKER_TIME: Final = timedelta(seconds=60)


@dataclass(slots=True)
class AccountErasure:
    """What was erased from an account."""

    account: Account
    #: Messages that had the address, and copies of them.
    messages: int = 0
    #: Those of them that waited to be sent. They do not go to the address any more.
    pending: int = 0
    #: Mails that the person wrote or got a copy of, and answers to those messages.
    received: int = 0
    #: Whether a hash of the address is suppressed now.
    suppressed: bool = False
    #: Those messages, and all copies of them.
    related: set[UUID] = field(default_factory=set)
    #: Where the content of these was or may be kept.
    kept: set[KeptContent] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientErasure:
    """Erases recipients. An erasure that was interrupted goes on when it is run again.

    A record is changed before its entries in the index are removed, and after its copies, so a
    second run finds what the first one left.
    """

    accounts: AccountRecords
    log: MessageLog
    #: Replaces the revision that a changed message was made from, with all its fields. Returns
    #: False, and writes nothing, if the record has changed since.
    rewrite: Callable[[Message], bool]
    index: SearchIndex
    #: Returns the time before which all messages of an account are in the index.
    indexed_until: Callable[[str], int]
    suppressions: SuppressionRecords
    #: Takes a mailbox off the provider's list of the AWS account, and of a tenant if one is given.
    free: Callable[[str, str | None], object]
    #: Deletes what webhooks announced of a mailbox, or will announce, by account.
    erase_announced: Callable[[str, str], None]
    #: Deletes the content of a message that waits, by account, message and template.
    remove_content: Callable[[str, UUID, str | None], None]
    #: Deletes the kept content of a message, if it is there.
    remove_kept: Callable[[KeptContent], None]
    received: ReceivedMails
    #: Deletes what is kept of a received mail.
    remove_received: Callable[[ReceivedMail], None]
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
        surely there. So is a copy. Copies of a message that somebody sent to other addresses repeat
        what may name the person: they lose it too.

        With `suppress` the accounts that had the mailbox must not send to it any more, and with
        `everywhere` no other account may. `report` receives the number of messages erased so far.
        """
        began = self.clock()
        erasures = [AccountErasure(account) for account in accounts]

        def erase_once() -> None:
            for erasure in erasures:
                self._hash_suppression(erasure, mailbox, add=suppress and everywhere)
                self._erase_messages(erasure, mailbox, suppress=suppress)
                report(sum(each.messages for each in erasures))

        try:
            erase_once()
            settled = began + max(self.tuning.max_write_delay, _WORKER_TIME)
            self.pause(max((settled - self.clock()).total_seconds(), 0))
            erase_once()
        finally:
            # Again: a worker may have kept what it handed over during the first pass. After an
            # interruption no run finds these messages.
            for content in {content for each in erasures for content in each.kept}:
                self.remove_kept(content)
        for account in accounts:
            self.erase_announced(account.account_id, mailbox)
        return [each for each in erasures if each.messages or each.received or each.suppressed]

    def _erase_received(self, erasure: AccountErasure, mailbox: str) -> None:
        """Delete what the person wrote or got a copy of, and the answers to their emails."""
        for mail in self.received.all(erasure.account.account_id):
            addresses = {
                mailbox_key(one) for one in (mail.sender, *mail.reply_to, *mail.to, *mail.cc)
            }
            is_answer = mail.answered and mail.answered.message_id in erasure.related
            if mailbox in addresses or is_answer:
                self.remove_received(mail)
                self.received.remove(mail)
                erasure.received += 1

    def _erase_messages(self, erasure: AccountErasure, mailbox: str, *, suppress: bool) -> None:
        account_id = erasure.account.account_id
        found, recent = self._find(erasure, mailbox)
        # Before the messages, by which an erasure that was interrupted finds their answers.
        self._erase_received(erasure, mailbox)
        if found:
            # Before what an interrupted erasure finds again.
            self.free(mailbox, erasure.account.tenant)
            # First, because a late bounce of an erased message suppresses a hash.
            self.accounts.set_hashed_suppressions(account_id)
            self._hash_suppression(erasure, mailbox, add=suppress)
        # The newest first: copies before what they repeat, by which they are found.
        for ids in batched(sorted(found, key=_creation, reverse=True), _BATCH, strict=False):
            old = self.log.get_all(account_id, [each for each in ids if each not in recent])
            messages = recent | {message.message_id: message for message in old}
            for message_id in ids:
                self._erase(erasure, message_id, messages.get(message_id), mailbox)

    def _find(self, erasure: AccountErasure, mailbox: str) -> tuple[set[UUID], dict[UUID, Message]]:
        """Return the ids of what to erase, and those records that may not be in the index yet.

        That is what has the mailbox, or an entry of it that was left over, and the copies.
        """
        account, related = erasure.account, erasure.related
        account_id, shards = account.account_id, account.shards
        since = self.indexed_until(account_id)  # before the index, which grows meanwhile
        found = {*self.index.find_all(account_id, RecipientTerm(mailbox), shards)}
        recent = {
            message.message_id: message
            for message in self.log.newest_first(account_id, since, END_OF_TIME, shards)
            if message.origin.resend_of or message.has_recipient(mailbox)
        }
        found |= {each for each, message in recent.items() if message.has_recipient(mailbox)}
        related |= found
        if related:
            of_recent = ((one.origin.resend_of, each) for each, one in recent.items())
            copies = {*self.index.copies(account_id, shards), *of_recent}
            # The oldest first, because a copy may have copies.
            for original, copy in sorted(copies, key=lambda pair: _creation(pair[1])):
                if original in related and copy not in related:
                    related.add(copy)
                    found.add(copy)
        return found, recent

    def _erase(
        self, erasure: AccountErasure, message_id: UUID, message: Message | None, mailbox: str
    ) -> None:
        """Change a record, then remove its entries. A worker may change it at the same time."""
        account_id = erasure.account.account_id
        outdated: set[SearchTerm] = {RecipientTerm(mailbox)}
        while message is not None and (erased := _erased(erasure, message, mailbox)) != message:
            if message.keep:
                # Before the record, by which an interrupted erasure finds it again.
                erasure.kept.add(content := KeptContent.of(message))
                self.remove_kept(content)
            is_copy = message.origin.resend_of in erasure.related
            if message.waits or (is_copy and message.is_free):
                erased = self._without_content(erased)
            if self.rewrite(erased):
                erasure.messages += 1
                erasure.pending += message.pending and message.has_recipient(mailbox)
                outdated |= terms_of(message) - terms_of(erased)
                break
            message = next(iter(self.log.get_all(account_id, [message_id])), None)
        if message is not None and message.schedule is not None:
            # Before the index, by which an erasure that was interrupted finds the message again.
            self.remove_content(account_id, message_id, message.origin.template_id)
        self.index.change(account_id, {SearchEntry(message_id, term): False for term in outdated})

    def _without_content(self, message: Message) -> Message:
        """Return a message as failed: its content may name the person, and goes."""
        code = "recipient_erased"
        event = Event(kind=EventKind.FAILED, at=self.clock(), code=code, reason=MEANINGS[code])
        return message.with_events([event])

    def _hash_suppression(self, erasure: AccountErasure, mailbox: str, *, add: bool) -> None:
        """Replace the suppression of a mailbox by one of its hash; without one, perhaps add it."""
        account_id = erasure.account.account_id
        stored = self.suppressions.get(account_id, mailbox)
        if stored is None and not add:
            return
        self.free(mailbox, erasure.account.tenant)
        self.accounts.set_hashed_suppressions(account_id)
        suppression = stored or Suppression(address=mailbox, reason=MANUAL, at=self.clock())
        hashed = hashed_mailbox(account_id, mailbox)
        self.suppressions.add(account_id, replace(suppression, address=hashed))
        if stored is not None:
            self.suppressions.remove(account_id, mailbox)
        erasure.suppressed = True


def _erased(erasure: AccountErasure, message: Message, mailbox: str) -> Message:
    is_copy = message.origin.resend_of in erasure.related
    return erase_recipient(erase_copy(message) if is_copy else message, mailbox)


def _creation(message_id: UUID) -> int:
    return message_id.int

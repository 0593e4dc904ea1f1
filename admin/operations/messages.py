"""Look a message up for an operator, who knows its id or something about it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Final
from uuid import UUID

from admin.operations.ports import MessageRecords
from pillarbox.application.accounts.lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import is_uuid
from pillarbox.domain.message import Message
from pillarbox.domain.statistics import milliseconds, to_datetime

#: The accounts that one request asks for a message.
_BATCH: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What to search for: a message must match all that is given.

    `to` is a whole address in To, Cc or Bcc, and `subject` a part of the subject. The case of
    both does not matter.
    """

    since: datetime
    until: datetime
    to: str | None = None
    subject: str | None = None
    #: The most messages to find, and to read.
    limit: int
    max_read: int

    def matches(self, message: Message) -> bool:
        """Return whether a message is one of those."""
        mailboxes = map(mailbox_key, message.recipients)
        return (self.to is None or mailbox_key(self.to) in mailboxes) and (
            self.subject is None or self.subject.casefold() in message.subject.casefold()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The messages that were found, newest first, and what was searched for them."""

    found: list[Message]
    read: int
    since: datetime
    until: datetime
    #: Before which time other messages may follow; None if the whole range was searched.
    rest: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSearch:
    """The messages of all accounts, for an operator."""

    messages: MessageRecords
    accounts: AccountRecords
    #: Returns the ids of all accounts.
    account_ids: Callable[[], Iterable[str]]

    def get(
        self, message_id: str, account_id: str | None, report: Callable[[int], None]
    ) -> Message:
        """Read a message by its id; without an account, ask for it in all accounts.

        `report` receives the number of accounts asked so far.

        Raises:
            ValidationFailed: on `ID`.
            ServiceError: `account_not_found`, `message_not_found`.
        """
        if not is_uuid(message_id):
            raise ValidationFailed(FieldError("ID", "is not the id of a message", "invalid"))
        if account_id is not None:
            find_account(self.accounts, account_id)
        ids = self.account_ids() if account_id is None else [account_id]
        asked = 0
        for batch in batched(ids, _BATCH, strict=False):
            for message in self.messages.in_accounts(batch, UUID(message_id)):
                return message
            asked += len(batch)
            report(asked)
        where = "in any account" if account_id is None else f"in the account {account_id}"
        raise ServiceError("message_not_found", f"There is no such message {where}.")

    def find(self, account_id: str, search: Search, report: Callable[[int], None]) -> SearchResult:
        """Read an account's messages of a time range, newest first, and return those that match.

        `report` receives the number of messages read so far.

        Raises:
            ValidationFailed: on `since`, if the range is empty.
            ServiceError: `account_not_found`.
        """
        if search.since >= search.until:
            raise ValidationFailed(FieldError("since", "must be before until", "out_of_range"))
        account = find_account(self.accounts, account_id)
        found: list[Message] = []
        read, rest = 0, None
        log = self.messages.newest_first(
            account_id, milliseconds(search.since), milliseconds(search.until), account.shards
        )
        for message in log:
            if len(found) == search.limit or read == search.max_read:
                # Others may have been created in the same millisecond.
                rest = to_datetime(milliseconds(message.created_at) + 1)
                break
            read += 1
            report(read)
            if search.matches(message):
                found.append(message)
        return SearchResult(
            found=found, read=read, since=search.since, until=search.until, rest=rest
        )

"""Look a message up for an operator, who knows its id or something about it."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import batched, chain
from typing import Final
from uuid import UUID

from admin.use_cases.ports import MessageRecords
from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.history.queries import RecordSearch
from pillarbox.application.sending.changes import TIMER_WAIT
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import is_uuid
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.statistics import RecipientTerm, TimeRange, creation_time
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from pillarbox.domain.timing import milliseconds, to_datetime

#: The accounts that one request asks for a message, and the messages that one reads.
_BATCH: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What to search for: a message must match all that is given.

    `to` is an address in To, Cc or Bcc or its start, and `subject` a part of the subject. The case
    of both does not matter. `key_id` is the id of the API key that sent the message.
    """

    since: datetime
    until: datetime
    to: RecipientTerm | None = None
    subject: str | None = None
    key_id: str | None = None
    #: The most messages to find, and to read.
    limit: int
    max_read: int

    def matches(self, message: Message) -> bool:
        return (
            (self.to is None or self.to.matches(message))
            and (self.subject is None or self.subject.casefold() in message.subject.casefold())
            and (self.key_id is None or self.key_id == message.origin.key_id)
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
    search: RecordSearch

    def get(
        self, message_id: str, account_id: str | None, report: Callable[[int], None]
    ) -> Message:
        """Read a message by its id; without an account, ask in all and the service's own mail.

        `report` receives the number of accounts asked so far.
        """
        if not is_uuid(message_id):
            raise ValidationFailed(FieldError("ID", "is not the id of a message", "invalid"))
        if account_id is not None:
            find_account(self.accounts, account_id)
        of_all = chain((SERVICE_ACCOUNT_ID,), self.account_ids())
        ids = of_all if account_id is None else [account_id]
        asked = 0
        for batch in batched(ids, _BATCH, strict=False):
            for message in self.messages.in_accounts(batch, UUID(message_id)):
                return message
            asked += len(batch)
            report(asked)
        where = "in any account" if account_id is None else f"in the account {account_id}"
        raise ServiceError("message_not_found", f"There is no such message {where}.")

    def find(
        self, account_id: str | None, search: Search, report: Callable[[int], None]
    ) -> SearchResult:
        """Return the messages of an account, or of all, that match a search, newest first.

        Addresses are found in the index. Without one, every message of the time range is read.
        `report` receives the number of messages read so far.
        """
        if search.since >= search.until:
            raise ValidationFailed(FieldError("since", "must be before until", "out_of_range"))
        accounts = (
            self.accounts.all() if account_id is None else [find_account(self.accounts, account_id)]
        )
        found: list[Message] = []
        rests: list[datetime] = []
        read = 0
        for account in accounts:
            of_account = 0
            for message in self._candidates(account, search):
                if of_account == search.limit or read == search.max_read:
                    rests.append(_after(message))
                    break
                read += 1
                report(read)
                if search.matches(message):
                    found.append(message)
                    of_account += 1
        found.sort(key=lambda message: message.message_id.int, reverse=True)
        if len(found) > search.limit:
            rests.append(_after(found[search.limit]))
        rest = max(rests, default=None)
        if rest is not None:  # what is older is shown when the search goes on
            found = [message for message in found if _after(message) >= rest][: search.limit]
        return SearchResult(
            found=found, read=read, since=search.since, until=search.until, rest=rest
        )

    def _candidates(self, account: Account, search: Search) -> Iterator[Message]:
        """Yield the messages of an account that may match, newest first."""
        account_id, shards = account.account_id, account.shards
        created = TimeRange(milliseconds(search.since), milliseconds(search.until))
        if search.to is None:
            yield from self.messages.newest_first(account_id, created.since, created.until, shards)
            return
        seen: set[UUID] = set()
        while True:
            recent, found = self.search.find(account_id, search.to, created, shards)
            ids = [each for each in found if each not in seen]
            for batch in batched(ids, _BATCH, strict=False):
                yield from self.search.read(account_id, batch, recent)
            if not ids or len(found) < self.search.max_found:
                return
            seen = set(found)
            # Others may have been created in the same millisecond.
            created = TimeRange(created.since, creation_time(ids[-1]) + 1)


def _after(message: Message) -> datetime:
    """Return the time before which a message was created. Others may have the same millisecond."""
    return to_datetime(milliseconds(message.created_at) + 1)


class NoQueue:
    """Implements `waiting_ports.WakeQueue` for an operator, who queues no jobs."""

    def wake_all(self, jobs: Collection[Job], now: datetime) -> None:
        """Refuse them: the timer would not find them in time."""
        del jobs, now
        text = f"must be at least {TIMER_WAIT // timedelta(minutes=1)} minutes ahead"
        raise ValidationFailed(FieldError("at", text, "out_of_range"))

"""Pages of messages: what to list, and the result."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from pillarbox.domain.accounts.account import Account
from pillarbox.domain.messages.message import Message, Status
from pillarbox.domain.messages.search import RecipientTerm, SearchTerm, TagTerm
from pillarbox.domain.messages.statistics import Subset, SubsetKind, index_entry
from pillarbox.domain.timing import milliseconds


class SortBy(StrEnum):
    """The orders of contract 4.3. Each is descending; equal messages are ordered by messageId."""

    CREATED_AT = "created_at"
    UPDATED_AT = "updated_at"
    STATUS = "status"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """The messages to list (contract 4.3); times are milliseconds since 1970."""

    since: int | None = None
    until: int | None = None
    status: Status | None = None
    skip: int = 0
    limit: int = 50
    sort_by: SortBy = SortBy.CREATED_AT
    recipient: RecipientTerm | None = None
    tag: TagTerm | None = None
    key_id: str | None = None
    template: str | None = None
    #: The code of the current failure.
    error: str | None = None

    def of(self, account: Account) -> "PageRequest":
        """Return the request for what an account still has records of."""
        if account.records_from is None:
            return self
        return replace(self, since=max(self.since or 0, milliseconds(account.records_from)))

    @property
    def terms(self) -> tuple[SearchTerm, ...]:
        """What the messages are found by, the recipient first."""
        return tuple(term for term in (self.recipient, self.tag) if term is not None)

    @property
    def subsets(self) -> tuple[Subset, ...]:
        """The subsets of the account's messages that each message is in, the key's first."""
        ids = ((SubsetKind.KEY, self.key_id), (SubsetKind.TEMPLATE, self.template))
        return tuple(Subset(kind, each) for kind, each in ids if each is not None)

    def page_of(self, found: Iterable[Message]) -> "Page":
        """Return the page of some records in the time range: those that match all the rest."""
        matching = sorted(filter(self._accepts, found), key=self._place, reverse=True)
        return Page(matching[self.skip : self.skip + self.limit], len(matching))

    def _accepts(self, message: Message) -> bool:
        entry = index_entry(message)
        return (
            self.status in {None, message.status}
            and self.error in {None, entry.error}
            and all(term.matches(message) for term in self.terms)
            and all(entry.is_in(subset) for subset in self.subsets)
        )

    def _place(self, message: Message) -> tuple[object, ...]:
        match self.sort_by:
            case SortBy.CREATED_AT:
                return (message.message_id.int,)
            case SortBy.UPDATED_AT:
                return (message.updated_at, message.message_id.int)
            case SortBy.STATUS:
                return (message.status.value, message.updated_at, message.message_id.int)


@dataclass(frozen=True, slots=True)
class Page:
    """The messages on a page, and the number of messages on all pages."""

    items: list[Message]
    total: int

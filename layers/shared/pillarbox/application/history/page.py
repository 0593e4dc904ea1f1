"""Pages of messages: what to list, and the result."""

from dataclasses import dataclass
from enum import StrEnum

from pillarbox.domain.message import Message, Status
from pillarbox.domain.search import RecipientTerm, SearchTerm, TagTerm


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

    @property
    def terms(self) -> tuple[SearchTerm, ...]:
        """What the messages are found by, the recipient first."""
        return tuple(term for term in (self.recipient, self.tag) if term is not None)


@dataclass(frozen=True, slots=True)
class Page:
    """The messages on a page, and the number of messages on all pages."""

    items: list[Message]
    total: int

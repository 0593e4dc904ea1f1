"""The port that reads many records of messages. It is apart because a send does not need it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from pillarbox.domain.messages.message import Message


@dataclass(frozen=True, slots=True)
class ScanPage[T]:
    """A part of a long list: some items, and the cursor of the next page (None at the end)."""

    items: Sequence[T]
    next: str | None


class MessageLog(Protocol):
    """Many records of accepted messages at a time; times are in milliseconds since 1970."""

    def newest_first(
        self, account_id: str, since: int, until: int, shards: int | None = None
    ) -> Iterable[Message]:
        """Return the messages created from `since` to before `until`, read consistently.

        `shards` is the account's number of shards, for a caller that has just read the account.
        Without it, the number is read first.
        """

    def get_all(self, account_id: str, message_ids: Iterable[UUID]) -> Iterable[Message]:
        """Return the existing ones among some messages, in any order, read consistently."""

    def pending(
        self, account_id: str, since: int, until: int, cursor: str | None
    ) -> ScanPage[Message]:
        """Return the next of the messages created in a time range that are still pending.

        A page takes one request, so it may be empty although others follow. It is read
        eventually consistently: change a message only by `Messages.save`, which refuses if
        the message has changed since.
        """

"""Keep the search index up to date: from the table's stream, and again from the records."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import batched
from typing import Final

from pillarbox.application.history.ports import SearchEntry, SearchIndex
from pillarbox.application.message_log import MessageLog
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.search import terms_of

#: Records are read by their ids so many at a time.
_BATCH: Final = 100

#: Whether an entry is put (True) or removed (False).
type SearchChanges = dict[SearchEntry, bool]


@dataclass(frozen=True, slots=True)
class SearchIndexing[Record]:
    """Applies changes of messages to the search index.

    Only a new message, the erasure of a recipient and a deletion change it. The stream delivers
    the changes of a message in order, so the last one decides, however often they are repeated.

    Args:
        read: returns the message in a record before and after its change, from the record and
            the message after it; both are None if the index does not depend on the change.
        index: the index.
    """

    read: Callable[[Record, Message | None], tuple[Message | None, Message | None]]
    index: SearchIndex

    def changes(self, record: Record, message: Message | None) -> tuple[str, SearchChanges]:
        """Return the account and the changes that a record makes; no account if it makes none.

        `message` is the message after the change; None if it was deleted.
        """
        before, after = self.read(record, message)
        changed = after or before
        if changed is None:
            return "", {}
        changes = dict.fromkeys(_entries(before), False) | dict.fromkeys(_entries(after), True)
        return changed.account_id, changes


def index_again(
    log: MessageLog, index: SearchIndex, account_id: str, messages: Iterable[Message]
) -> int:
    """Put the entries of some messages that may lack them, and return the number of messages.

    A recipient who was erased in between is removed again.

    Raises:
        ServiceError: `service_unavailable`; the call can be repeated.
    """
    number = 0
    for batch in batched(messages, _BATCH, strict=False):
        put = {entry: True for message in batch for entry in _entries(message)}
        index.change(account_id, put)
        current = log.get_all(account_id, [message.message_id for message in batch])
        right = {entry for message in current for entry in _entries(message)}
        index.change(account_id, dict.fromkeys(put.keys() - right, False))
        number += len(batch)
    return number


def _entries(message: Message | None) -> set[SearchEntry]:
    if message is None:
        return set()
    return {SearchEntry(message.message_id, term) for term in terms_of(message)}

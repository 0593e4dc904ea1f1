"""The records of messages, read in order and from the table's stream, and their search index.

The mark has the time of the restore, and stays. So a later change of such a row, which has the same
mark before and after it, is announced like any other.

The search index has an item for each recipient and each tag of a message. Its key says everything:
the mailbox or the tag, then the message id. So the newest messages of an address are one short
query. The items of a message are in its shard's partition, so that no partition takes the writes of
several shards. Reads ask all shards.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from heapq import merge
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.aws import in_parallel
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import accepted_message, message_item
from pillarbox.adapters.dynamodb.table import (
    Item,
    Store,
    Table,
    assigning,
    from_item,
    to_item,
    to_text,
)
from pillarbox.application.history.ports import SearchEntry, UnreadableChange
from pillarbox.application.message_log import ScanPage
from pillarbox.domain.messages.message import Message, Status
from pillarbox.domain.messages.statistics import END_OF_TIME, SearchTerm, TimeRange, creation_time

_MARK: Final = "restored"


def marked(item: Item, at: datetime) -> Item:
    return item | to_item({_MARK: to_text(at)})


def unmarked(item: Item) -> Item:
    return {name: value for name, value in item.items() if name != _MARK}


def is_restored(record: Mapping[str, Any]) -> bool:
    """Return whether the change in a record of a table's stream put a row back."""
    images = record["dynamodb"]
    mark = images.get("NewImage", {}).get(_MARK)
    return mark is not None and mark != images.get("OldImage", {}).get(_MARK)


#: Readers mostly stop early, and a hundred records cost about 20 read units. Of several shards
#: each gives its part.
_PAGE: Final = 100
#: The old records of a page, which are deleted together.
_OLD: Final = 500
#: The attributes of a message that the search index depends on.
_SEARCHED: Final = ("to", "cc", "bcc", "tags")


class DynamoMessageLog(Store):
    """Implements `message_log.MessageLog`."""

    def newest_first(
        self, account_id: str, since: int, until: int, shards: int | None = None
    ) -> Iterable[Message]:
        """Read the records of a time range; message ids sort by their creation."""
        if since >= until:
            return ()
        if shards is None:
            shards = count_shards(self._table, account_id)

        def read_shard(shard: int) -> Iterator[dict[str, Any]]:
            first = keys.messages_from(account_id, shard, since)
            last = keys.messages_before(account_id, shard, until)
            page = -(-_PAGE // shards)
            items = iter(self._table.query(first, last, newest_first=True, page=page))
            return chain([*islice(items, 1)], items)  # with the first page read

        in_shards = in_parallel(read_shard, range(shards))
        return _messages_in(merge(*in_shards, key=itemgetter("sk"), reverse=True))

    def get_all(self, account_id: str, message_ids: Iterable[UUID]) -> Iterable[Message]:
        message_keys = [keys.message(account_id, message_id) for message_id in message_ids]
        return _messages_in(self._table.get_all(message_keys))

    def in_accounts(self, account_ids: Iterable[str], message_id: UUID) -> Iterable[Message]:
        """Read the message with an id in some accounts, up to a hundred; only one can have it."""
        message_keys = [keys.message(account_id, message_id) for account_id in account_ids]
        return _messages_in(self._table.get_all(message_keys))

    def pending(
        self, account_id: str, since: int, until: int, cursor: str | None
    ) -> ScanPage[Message]:
        """Read up to 1 MB of records; only those of pending messages leave the table.

        The shards follow one another. A cursor is the shard and the place in it.
        """
        shard, place = _place_of(cursor)
        items, following = self._table.query_page(
            keys.messages_from(account_id, shard, since),
            keys.messages_before(account_id, shard, until),
            equal=("status", Status.PENDING.value),
            cursor=place or None,
        )
        return self._page(account_id, items, shard, following)

    def oldest(self, account_id: str, until: int, cursor: str | None) -> ScanPage[Message]:
        """Read the first records of a shard, or those from the last one of a page on.

        The shards follow one another. A cursor is the shard and the id of that record.
        """
        shard, place = _place_of(cursor)
        start = keys.messages_from(account_id, shard, 0)
        first = keys.message(account_id, UUID(place)) if place else start
        last = keys.messages_before(account_id, shard, until)
        items = [*self._table.query(first, last, limit=_OLD)]
        last_id = items[-1]["sk"] if len(items) == _OLD else None
        return self._page(account_id, items, shard, last_id)

    def _page(
        self, account_id: str, items: Sequence[Mapping[str, Any]], shard: int, following: str | None
    ) -> ScanPage[Message]:
        """Return a page, and where the next one begins: in this shard or in another one."""
        messages = [*_messages_in(items)]
        if following is not None:
            return ScanPage(messages, f"{shard}:{following}")
        is_last = shard + 1 >= count_shards(self._table, account_id)
        return ScanPage(messages, None if is_last else f"{shard + 1}:")

    def rewrite_copy(self, copy: Message, erased: Message) -> None:
        """Set only what differs: a worker may change the rest at the same time."""
        old, new = (from_item(message_item(each)) for each in (copy, erased))
        changed = {name: new.get(name) for name, value in old.items() if new.get(name) != value}
        expression, values = assigning({"subject": erased.subject} | changed)
        self._table.try_update(
            keys.message(copy.account_id, copy.message_id),
            expression.replace("SET ", "SET rev = rev + :one, ", 1),
            values={**values, ":one": 1},
        )

    def delete(self, account_id: str, message_ids: Sequence[UUID]) -> None:
        """Delete records one by one, several at a time: so the role needs no right to put any."""
        in_parallel(lambda one: self._table.delete(keys.message(account_id, one)), message_ids)


def _place_of(cursor: str | None) -> tuple[int, str]:
    shard, _, place = (cursor or "").partition(":")
    return int(shard or 0), place


def _messages_in(items: Iterable[Mapping[str, Any]]) -> Iterable[Message]:
    return filter(None, map(accepted_message, items))


def count_shards(table: Table, account_id: str) -> int:
    """Read an account's number of shards, with the one right that every reader has."""
    found = table.query(keys.account(account_id), limit=1)
    return max((account.get("shards", 1) for account in found), default=1)


def read_change(record: Mapping[str, Any]) -> Message | None:
    """Return the message in a record of the table's stream, or None for anything else."""
    image = record["dynamodb"].get("NewImage")
    if image is None or not keys.is_message(image):
        return None
    return _message_in(image)


def read_search_change(
    record: Mapping[str, Any], changed: Message | None
) -> tuple[Message | None, Message | None]:
    """Return a message before and after the change in a record of the table's stream.

    Both are None if the search index does not depend on the change: most changes are events.

    Args:
        changed: what `read_change` returned for it.
    """
    old, new = (record["dynamodb"].get(name) for name in ("OldImage", "NewImage"))
    if not any(image and keys.is_message(image) for image in (old, new)):
        return None, None
    if old and new and all(old.get(name) == new.get(name) for name in _SEARCHED):
        return None, None
    return _message_in(old) if old else None, changed


def _message_in(image: Item) -> Message | None:
    try:
        return accepted_message(from_item(image))
    except (KeyError, TypeError, ValueError) as error:
        account_id, message_id = keys.message_ids(image)
        created = creation_time(message_id) if message_id else None
        raise UnreadableChange(account_id, created) from error


def change_time(record: Mapping[str, Any]) -> datetime | None:
    """Return when the change in a record of the stream was written, if the record has it."""
    seconds = record["dynamodb"].get("ApproximateCreationDateTime")
    return None if seconds is None else datetime.fromtimestamp(float(seconds), UTC)


def count_changes(records: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Count the accepted messages in records of the stream, and the changes to each status.

    The counts are for metrics: a batch that is retried is counted again. A message that an
    operator put back was counted when it was accepted.
    """
    counts: Counter[str] = Counter()
    for record in records:
        new = record["dynamodb"].get("NewImage")  # a row that was deleted has none
        if new is None or not keys.is_message(new) or is_restored(record):
            continue
        old = record["dynamodb"].get("OldImage", {})
        status = new.get("status", {}).get("S", "")
        if not status:  # a tombstone
            continue
        if not old:
            counts["accepted"] += 1
        elif status != old.get("status", {}).get("S"):
            counts[status] += 1
    return counts


class DynamoSearchIndex(Store):
    """Implements `history.ports.SearchIndex`."""

    def find(
        self, account_id: str, term: SearchTerm, created: TimeRange, limit: int, shards: int | None
    ) -> list[UUID]:
        """Read `limit` items, in one request to each shard or a few: each gives its part."""
        if shards is None:
            shards = count_shards(self._table, account_id)

        page = -(-limit // shards)

        def read_shard(shard: int) -> Iterator[UUID]:
            first, last = keys.search_entries(account_id, shard, term, created)
            items = iter(self._table.query(first, last, newest_first=True, page=page))
            read = chain([*islice(items, 1)], items)  # with the first page read
            return map(keys.found_message, read)

        if created.is_empty:
            return []
        in_shards = in_parallel(read_shard, range(shards))
        return [*islice(merge(*in_shards, key=lambda one: one.int, reverse=True), limit)]

    def find_all(self, account_id: str, term: SearchTerm, shards: int) -> Iterable[UUID]:
        """Read the items of one shard after the other."""
        for shard in range(shards):
            first, last = keys.search_entries(account_id, shard, term, TimeRange(0, END_OF_TIME))
            yield from map(keys.found_message, self._table.query(first, last, page=_PAGE))

    def copies(self, account_id: str, shards: int) -> Iterable[tuple[UUID, UUID]]:
        """Read the items of one shard after the other."""
        for shard in range(shards):
            yield from map(
                keys.original_and_copy, self._table.query(*keys.copies(account_id, shard))
            )

    def change(self, account_id: str, changes: Mapping[SearchEntry, bool]) -> None:
        items: dict[bool, list[Any]] = {True: [], False: []}
        for entry, is_put in changes.items():
            items[is_put].append(keys.search_entry(account_id, entry.message_id, entry.term))
        self._table.write_all(puts=items[True], deletes=items[False])

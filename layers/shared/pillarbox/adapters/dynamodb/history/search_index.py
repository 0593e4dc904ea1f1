"""The search index: an item for each recipient and each tag of a message.

Its key says everything: the mailbox or the tag, then the message id. So the newest messages of an
address are one short query. The items of a message are in its shard's partition, so that no
partition takes the writes of several shards. Reads ask all shards.
"""

from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import chain, islice
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.aws import in_parallel
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.message_log import count_shards
from pillarbox.adapters.dynamodb.table import Store
from pillarbox.application.history.ports import SearchEntry
from pillarbox.domain.messages.statistics import END_OF_TIME, SearchTerm, TimeRange

#: Items in a request of a reader that may stop early.
_PAGE: Final = 100


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
        return [*islice(merge(*in_shards, key=_creation, reverse=True), limit)]

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
        """Put and delete items; none of them has a condition."""
        items: dict[bool, list[Any]] = {True: [], False: []}
        for entry, is_put in changes.items():
            items[is_put].append(keys.search_entry(account_id, entry.message_id, entry.term))
        self._table.write_all(puts=items[True], deletes=items[False])


def _creation(message_id: UUID) -> int:
    return message_id.int

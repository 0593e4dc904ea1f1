"""Delete what the tables hold of an account."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import batched
from time import sleep
from typing import Any, Final

from pillarbox.adapters.aws import in_parallel, service_errors
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import Item, to_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.errors import Unavailable

_NAME: Final = "data store"
#: BatchWriteItem accepts at most 25 deletions.
_BATCH: Final = 25
#: So many are deleted before the progress is reported, in several requests at a time.
_REPORTED: Final = 8 * _BATCH
#: DynamoDB may delete only a part of a batch; after these waits in seconds the deletion fails.
_WAITS: Final = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)


class DynamoAccountData:
    """Implements `operations.ports.AccountData`."""

    def __init__(self, table: Table, identities: Table) -> None:
        self._table = table
        self._identities = identities

    def delete_contents(self, account_id: str, shards: int) -> Iterator[tuple[str, int]]:
        """Read each partition of the account, and delete its items in batches."""
        for shard in range(shards):
            yield from _delete(self._table, "messages", keys.messages_from(account_id, shard, 0))
        yield from _delete(self._table, "statistics", keys.entries(account_id, 0))
        yield from _delete(self._table, "templates", keys.template(account_id))
        yield from _delete(self._table, "suppressions", keys.suppression(account_id))
        yield from _delete(self._table, "quotas", keys.quota(account_id))
        yield from self._delete_webhooks(account_id)
        marks = [
            item
            for item in self._table.query(keys.rebuild_mark())
            if keys.marked_account(item) == account_id
        ]
        _delete_all(self._table, [_key(mark) for mark in marks])
        for table in (self._table, self._identities):
            for batch in batched(table.query(keys.key_list(account_id)), _REPORTED, strict=False):
                # An entry of the list is the only way to its key, so it goes last.
                _delete_all(table, [keys.api_key(entry["digest"]) for entry in batch])
                _delete_all(table, [_key(entry) for entry in batch])
                yield "keys", len(batch)

    def _delete_webhooks(self, account_id: str) -> Iterator[tuple[str, int]]:
        """Delete what is about each endpoint, and the endpoints last: they show the rest."""
        for endpoint in self._identities.query(*keys.webhook_endpoints(account_id)):
            for partition in keys.of_webhook_endpoint(account_id, endpoint["sk"]):
                yield from _delete(self._table, "webhook deliveries", partition)
        yield from _delete(
            self._identities, "webhook endpoints", keys.webhook_endpoint_ids(account_id)
        )

    def delete_account(self, account_id: str) -> None:
        """Delete the entry in the list of all accounts, then the record, which shows the rest."""
        self._table.delete(keys.account_list(account_id))
        self._table.delete(keys.account(account_id))


def _delete(table: Table, kind: str, partition: Item) -> Iterator[tuple[str, int]]:
    items = table.query(partition, page=_REPORTED)
    for batch in batched(items, _REPORTED, strict=False):
        _delete_all(table, [_key(item) for item in batch])
        yield kind, len(batch)


def _delete_all(table: Table, item_keys: Sequence[Item]) -> None:
    batches = [*batched(item_keys, _BATCH, strict=False)]
    in_parallel(partial(_delete_batch, table), batches)


def _delete_batch(table: Table, item_keys: Iterable[Item]) -> None:
    requested: Mapping[str, Any] = {
        table.name: [{"DeleteRequest": {"Key": key}} for key in item_keys]
    }
    for wait in (*_WAITS, 0):
        with service_errors(_NAME):
            response = table.client.batch_write_item(RequestItems=requested)
        requested = response.get("UnprocessedItems", {})
        if not requested:
            return
        sleep(wait)
    raise Unavailable(_NAME, f"The {_NAME} is too busy. Run the command again to go on.")


def _key(item: Mapping[str, Any]) -> Item:
    return to_item({"pk": item["pk"], "sk": item["sk"]})

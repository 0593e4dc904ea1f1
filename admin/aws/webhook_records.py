"""Delete the records of webhooks that name an address."""

from typing import Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import Item, to_item
from pillarbox.adapters.dynamodb.table import Table

#: Higher than every id of a delivery.
_LAST: Final = ":"


class DynamoWebhookRecords:
    """Implements `operations.ports.WebhookRecords`."""

    def __init__(self, table: Table, identities: Table) -> None:
        self._table = table
        self._identities = identities

    def delete_address(self, account_id: str, mailbox: str) -> None:
        """Read the log and the waiting events of each endpoint; a log has 30 days."""
        for endpoint in self._identities.query(*keys.webhook_endpoints(account_id)):
            for records in (keys.webhook_delivery, keys.waiting_event):
                first = records(account_id, endpoint["sk"], "0")
                last = records(account_id, endpoint["sk"], _LAST)
                self._delete(first, last, mailbox)

    def _delete(self, first: Item, last: Item, mailbox: str) -> None:
        cursor: str | None = None
        while True:
            items, cursor = self._table.query_page(
                first, last, equal=("address", mailbox), cursor=cursor
            )
            for item in items:
                self._table.delete(first | to_item({"sk": item["sk"]}))
            if cursor is None:
                return

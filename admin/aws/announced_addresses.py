"""Delete the records of webhooks that name an address."""

from collections.abc import Mapping
from itertools import batched
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import Table, to_item
from pillarbox.domain.address import mailbox_key

#: Items that are read at a time.
_PAGE: Final = 200


class DynamoAnnouncedAddresses:
    """Implements `operations.ports.AnnouncedAddresses`."""

    def __init__(self, table: Table, credentials: Table) -> None:
        self._table = table
        self._credentials = credentials

    def erase(self, account_id: str, mailbox: str) -> None:
        """Delete the deliveries and the waiting events of each endpoint that name the mailbox."""
        for endpoint in self._credentials.query(*keys.webhook_endpoints(account_id)):
            for partition in keys.of_webhook_endpoint(account_id, endpoint["sk"]):
                found = (
                    to_item({"pk": item["pk"], "sk": item["sk"]})
                    for item in self._table.query(partition, page=_PAGE)
                    if _names(item, mailbox)
                )
                for batch in batched(found, _PAGE, strict=False):
                    self._table.write_all(deletes=batch)


def _names(item: Mapping[str, Any], mailbox: str) -> bool:
    return "address" in item and mailbox_key(item["address"]) == mailbox

"""What the erasure of a person changes in the tables, beside what the service changes itself."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import batched
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table, to_item
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.messages.message import Message

#: Items that are read at a time.
_PAGE: Final = 200


def rewrite(table: Table, message: Message) -> bool:
    """Put a record with all its fields, unless a worker has changed it: then return False."""
    item = message_item(replace(message, revision=message.revision + 1))
    try:
        table.put(item, condition="rev = :rev", values={":rev": message.revision})
    except ConditionFailed:
        return False
    return True


def erase_announced(table: Table, credentials: Table, account_id: str, mailbox: str) -> None:
    """Delete the deliveries and the waiting events of webhooks that name a mailbox."""
    for endpoint in credentials.query(*keys.webhook_endpoints(account_id)):
        for partition in keys.of_webhook_endpoint(account_id, endpoint["sk"]):
            found = (
                to_item({"pk": item["pk"], "sk": item["sk"]})
                for item in table.query(partition, page=_PAGE)
                if _names(item, mailbox)
            )
            for batch in batched(found, _PAGE, strict=False):
                table.write_all(deletes=batch)


def _names(item: Mapping[str, Any], mailbox: str) -> bool:
    return "address" in item and mailbox_key(item["address"]) == mailbox

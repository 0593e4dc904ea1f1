"""Write a record together with its entry in a list."""

from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.adapters.dynamodb.table import NEW, Table
from pillarbox.domain.errors import Unavailable


def put_with_list_entry(table: Table, record: Item, entry: Item) -> None:
    """Put a new record and its list entry in one transaction: both or neither.

    Raises:
        Unavailable: one of them exists, which happens only after a lost response, or if two
            random ids are equal.
    """
    if not table.try_transact(
        table.to_put(record, condition=NEW), table.to_put(entry, condition=NEW)
    ):
        raise Unavailable(
            "data store",
            "The data store was busy with the same record. Try again.",
            aws_error="ConditionalCheckFailed",
        )

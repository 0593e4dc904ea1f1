"""Write a record together with its entry in a list."""

from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.adapters.dynamodb.table import Table, TransactionConditionsFailed
from pillarbox.domain.errors import Unavailable


def put_with_list_entry(table: Table, record: Item, entry: Item) -> None:
    """Put a new record and its list entry in one transaction: both or neither.

    Raises:
        Unavailable: one of them exists, which happens only after a lost response, or if two
            random ids are equal.
    """
    puts = (
        {
            "TableName": table.name,
            "Item": item,
            "ConditionExpression": "attribute_not_exists(pk)",
        }
        for item in (record, entry)
    )
    try:
        table.transact([{"Put": put} for put in puts])  # type: ignore[typeddict-item]
    except TransactionConditionsFailed as failure:
        raise Unavailable(
            "data store",
            "The data store was busy with the same record. Try again.",
            aws_error="ConditionalCheckFailed",
        ) from failure

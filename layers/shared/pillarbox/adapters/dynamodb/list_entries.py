"""Records that also stand in a list: both are written, or neither."""

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import code_of, service_errors
from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.errors import Unavailable


def put_with_list_entry(table: Table, record: Item, entry: Item) -> None:
    """Put a new record and its entry in a list, in one transaction.

    Raises:
        Unavailable: one of them is being written, or is there already, which takes
            two equal random ids.
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
        with service_errors("data store"):
            table.client.transact_write_items(TransactItems=[{"Put": put} for put in puts])  # type: ignore[typeddict-item]
    except ClientError as error:
        if code_of(error) != "TransactionCanceledException":
            raise
        raise Unavailable(
            "data store",
            "The data store was busy with the same record; try again.",
            aws_error=code_of(error),
        ) from error

"""Write a record together with its entry in a list."""

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import code_of, service_errors
from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.errors import Unavailable


def put_with_list_entry(table: Table, record: Item, entry: Item) -> None:
    """Put a new record and its list entry in one transaction: both or neither.

    Raises:
        Unavailable: another write of one of them is in progress, or one of them exists.
            They exist only after a lost response, or if two random ids are equal.
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
            "The data store was busy with the same record. Try again.",
            aws_error=code_of(error),
        ) from error

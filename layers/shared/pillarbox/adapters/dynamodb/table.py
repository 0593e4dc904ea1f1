"""The one table: the few calls that the stores are made of."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import count
from time import sleep
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import (
    PATIENT,
    SINGLE_TRY,
    code_of,
    in_parallel,
    make_client,
    service_errors,
)
from pillarbox.adapters.dynamodb.attributes import Item, from_item, to_attribute
from pillarbox.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_NAME: Final = "data store"
#: DynamoDB may answer a batch in part; asked again this often, then given up.
_BATCH_TRIES: Final = 5
#: BatchGetItem takes at most 100 keys.
_BATCH: Final = 100


class ConditionFailed(Exception):
    """A conditional write found the record otherwise; `item` is what it found."""

    def __init__(self, item: dict[str, Any] | None) -> None:
        super().__init__("the condition of the write did not hold")
        self.item = item


class Table:
    """A DynamoDB table, decoded: items in and out are plain dicts.

    Args:
        name: the table's.
        retries: False for writes that must not take effect twice.
    """

    def __init__(self, name: str, *, retries: bool = True) -> None:
        self.name = name
        self._config = PATIENT if retries else SINGLE_TRY

    @cached_property
    def client(self) -> "DynamoDBClient":
        """The client, made on first use."""
        client: DynamoDBClient = make_client("dynamodb", self._config)
        return client

    def get(self, key: Item, *, consistent: bool = True) -> dict[str, Any] | None:
        """Read one item; what was written a moment ago is missed only if not `consistent`."""
        with service_errors(_NAME):
            answer = self.client.get_item(TableName=self.name, Key=key, ConsistentRead=consistent)
        return from_item(answer["Item"]) if "Item" in answer else None

    def get_all(self, keys: Sequence[Item]) -> list[dict[str, Any]]:
        """Read items consistently, in any order; absent ones are left out."""
        parts = [keys[start : start + _BATCH] for start in range(0, len(keys), _BATCH)]
        return [item for part in in_parallel(self._get_batch, parts) for item in part]

    def _get_batch(self, keys: Sequence[Item]) -> list[dict[str, Any]]:
        found: list[Mapping[str, Any]] = []
        wanted: Mapping[str, Any] = {self.name: {"Keys": list(keys), "ConsistentRead": True}}
        for tries in count(1):
            with service_errors(_NAME):
                answer = self.client.batch_get_item(RequestItems=wanted)
            found += answer["Responses"].get(self.name, [])
            wanted = answer.get("UnprocessedKeys", {})
            if not wanted:
                return list(map(from_item, found))
            if tries == _BATCH_TRIES:
                break
            sleep(0.02 * 2**tries)
        raise Unavailable(_NAME, f"The {_NAME} is too busy at the moment.")

    def query(
        self,
        key: Item,
        last: Item | None = None,
        *,
        newest_first: bool = False,
        limit: int | None = None,
        page: int | None = None,
    ) -> Iterable[dict[str, Any]]:
        """Read the items under a partition key, consistently, in the order of their sort keys.

        Args:
            key: the partition; with `last`, also the first sort key.
            last: the last sort key.
            newest_first: from the end.
            limit: so many items at most.
            page: read in pieces of so many, for one who may stop on the way.
        """
        request: dict[str, Any] = {
            "TableName": self.name,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": key["pk"]},
            "ScanIndexForward": not newest_first,
            "ConsistentRead": True,
        }
        if last is not None:
            request["KeyConditionExpression"] += " AND sk BETWEEN :first AND :last"
            request["ExpressionAttributeValues"] |= {":first": key["sk"], ":last": last["sk"]}
        if limit or page:
            request["Limit"] = limit or page
        while True:
            with service_errors(_NAME):
                answer = self.client.query(**request)
            yield from map(from_item, answer["Items"])
            if "LastEvaluatedKey" not in answer or limit is not None:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def put(
        self,
        item: Item,
        *,
        condition: str | None = None,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, object] | None = None,
    ) -> None:
        """Put an item.

        Raises:
            ConditionFailed: the condition did not hold; nothing was written.
        """
        self._write("put_item", {"Item": item}, condition, names, values)

    def delete(
        self,
        key: Item,
        *,
        condition: str | None = None,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, object] | None = None,
    ) -> None:
        """Delete an item.

        Raises:
            ConditionFailed: the condition did not hold; nothing was deleted.
        """
        self._write("delete_item", {"Key": key}, condition, names, values)

    def update(
        self,
        key: Item,
        expression: str,
        *,
        condition: str | None = None,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, object] | None = None,
    ) -> dict[str, Any]:
        """Update an item and give it back as it is now.

        Raises:
            ConditionFailed: the condition did not hold; nothing was changed.
        """
        request = {"Key": key, "UpdateExpression": expression, "ReturnValues": "ALL_NEW"}
        answer = self._write("update_item", request, condition, names, values)
        return from_item(answer.get("Attributes", {}))

    def _write(
        self,
        operation: str,
        request: dict[str, Any],
        condition: str | None,
        names: Mapping[str, str] | None,
        values: Mapping[str, object] | None,
    ) -> Any:  # noqa: ANN401  three operations, three answers
        request["TableName"] = self.name
        if condition:
            request["ConditionExpression"] = condition
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        if names:
            request["ExpressionAttributeNames"] = names
        if values:
            request["ExpressionAttributeValues"] = {
                name: to_attribute(value) for name, value in values.items()
            }
        try:
            with service_errors(_NAME):
                return getattr(self.client, operation)(**request)
        except ClientError as error:
            if code_of(error) != "ConditionalCheckFailedException":
                raise
            answer: Mapping[str, Any] = error.response
            raise ConditionFailed(
                from_item(answer["Item"]) if "Item" in answer else None
            ) from error

"""The table: its attributes, and the few calls that all stores use.

BatchWriteItem takes no condition. A transaction costs two write units an item.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import batched, count
from random import uniform
from time import sleep
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import (
    WITH_RETRIES,
    WITHOUT_RETRIES,
    code_of,
    in_parallel,
    make_client,
    service_errors,
)
from pillarbox.adapters.rows import Codec
from pillarbox.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

type AttributeValue = dict[str, Any]
type Item = dict[str, AttributeValue]


def to_attribute(value: object) -> AttributeValue:
    """Encode one value: str, bytes, bool, int, None, list, tuple, dict, or a set of str."""
    match value:
        case str():
            return {"S": value}
        case bytes():
            return {"B": value}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case None:
            return {"NULL": True}
        case list() | tuple():
            return {"L": [to_attribute(item) for item in value]}
        case set() | frozenset():
            return {"SS": sorted(value)}
        case Mapping():
            return {"M": {name: to_attribute(item) for name, item in value.items()}}
    raise TypeError(f"no attribute value is defined for {type(value).__name__}")


def from_attribute(attribute: Mapping[str, Any]) -> Any:  # noqa: ANN401  any stored value
    """Decode one attribute value."""
    ((data_type, value),) = attribute.items()
    match data_type:
        case "S" | "B" | "BOOL":
            return value
        case "N":
            return int(value)
        case "NULL":
            return None
        case "L":
            return [from_attribute(item) for item in value]
        case "SS":
            return set(value)
        case "M":
            return from_item(value)
    raise TypeError(f"this service writes no attribute of type {data_type}")


def to_item(values: Mapping[str, object]) -> Item:
    """Encode an item without the values that are None: an absent attribute costs nothing."""
    return {name: to_attribute(value) for name, value in values.items() if value is not None}


def from_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Decode an item."""
    return {name: from_attribute(attribute) for name, attribute in item.items()}


def to_text(moment: datetime) -> str:
    """Write a moment as ISO 8601 in UTC with milliseconds. These texts sort by time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def from_text(text: str) -> datetime:
    """Read what `to_text` wrote."""
    return datetime.fromisoformat(text)


def to_ttl(moment: datetime) -> int:
    """Write the moment from which DynamoDB may delete an item, in seconds since 1970."""
    return round(moment.timestamp())


TIME: Final = Codec(to_text, from_text)


def assigning(values: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Return the update that sets attributes, or removes those that are None, and its values."""
    given = {name: value for name, value in values.items() if value is not None}
    terms = {
        "SET": [f"#{name} = :{name}" for name in given],
        "REMOVE": [f"#{name}" for name in values if name not in given],
    }
    expression = " ".join(f"{action} {', '.join(of)}" for action, of in terms.items() if of)
    return expression, {f":{name}": value for name, value in given.items()}


_NAME: Final = "data store"
#: The names of attributes in an expression.
_NAMES: Final = re.compile(r"#(\w+)")
#: DynamoDB may return only a part of a batch; after so many tries the read fails.
_MAX_TRIES: Final = 5
#: The longest wait before each repetition of a write that met a transaction, in seconds. Waits are
#: random, so that those that met do not meet again.
_WAITS: Final = (0.05, 0.1, 0.2, 0.4)
#: The reasons of a cancelled transaction that a later try may not meet.
_BUSY: Final = frozenset(
    {"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"}
)
_NO_REASON: Final = "None"
_CONDITION_FAILED: Final = "ConditionalCheckFailed"
#: BatchGetItem accepts at most 100 keys.
_BATCH: Final = 100
#: BatchWriteItem accepts at most 25 writes, and DynamoDB may make only a part of them; after these
#: waits in seconds the write fails.
_WRITE_BATCH: Final = 25
_BATCH_WAITS: Final = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)

#: The conditions that an item is not there, or is.
NEW: Final = "attribute_not_exists(pk)"
EXISTS: Final = "attribute_exists(pk)"


class Parts(TypedDict, total=False):
    """What a write may have. `#name` stands for the attribute `name` unless `names` has another."""

    condition: str | None
    names: Mapping[str, str] | None
    values: Mapping[str, object] | None


class ConditionFailed(Exception):
    """A write's condition failed and nothing was written; `item` is the stored item, or None."""

    def __init__(self, item: dict[str, Any] | None) -> None:
        super().__init__("the condition of the write failed")
        self.item = item


class TransactionConditionsFailed(Exception):
    """Conditions of a transaction failed; `failed` says for each write whether its own did."""

    def __init__(self, failed: Sequence[bool]) -> None:
        super().__init__("conditions of the transaction failed")
        self.failed = failed


class Table:
    """A DynamoDB table. Keys and items to put are encoded; items that it returns are decoded.

    Args:
        retries: False for writes that must not take effect twice.
    """

    def __init__(self, name: str, *, retries: bool = True) -> None:
        self.name = name
        self._config = WITH_RETRIES if retries else WITHOUT_RETRIES

    @cached_property
    def client(self) -> "DynamoDBClient":
        """The client; the first use makes it."""
        client: DynamoDBClient = make_client("dynamodb", self._config)
        return client

    def get(self, key: Item, *, consistent: bool = True) -> dict[str, Any] | None:
        """Read one item. Only without `consistent` may the read miss a recent write."""
        with service_errors(_NAME):
            response = self.client.get_item(TableName=self.name, Key=key, ConsistentRead=consistent)
        return from_item(response["Item"]) if "Item" in response else None

    def find[T](
        self, key: Item, read: Callable[[dict[str, Any]], T], *, consistent: bool = True
    ) -> T | None:
        """Return what a stored item stands for; None if there is none."""
        item = self.get(key, consistent=consistent)
        return None if item is None else read(item)

    def get_all(
        self, keys: Sequence[Item], of_another: "tuple[Table, Sequence[Item]] | None" = None
    ) -> list[dict[str, Any]]:
        """Read items with strong consistency, in any order; absent items are left out.

        Args:
            of_another: another table and keys of it, for the same request.
        """
        named = [(self.name, key) for key in keys]
        if of_another:
            other, of_other = of_another
            named = [(other.name, key) for key in of_other] + named
        batches = [named[start : start + _BATCH] for start in range(0, len(named), _BATCH)]
        return [item for batch in in_parallel(self._get_batch, batches) for item in batch]

    def _get_batch(self, named: Sequence[tuple[str, Item]]) -> list[dict[str, Any]]:
        items: list[Mapping[str, Any]] = []
        requested: Mapping[str, Any] = {
            table: {"Keys": [key for name, key in named if name == table], "ConsistentRead": True}
            for table in dict(named)
        }
        for tries in count(1):
            with service_errors(_NAME):
                response = self.client.batch_get_item(RequestItems=requested)
            for found in response["Responses"].values():
                items += found
            requested = response.get("UnprocessedKeys", {})
            if not requested:
                return list(map(from_item, items))
            if tries == _MAX_TRIES:
                break
            sleep(0.02 * 2**tries)
        raise Unavailable(_NAME, f"The {_NAME} is too busy at the moment.")

    def query(  # noqa: PLR0913  what to read, and how
        self,
        key: Item,
        last: Item | None = None,
        *,
        newest_first: bool = False,
        limit: int | None = None,
        page: int | None = None,
        consistent: bool = True,
    ) -> Iterable[dict[str, Any]]:
        """Read the items of a partition in the order of their sort keys.

        Args:
            key: the partition key; with `last`, also the first sort key.
            last: the last sort key.
            page: the number of items in each request, for a caller that may stop early.
            consistent: only without it may the read miss a recent write.
        """
        request = self._range(key, last)
        request |= {"ScanIndexForward": not newest_first, "ConsistentRead": consistent}
        if limit or page:
            request["Limit"] = limit or page
        for response in self._pages(request):
            yield from map(from_item, response["Items"])
            if limit is not None:
                return

    def count(self, key: Item) -> int:
        """Count the items of a partition. DynamoDB reads all of them, and returns none."""
        request = self._range(key) | {"Select": "COUNT"}
        return sum(response["Count"] for response in self._pages(request))

    def query_page(
        self, key: Item, last: Item, *, equal: tuple[str, str], cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Read one page of a partition with eventual consistency, and only some of its items.

        DynamoDB reads and bills all items of the page, and returns those that match.

        Args:
            equal: an attribute and the text that it must have.

        Returns:
            The items, and the cursor of the next page (None at the end).
        """
        name, text = equal
        request = self._range(key, last)
        request["FilterExpression"] = "#name = :text"
        request["ExpressionAttributeNames"] = {"#name": name}
        request["ExpressionAttributeValues"][":text"] = to_attribute(text)
        if cursor is not None:
            request["ExclusiveStartKey"] = {"pk": key["pk"], "sk": to_attribute(cursor)}
        response = next(self._pages(request))
        last_key = response.get("LastEvaluatedKey")
        return [*map(from_item, response["Items"])], last_key["sk"]["S"] if last_key else None

    def _range(self, key: Item, last: Item | None = None) -> dict[str, Any]:
        """Return the request for a partition, or for a range of its sort keys."""
        condition, values = "pk = :pk", {":pk": key["pk"]}
        if last is not None:
            condition += " AND sk BETWEEN :first AND :last"
            values |= {":first": key["sk"], ":last": last["sk"]}
        return {
            "TableName": self.name,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
        }

    def _pages(self, request: dict[str, Any]) -> Iterator[Any]:
        while True:
            with service_errors(_NAME):
                response = self.client.query(**request)
            yield response
            if "LastEvaluatedKey" not in response:
                return
            request["ExclusiveStartKey"] = response["LastEvaluatedKey"]

    def put(self, item: Item, **parts: Unpack[Parts]) -> None:
        self._write("put_item", {"Item": item}, parts)

    def put_new(self, item: Item) -> dict[str, Any] | None:
        """Put an item, or return the stored one with its key."""
        try:
            self.put(item, condition=NEW)
        except ConditionFailed as failure:
            return failure.item
        return None

    def replace(self, item: Item, **parts: Unpack[Parts]) -> bool:
        """Put an item; return False if the condition failed and another one is stored.

        The SDK may have repeated our own write, whose response was lost.
        """
        try:
            self.put(item, **parts)
        except ConditionFailed as failure:
            return failure.item == from_item(item)
        return True

    def delete(self, key: Item, **parts: Unpack[Parts]) -> None:
        self._write("delete_item", {"Key": key}, parts)

    def remove(self, key: Item) -> bool:
        """Delete an item; return False if there is none."""
        try:
            self.delete(key, condition=EXISTS)
        except ConditionFailed:
            return False
        return True

    def update(self, key: Item, expression: str, **parts: Unpack[Parts]) -> dict[str, Any]:
        """Update an item and return its new state."""
        request = {"Key": key, "UpdateExpression": expression, "ReturnValues": "ALL_NEW"}
        response = self._write("update_item", request, parts)
        return from_item(response.get("Attributes", {}))

    def try_update(
        self, key: Item, expression: str, **parts: Unpack[Parts]
    ) -> dict[str, Any] | None:
        """Update an item and return its new state; None if the condition failed.

        Without a condition the item must exist.
        """
        parts.setdefault("condition", EXISTS)
        try:
            return self.update(key, expression, **parts)
        except ConditionFailed:
            return None

    def write_all(self, *, puts: Sequence[Item] = (), deletes: Sequence[Item] = ()) -> None:
        """Put items and delete keys, without conditions and in any order.

        After a failure some are written, and all can be repeated. No two may have the same key.
        """
        requests = [{"PutRequest": {"Item": item}} for item in puts]
        requests += [{"DeleteRequest": {"Key": key}} for key in deletes]
        in_parallel(self._write_batch, [*batched(requests, _WRITE_BATCH, strict=False)])

    def _write_batch(self, requests: Sequence[Any]) -> None:
        remaining: Mapping[str, Any] = {self.name: list(requests)}
        for wait in (*_BATCH_WAITS, 0):
            with service_errors(_NAME):
                response = self.client.batch_write_item(RequestItems=remaining)
            remaining = response.get("UnprocessedItems", {})
            if not remaining:
                return
            sleep(wait)
        raise Unavailable(_NAME, f"The {_NAME} is too busy at the moment.")

    def to_put(self, item: Item, **parts: Unpack[Parts]) -> "TransactWriteItemTypeDef":
        """Return the part of a transaction that puts an item."""
        return {"Put": self._request({"Item": item}, parts)}

    def to_update(
        self, key: Item, change: str, **parts: Unpack[Parts]
    ) -> "TransactWriteItemTypeDef":
        """Return the part of a transaction that updates an item."""
        return {"Update": self._request({"Key": key, "UpdateExpression": change}, parts)}

    def to_delete(self, key: Item, **parts: Unpack[Parts]) -> "TransactWriteItemTypeDef":
        """Return the part of a transaction that deletes an item."""
        return {"Delete": self._request({"Key": key}, parts)}

    def to_check(self, key: Item, **parts: Unpack[Parts]) -> "TransactWriteItemTypeDef":
        """Return the part of a transaction that changes nothing, and has a condition."""
        return {"ConditionCheck": self._request({"Key": key}, parts)}

    def try_transact(self, *writes: "TransactWriteItemTypeDef") -> bool:
        """Make all writes; return False, and make none, if a condition fails."""
        try:
            self.transact(writes)
        except TransactionConditionsFailed:
            return False
        return True

    def transact(self, writes: Sequence["TransactWriteItemTypeDef"]) -> None:
        """Make all writes or none; a condition of each lets no repetition make it again.

        Raises:
            TransactionConditionsFailed: conditions failed; other writes may have other reasons.
        """
        try:
            self._call("transact_write_items", {"TransactItems": writes})
        except ClientError as error:
            reasons = _cancellation_reasons(error)
            if _CONDITION_FAILED in reasons:
                failed = [reason == _CONDITION_FAILED for reason in reasons]
                raise TransactionConditionsFailed(failed) from error
            if not _is_busy(error):
                raise
            (first, *_) = sorted(_BUSY & set(reasons))
            raise Unavailable(_NAME, aws_error=first) from error

    def _request(self, request: dict[str, Any], parts: Parts) -> Any:  # noqa: ANN401  any write
        """Return the parts of a write as DynamoDB takes them."""
        condition, values = parts.get("condition"), parts.get("values")
        used = _NAMES.findall(f"{request.get('UpdateExpression')} {condition}")
        request["TableName"] = self.name
        if condition:
            request["ConditionExpression"] = condition
        if names := {f"#{name}": name for name in used} | {**(parts.get("names") or {})}:
            request["ExpressionAttributeNames"] = names
        if values:
            request["ExpressionAttributeValues"] = {
                name: to_attribute(value) for name, value in values.items()
            }
        return request

    def _write(self, operation: str, request: dict[str, Any], parts: Parts) -> Any:  # noqa: ANN401  three operations, three responses
        if parts.get("condition"):
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        try:
            return self._call(operation, self._request(request, parts))
        except ClientError as error:
            if code_of(error) != "ConditionalCheckFailedException":
                raise
            response: Mapping[str, Any] = error.response
            raise ConditionFailed(
                from_item(response["Item"]) if "Item" in response else None
            ) from error

    def _call(self, operation: str, request: Mapping[str, Any]) -> Any:  # noqa: ANN401  as `_write`
        """Make a write, and repeat it while a transaction of others stops it.

        The SDK repeats a throttled write, but not these. AWS answered that nothing was written,
        so a repetition is a call of its own, with a new token if it is a transaction.
        """
        call = getattr(self.client, operation)
        with service_errors(_NAME):
            for wait in _WAITS:
                try:
                    return call(**request)
                except ClientError as error:
                    if not _is_busy(error):
                        raise
                sleep(uniform(0, wait))  # noqa: S311  not a secret
            return call(**request)


def _cancellation_reasons(error: ClientError) -> list[str]:
    """Return why a transaction was cancelled, for each of its writes; "None" for the others."""
    response: Mapping[str, Any] = error.response
    return [reason.get("Code", _NO_REASON) for reason in response.get("CancellationReasons", ())]


def _is_busy(error: ClientError) -> bool:
    """Return whether only transactions or load of others stopped a write or a transaction."""
    reasons = {*_cancellation_reasons(error)} - {_NO_REASON}
    return code_of(error) == "TransactionConflictException" or (bool(reasons) and reasons <= _BUSY)


class Store:
    """A store of records in one table."""

    def __init__(self, table: Table) -> None:
        self._table = table


_DUPLICATE: Final = "DuplicateItem"
#: The errors of a statement that a later try may not meet.
_PASSING: Final = frozenset(
    {
        *("InternalServerError", "ProvisionedThroughputExceeded", "RequestLimitExceeded"),
        *("ThrottlingError", "TransactionConflict"),
    }
)


def put_all_new(table: Table, items: Sequence[Item]) -> list[Item]:
    """Put items, each if no item has its key, in any order; return those that were not put.

    After an error some may be written. A repetition changes nothing.
    """
    batches = [*batched(items, _WRITE_BATCH, strict=False)]
    return [
        item for batch in in_parallel(lambda each: _insert(table, each), batches) for item in batch
    ]


def _insert(table: Table, items: Sequence[Item]) -> list[Item]:
    existing: list[Item] = []
    for wait in (*_WAITS, 0):
        statements: Any = [_insertion(table, item) for item in items]
        with service_errors(_NAME):
            results = table.client.batch_execute_statement(Statements=statements)["Responses"]
        codes = [result.get("Error", {}).get("Code") for result in results]
        answers = list(zip(items, codes, strict=True))
        existing += [item for item, code in answers if code == _DUPLICATE]
        items = [item for item, code in answers if code not in {None, _DUPLICATE}]
        if not items:
            return existing
        if wrong := {code for code in codes if code} - _PASSING - {_DUPLICATE}:
            # Others may be written: what reads a group after an error knows which.
            raise Unavailable(_NAME, f"The {_NAME} refused an item.", aws_error=min(wrong))
        sleep(uniform(0, wait))  # noqa: S311  not a secret
    raise Unavailable(_NAME, f"The {_NAME} is too busy at the moment.")


def _insertion(table: Table, item: Item) -> dict[str, Any]:
    """Return the PartiQL statement that puts an item, or fails if its key exists."""
    names = ", ".join(f"'{name}': ?" for name in item)
    return {
        "Statement": f'INSERT INTO "{table.name}" VALUE {{{names}}}',
        "Parameters": list(item.values()),
    }


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

"""The few DynamoDB calls that the history makes, in memory, with a meter on them.

Units are counted as DynamoDB bills them: a consistent read one unit for each
4 KB begun (of an item with GetItem and BatchGetItem, of a page with Query), a
write one for each KB begun, of the larger of the old and the new item. Sizes
are those of the developer guide ("Item sizes and formats").
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from botocore.exceptions import ClientError

from pillarbox.adapters.dynamodb.table import Table

_READ_UNIT: Final = 4096
_WRITE_UNIT: Final = 1024
#: A page of a query ends when it has read so much.
_PAGE: Final = 1024 * 1024

type Item = Mapping[str, Mapping[str, Any]]


@dataclass
class Partition:
    """Items in the order of their sort keys; an item may be made only when it is read."""

    order: list[str] = field(default_factory=list)
    items: dict[str, Item | Callable[[], Item]] = field(default_factory=dict)

    def get(self, sk: str) -> Item | None:
        """One item."""
        item = self.items.get(sk)
        return item() if callable(item) else item

    def put(self, sk: str, item: Item | Callable[[], Item]) -> None:
        """Put one item."""
        if sk not in self.items:
            insort(self.order, sk)
        self.items[sk] = item

    def fill(self, items: Mapping[str, Item | Callable[[], Item]]) -> None:
        """Put many items at once."""
        self.items.update(items)
        self.order = sorted(self.items)

    def remove(self, sk: str) -> None:
        """Remove one item."""
        if self.items.pop(sk, None) is not None:
            del self.order[bisect_left(self.order, sk)]


@dataclass
class Metered:
    """A client of DynamoDB for one table."""

    partitions: dict[str, Partition] = field(default_factory=dict)
    read_units: int = 0
    write_units: int = 0
    calls: int = 0

    def reset(self) -> None:
        """Set the meters to nothing."""
        self.read_units = self.write_units = self.calls = 0

    def partition(self, pk: str) -> Partition:
        """The items of a partition key."""
        return self.partitions.setdefault(pk, Partition())

    def get_item(self, *, Key: Item, **_: object) -> dict[str, Any]:  # noqa: N803  as botocore has it
        """Read one item."""
        self.calls += 1
        item = self._read(Key)
        return {} if item is None else {"Item": item}

    def batch_get_item(self, *, RequestItems: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N803  as botocore has it
        """Read up to 100 items."""
        self.calls += 1
        ((name, wanted),) = RequestItems.items()
        found = [self._read(key) for key in wanted["Keys"]]
        return {"Responses": {name: [item for item in found if item is not None]}}

    def query(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401  as botocore has it
        """Read items under one partition key, in order."""
        self.calls += 1
        values = request["ExpressionAttributeValues"]
        partition = self.partition(values[":pk"]["S"])
        order = partition.order
        low, high = 0, len(order)
        if ":first" in values:
            low = bisect_left(order, values[":first"]["S"])
            high = bisect_right(order, values[":last"]["S"])
        forward = request["ScanIndexForward"]
        if start := request.get("ExclusiveStartKey"):
            if forward:
                low = bisect_right(order, start["sk"]["S"])
            else:
                high = bisect_left(order, start["sk"]["S"])
        positions: Sequence[int] = range(low, high)
        found: list[Item] = []
        size = 0
        for position in positions if forward else reversed(positions):
            if len(found) == request.get("Limit") or size >= _PAGE:
                break
            item = cast("Item", partition.get(order[position]))
            found.append(item)
            size += size_of(item)
        self.read_units += units(size, _READ_UNIT)
        answer: dict[str, Any] = {"Items": found}
        if found and len(found) < len(positions):
            answer["LastEvaluatedKey"] = {name: found[-1][name] for name in ("pk", "sk")}
        return answer

    def put_item(self, *, Item: Item, **request: Any) -> dict[str, Any]:  # noqa: ANN401, N803  as botocore has it
        """Put an item, if its condition holds."""
        self._write(Item, Item, request)
        return {}

    def delete_item(self, *, Key: Item, **request: Any) -> dict[str, Any]:  # noqa: ANN401, N803  as botocore has it
        """Delete an item, if its condition holds."""
        self._write(Key, None, request)
        return {}

    def _read(self, key: Item) -> Item | None:
        item = self.partition(key["pk"]["S"]).get(key["sk"]["S"])
        self.read_units += units(size_of(item or {}), _READ_UNIT)
        return item

    def _write(self, key: Item, item: Item | None, request: Mapping[str, Any]) -> None:
        self.calls += 1
        partition, sk = self.partition(key["pk"]["S"]), key["sk"]["S"]
        old = partition.get(sk)
        self.write_units += units(max(size_of(old or {}), size_of(item or {})), _WRITE_UNIT)
        match request.get("ConditionExpression", "").split(" = "):
            case [""]:
                holds = True
            case ["attribute_not_exists(pk)"]:
                holds = old is None
            case [name, value]:
                wanted = request["ExpressionAttributeValues"][value]
                holds = old is not None and old.get(name) == wanted
            case other:
                raise NotImplementedError(other)
        if not holds:
            raise ClientError({"Error": {"Code": "ConditionalCheckFailedException"}}, "Write")
        if item is None:
            partition.remove(sk)
        else:
            partition.put(sk, item)


def metered_table() -> tuple[Table, Metered]:
    """A table over a new engine."""
    table, engine = Table("metered"), Metered()
    vars(table)["client"] = engine
    return table, engine


def units(size: int, unit: int) -> int:
    """The units of so many bytes: nothing costs as much as one."""
    return max(-(-size // unit), 1)


def size_of(item: Item) -> int:
    """The size of an item, in bytes."""
    return sum(len(name.encode()) + _size(value) for name, value in item.items())


def _size(attribute: Mapping[str, Any]) -> int:
    ((kind, value),) = attribute.items()
    match kind:
        case "S":
            return len(value.encode())
        case "B":
            return len(value)
        case "N":
            return (len(value.strip("-0")) + 1) // 2 + 1
        case "L":
            return 3 + sum(1 + _size(each) for each in value)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _size(each) for name, each in value.items())
    return 1

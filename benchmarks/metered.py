"""An in-memory model of DynamoDB's calls, which counts their units.

Units are counted as DynamoDB bills them. A consistent read takes one unit for each started 4 KB
of an item (GetItem, BatchGetItem) or of a page (Query), and an eventually consistent read half
of that. A filter does not change what a page costs. A write takes one for each started KB of
the larger of the old and the new item, and two in a transaction. Sizes follow the developer guide
("Item sizes and formats").
"""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapreplace
from typing import Any, Final, cast

from botocore.exceptions import ClientError

from benchmarks.expressions import holds, updated
from pillarbox.adapters.direct import MAX_PARALLEL
from pillarbox.adapters.dynamodb.table import Table

READ_UNIT: Final = 4096
WRITE_UNIT: Final = 1024
#: Bytes that a query reads in one page.
_PAGE: Final = 1024 * 1024

type Item = Mapping[str, Mapping[str, Any]]


@dataclass
class Partition:
    """Items in the order of their sort keys; an item may be created only when it is read."""

    order: list[str] = field(default_factory=list)
    items: dict[str, Item | Callable[[], Item]] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

    def get(self, sk: str) -> Item | None:
        """Return an item."""
        item = self.items.get(sk)
        return item() if callable(item) else item

    def size(self, sk: str) -> int:
        """Return the size of an item in bytes; 0 if there is none."""
        if sk not in self._sizes:
            self._sizes[sk] = size_of(self.get(sk) or {})
        return self._sizes[sk]

    def put(self, sk: str, item: Item | Callable[[], Item]) -> None:
        """Put an item."""
        self._sizes.pop(sk, None)
        if sk not in self.items:
            insort(self.order, sk)
        self.items[sk] = item

    def fill(self, items: Mapping[str, Item | Callable[[], Item]]) -> None:
        """Put many items."""
        self._sizes.clear()
        self.items.update(items)
        self.order = sorted(self.items)

    def remove(self, sk: str) -> None:
        """Remove an item."""
        self._sizes.pop(sk, None)
        if self.items.pop(sk, None) is not None:
            del self.order[bisect_left(self.order, sk)]


@dataclass
class Metered:
    """A DynamoDB client for one table."""

    partitions: dict[str, Partition] = field(default_factory=dict)
    read_units: float = 0
    write_units: int = 0
    calls: int = 0
    #: The calls that were made while another one ran, by `in_parallel`.
    overlapped: int = 0

    def reset(self) -> None:
        """Set the counts to zero."""
        self.read_units = self.write_units = self.calls = self.overlapped = 0

    @property
    def rounds(self) -> int:
        """The number of calls one after another."""
        return self.calls - self.overlapped

    def in_parallel[T, R](self, call: Callable[[T], R], arguments: Sequence[T]) -> list[R]:
        """Call a function for each argument, and count the rounds as if ten ran at a time."""
        ends, results, before = [0] * MAX_PARALLEL, [], self.rounds
        for argument in arguments:
            started = self.rounds
            results.append(call(argument))
            heapreplace(ends, ends[0] + self.rounds - started)
        self.overlapped += self.rounds - before - max(ends)
        return results

    def partition(self, pk: str) -> Partition:
        """Return the items of a partition key."""
        return self.partitions.setdefault(pk, Partition())

    def charge(self, pk: str, *, reads: float = 0, writes: int = 0) -> None:
        """Count the units that a call takes from a partition key."""
        del pk  # for engines that count by partition key
        self.read_units += reads
        self.write_units += writes

    def get_item(self, *, Key: Item, **request: Any) -> dict[str, Any]:  # noqa: ANN401, N803  as in botocore
        """Read one item."""
        self.calls += 1
        item = self._read(Key, consistent=request.get("ConsistentRead", False))
        return {} if item is None else {"Item": item}

    def batch_get_item(self, *, RequestItems: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N803  as in botocore
        """Read up to 100 items."""
        self.calls += 1
        return {
            "Responses": {
                name: [item for key in requested["Keys"] if (item := self._read(key)) is not None]
                for name, requested in RequestItems.items()
            }
        }

    def query(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401  as in botocore
        """Read items of one partition key, in order."""
        self.calls += 1
        values = request["ExpressionAttributeValues"]
        partition = self.partition(values[":pk"]["S"])
        order = partition.order
        low, high = 0, len(order)
        if ":first" in values:
            low = bisect_left(order, values[":first"]["S"])
            high = bisect_right(order, values[":last"]["S"])
        forward = request.get("ScanIndexForward", True)
        if start := request.get("ExclusiveStartKey"):
            if forward:
                low = bisect_right(order, start["sk"]["S"])
            else:
                high = bisect_left(order, start["sk"]["S"])
        positions: Sequence[int] = range(low, high)
        items: list[Item] = []
        size = 0
        for position in positions if forward else reversed(positions):
            if len(items) == request.get("Limit") or size >= _PAGE:
                break
            sk = order[position]
            items.append(cast("Item", partition.get(sk)))
            size += partition.size(sk)
        reads = units(size, READ_UNIT)
        consistent = request.get("ConsistentRead", False)
        self.charge(values[":pk"]["S"], reads=reads if consistent else reads / 2)
        answer: dict[str, Any] = {"Items": [item for item in items if _matches(item, request)]}
        if items and len(items) < len(positions):
            answer["LastEvaluatedKey"] = {name: items[-1][name] for name in ("pk", "sk")}
        return answer

    def put_item(self, *, Item: Item, **request: Any) -> dict[str, Any]:  # noqa: ANN401, N803  as in botocore
        """Put an item if its condition holds."""
        self._write(Item, Item, request)
        return {}

    def delete_item(self, *, Key: Item, **request: Any) -> dict[str, Any]:  # noqa: ANN401, N803  as in botocore
        """Delete an item if its condition holds."""
        self._write(Key, None, request)
        return {}

    def update_item(self, *, Key: Item, **request: Any) -> dict[str, Any]:  # noqa: ANN401, N803  as in botocore
        """Update an item if the condition holds, and return its new state."""
        old = self.partition(Key["pk"]["S"]).get(Key["sk"]["S"])
        new = updated(old or Key, request) if holds(old, request) else old
        self._write(Key, new, request)
        return {"Attributes": new}

    def batch_write_item(self, *, RequestItems: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N803  as in botocore
        """Put and delete up to 25 items."""
        ((_, requests),) = RequestItems.items()
        for request in requests:
            ((kind, action),) = request.items()
            key = action["Item"] if kind == "PutRequest" else action["Key"]
            self._write(key, action.get("Item"), {})
            self.calls -= 1
        self.calls += 1
        return {}

    def _read(self, key: Item, *, consistent: bool = True) -> Item | None:
        partition, sk = self.partition(key["pk"]["S"]), key["sk"]["S"]
        reads = units(partition.size(sk), READ_UNIT)
        self.charge(key["pk"]["S"], reads=reads if consistent else reads / 2)
        return partition.get(sk)

    def _write(self, key: Item, item: Item | None, request: Mapping[str, Any]) -> None:
        self.calls += 1
        partition, sk = self.partition(key["pk"]["S"]), key["sk"]["S"]
        old = partition.get(sk)
        size = max(partition.size(sk), size_of(item or {}))
        self.charge(key["pk"]["S"], writes=units(size, WRITE_UNIT))
        if not holds(old, request):
            response: Any = {"Error": {"Code": "ConditionalCheckFailedException"}}
            raise ClientError(response | ({"Item": old} if old else {}), "Write")
        if item is None:
            partition.remove(sk)
        else:
            partition.put(sk, item)


@dataclass
class Partitions(Metered):
    """An engine that counts units by partition key and second, and the largest item."""

    #: In milliseconds since the start.
    now: int = 0
    writes: Counter[tuple[str, int]] = field(default_factory=Counter)
    reads: Counter[tuple[str, int]] = field(default_factory=Counter)

    def charge(self, pk: str, *, reads: float = 0, writes: int = 0) -> None:
        """Count units of a partition key in the current second."""
        super().charge(pk, reads=reads, writes=writes)
        self.writes[pk, self.now // 1000] += writes
        self.reads[pk, self.now // 1000] += round(2 * reads)  # in halves


def _matches(item: Item, request: Mapping[str, Any]) -> bool:
    """Return whether a query's filter lets an item pass."""
    match request.get("FilterExpression"):
        case None:
            return True
        case "#name = :text":
            name = request["ExpressionAttributeNames"]["#name"]
            return bool(item.get(name) == request["ExpressionAttributeValues"][":text"])
        case other:
            raise NotImplementedError(other)


def metered_table() -> tuple[Table, Metered]:
    """Return a table over a new engine."""
    table, engine = Table("metered"), Metered()
    vars(table)["client"] = engine
    return table, engine


def units(size: int, unit: int) -> int:
    """Return the units of `size` bytes, at least one."""
    return max(-(-size // unit), 1)


def size_of(item: Item) -> int:
    """Return the size of an item in bytes."""
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
        case "SS":
            return sum(len(text.encode()) for text in value)
        case "L":
            return 3 + sum(1 + _size(item) for item in value)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _size(item) for name, item in value.items())
    return 1

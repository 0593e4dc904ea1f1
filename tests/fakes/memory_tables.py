"""Tables in this process on the model of DynamoDB that counts units: a tenth of moto's time."""

import re
from collections.abc import Iterator
from typing import Any, Self

from botocore.exceptions import ClientError

from benchmarks.expressions import holds
from benchmarks.metered import Item, Metered
from pillarbox.adapters.dynamodb.table import Table


class MemoryTable(Table):
    """An empty table, which may share its client with another table."""

    def __init__(self, name: str, beside: "MemoryTable | None" = None) -> None:
        super().__init__(name)
        vars(self)["client"] = beside.client if beside else _Client()
        client: Any = self.client
        self.engine: Metered = client.engines.setdefault(name, Metered())

    def all_items(self) -> Iterator[Item]:
        """Return the items in the order in which they came into their partitions."""
        for partition in [*self.engine.partitions.values()]:
            for item in [*partition.items.values()]:
                yield item() if callable(item) else item


class _Client:
    def __init__(self) -> None:
        self.engines: dict[str, Metered] = {}

    def __getattr__(self, operation: str) -> Any:
        def call(**request: Any) -> Any:
            return getattr(self.engines[request["TableName"]], operation)(**request)

        return call

    def batch_get_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803
        found: dict[str, Any] = {}
        for name, keys in RequestItems.items():
            found |= self.engines[name].batch_get_item(RequestItems={name: keys})["Responses"]
        return {"Responses": found}

    def batch_write_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803
        (name,) = RequestItems
        return self.engines[name].batch_write_item(RequestItems=RequestItems)

    def batch_execute_statement(self, *, Statements: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        """Put the items of INSERT statements whose keys are new."""
        responses: list[dict[str, Any]] = []
        for each in Statements:
            name, names = re.findall(r'INSERT INTO "([^"]+)" VALUE {(.+)}', each["Statement"])[0]
            item = dict(zip(re.findall(r"'(\w+)': \?", names), each["Parameters"], strict=True))
            engine = self.engines[name]
            is_new = engine.partition(item["pk"]["S"]).get(item["sk"]["S"]) is None
            if is_new:
                engine.put_item(Item=item)
            responses.append({} if is_new else {"Error": {"Code": "DuplicateItem"}})
        return {"Responses": responses}

    def transact_write_items(self, *, TransactItems: list[dict[str, Any]], **_: Any) -> None:  # noqa: N803
        """Make all writes, or none if a condition fails."""
        parts = [next(iter(part.items())) for part in TransactItems]
        reasons = [{"Code": "None" if self._holds(write) else _FAILED} for _, write in parts]
        if {"Code": _FAILED} in reasons:
            error: Any = {"Error": {"Code": "TransactionCanceledException"}}
            raise ClientError(error | {"CancellationReasons": reasons}, "TransactWriteItems")
        for kind, write in parts:
            if kind != "ConditionCheck":
                getattr(self, f"{kind.lower()}_item")(**write)

    def _holds(self, write: dict[str, Any]) -> bool:
        key = write.get("Key") or write["Item"]
        partition = self.engines[write["TableName"]].partition(key["pk"]["S"])
        return holds(partition.get(key["sk"]["S"]), write)


_FAILED = "ConditionalCheckFailed"


class QuickTable(MemoryTable):
    """A table of its own; it counts the units of its single-item reads and writes.

    Attributes:
        fails: whether every call fails.
        error: the code of the error then; by default the table could not be reached.
    """

    def __init__(self) -> None:
        super().__init__("quick")
        self.reads = self.writes = 0
        self.fails = False
        self.error = "InternalServerError"
        vars(self)["client"] = self

    def get_item(self, **request: Any) -> dict[str, Any]:
        self._check()
        self.reads += 1
        return self.engine.get_item(**request)

    def update_item(self, **request: Any) -> dict[str, Any]:
        self._check()
        self.writes += 1
        return self.engine.update_item(**request)

    def delete_item(self, **request: Any) -> dict[str, Any]:
        return self.engine.delete_item(**request)

    def _check(self) -> None:
        if self.fails:
            raise ClientError({"Error": {"Code": self.error}}, "UpdateItem")


class InTurn:
    """A pool of threads that has none: to start eight takes longer than eight calls here."""

    def __init__(self, _threads: int) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    map = staticmethod(map)

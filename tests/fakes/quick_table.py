"""A table in this process that evaluates DynamoDB's expressions without a request over HTTP."""

from functools import cached_property
from typing import Any

from botocore.exceptions import ClientError

from pillarbox.adapters.dynamodb.table import Table
from tests.fakes.quick_tables import QuickTables


class QuickTable(Table):
    """A table of its own; it counts the units of its single-item reads and writes.

    Attributes:
        fails: whether every call fails as if the table could not be reached.
    """

    def __init__(self) -> None:
        self._tables = QuickTables()
        super().__init__(self._tables.table.name)
        self.reads = self.writes = 0
        self.fails = False

    @cached_property
    def client(self) -> Any:
        return self

    def get_item(self, **request: Any) -> dict[str, Any]:
        self._check()
        self.reads += 1
        return self._tables.get_item(**request)

    def update_item(self, **request: Any) -> dict[str, Any]:
        self._check()
        self.writes += 1
        return self._tables.update_item(**request)

    def _check(self) -> None:
        if self.fails:
            raise ClientError({"Error": {"Code": "InternalServerError"}}, "UpdateItem")

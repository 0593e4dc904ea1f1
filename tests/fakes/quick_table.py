"""A table in this process that evaluates DynamoDB's expressions without a request over HTTP."""

from copy import copy
from functools import cached_property
from typing import Any

from botocore.exceptions import ClientError
from moto.core.common_models import BaseModel
from moto.dynamodb.exceptions import ConditionalCheckFailed
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table as _Items

from pillarbox.adapters.dynamodb.table import Table
from tests.fakes import parsed_expressions

parsed_expressions.install()
# Typed so that mypy lets their parts be replaced.
_tables: Any = _Items
_models: Any = BaseModel
_query = _tables.query


def _query_partition(table: Any, hash_key: DynamoType, *args: Any, **kwargs: Any) -> Any:
    """Query a partition alone: moto sorts the whole table."""
    partition = copy(table)
    partition.items = {hash_key: table.items[hash_key]} if hash_key in table.items else {}
    return _query(partition, hash_key, *args, **kwargs)


_tables.query = _query_partition
# By itself moto keeps every object that it ever made.
_models.__new__ = lambda model, *_, **__: object.__new__(model)


def create_table(engine: DynamoDBBackend, name: str) -> None:
    engine.create_table(
        name,
        schema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        throughput=None,
        attr=[{"AttributeName": key, "AttributeType": "S"} for key in ("pk", "sk")],
        global_indexes=None,
        indexes=None,
        streams=None,
        billing_mode="PAY_PER_REQUEST",
        sse_specification=None,
        tags=[],
        deletion_protection_enabled=None,
        warm_throughput=None,
    )


class QuickTable(Table):
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
        self._engine = DynamoDBBackend("us-east-1", "123456789012")
        create_table(self._engine, self.name)

    @cached_property
    def client(self) -> Any:
        return self

    def get_item(self, **request: Any) -> dict[str, Any]:
        self._check()
        self.reads += 1
        item = self._engine.get_item(self.name, request["Key"])
        return {"Item": item.to_json()["Attributes"]} if item else {}

    def update_item(self, **request: Any) -> dict[str, Any]:
        self._check()
        self.writes += 1
        try:
            item = self._engine.update_item(
                self.name,
                key=request["Key"],
                update_expression=request["UpdateExpression"],
                expression_attribute_names=request.get("ExpressionAttributeNames", {}),
                expression_attribute_values=request.get("ExpressionAttributeValues", {}),
                condition_expression=request.get("ConditionExpression"),
            )
        except ConditionalCheckFailed as failure:
            error: Any = {"Error": {"Code": "ConditionalCheckFailedException"}}
            if stored := self._engine.get_item(self.name, request["Key"]):
                error["Item"] = stored.to_json()["Attributes"]
            raise ClientError(error, "UpdateItem") from failure
        return {"Attributes": item.to_json()["Attributes"]}

    def delete_item(self, **request: Any) -> dict[str, Any]:
        self._engine.delete_item(self.name, request["Key"])
        return {}

    def _check(self) -> None:
        if self.fails:
            raise ClientError({"Error": {"Code": self.error}}, "UpdateItem")

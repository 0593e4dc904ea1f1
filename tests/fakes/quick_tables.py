"""Both tables in this process, with what happens before and after each call."""

from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import ClientError
from moto.dynamodb.exceptions import ConditionalCheckFailed
from moto.dynamodb.models import DynamoDBBackend

from pillarbox.adapters.dynamodb.table import Table

type _Item = dict[str, Any]


class QuickTables:
    """A DynamoDB client for two tables; it evaluates expressions without a request over HTTP.

    Attributes:
        step: called before and after each call with its operation.
    """

    def __init__(self) -> None:
        self.step: Callable[[str], None] = lambda _: None
        self._engine = DynamoDBBackend("us-east-1", "123456789012")
        self.table, self.credentials = self._create("first"), self._create("identities")

    def _create(self, name: str) -> Table:
        self._engine.create_table(
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
        table = Table(name)
        vars(table)["client"] = self
        return table

    def get_item(self, **request: Any) -> dict[str, Any]:
        self.step("get_item")
        item = self._read(request["TableName"], request["Key"])
        self.step("get_item")
        return {"Item": item} if item else {}

    def batch_get_item(self, RequestItems: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N803  the SDK's name
        """Read the items one after another; other calls may come between the tables."""
        self.step("batch_get_item")
        found = {}
        for name, requested in RequestItems.items():
            items = [self._read(name, key) for key in requested["Keys"]]
            found[name] = [item for item in items if item]
            self.step("batch_get_item")
        return {"Responses": found}

    def query(self, **request: Any) -> dict[str, Any]:
        self.step("query")
        partition = request["ExpressionAttributeValues"][":pk"]
        items = [
            item.to_json()["Attributes"]
            for item in self._engine.get_table(request["TableName"]).all_items()
        ]
        self.step("query")
        return {"Items": [item for item in items if item["pk"] == partition]}

    def put_item(self, **request: Any) -> dict[str, Any]:
        return self._write("put_item", request, item_attrs=request["Item"])

    def delete_item(self, **request: Any) -> dict[str, Any]:
        return self._write("delete_item", request, key=request["Key"])

    def update_item(self, **request: Any) -> dict[str, Any]:
        expression = request["UpdateExpression"]
        return self._write("update_item", request, key=request["Key"], update_expression=expression)

    def transact_write_items(self, TransactItems: list[dict[str, Any]]) -> None:  # noqa: N803  the SDK's name
        self.step("transact_write_items")
        self._engine.transact_write_items(TransactItems)
        self.step("transact_write_items")

    def _read(self, name: str, key: _Item) -> _Item | None:
        item = self._engine.get_item(name, key)
        attributes: _Item | None = item.to_json()["Attributes"] if item else None
        return attributes

    def _write(self, operation: str, request: Mapping[str, Any], **what: Any) -> dict[str, Any]:
        self.step(operation)
        name = request["TableName"]
        try:
            item = getattr(self._engine, operation)(
                name,
                **what,
                expression_attribute_names=request.get("ExpressionAttributeNames", {}),
                expression_attribute_values=request.get("ExpressionAttributeValues", {}),
                condition_expression=request.get("ConditionExpression"),
            )
        except ConditionalCheckFailed as failure:
            error: Any = {"Error": {"Code": "ConditionalCheckFailedException"}}
            if stored := self._read(name, request.get("Key") or request["Item"]):
                error["Item"] = stored
            raise ClientError(error, operation) from failure
        finally:
            self.step(operation)
        return {"Attributes": item.to_json()["Attributes"]} if item else {}

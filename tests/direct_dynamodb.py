"""DynamoDB's calls straight to moto's engine: a twentieth of the time that the way over HTTP takes.

botocore still checks each request and still runs the hooks before a call, the last one with the
parameters themselves. What falls away is the exchange: address, signature, serializers, HTTP, and
with them a client's retries. Tests of those use `emulated_aws(wire=True)`.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from typing import Any, Final
from unittest import mock

from botocore.client import BaseClient
from botocore.validate import validate_parameters
from moto.core.exceptions import JsonRESTError
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.core.utils import camelcase_to_underscores as _camelcase_to_underscores
from moto.dynamodb.comparisons import get_filter_expression
from moto.dynamodb.exceptions import (
    MultipleTransactionsException,
    TransactionCanceledException,
)
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.responses import DynamoHandler

#: The calls of the adapters, and that of tests that look at a whole table. The others, such as
#: CreateTable, use HTTP.
DIRECT: Final = frozenset(
    {
        "BatchExecuteStatement",
        "BatchGetItem",
        "BatchWriteItem",
        "DeleteItem",
        "GetItem",
        "PutItem",
        "Query",
        "Scan",
        "TransactWriteItems",
        "UpdateItem",
    }
)

_method_of: Final = cache(_camelcase_to_underscores)
#: The forms of requests that botocore has found to be valid.
_valid: Final = set[object]()


@contextmanager
def direct_dynamodb(lock: Any) -> Iterator[None]:
    """Answer the adapters' calls of DynamoDB in moto's engine, one at a time."""
    over_http = BaseClient._make_api_call  # type: ignore[attr-defined]

    def call(client: Any, name: str, parameters: dict[str, Any]) -> Any:
        service = client.meta.service_model
        if service.service_name != "dynamodb" or name not in DIRECT:
            return over_http(client, name, parameters)
        operation = service.operation_model(name)
        context: dict[str, Any] = {}  # what one hook of a call leaves for the next
        request = client._emit_api_params(parameters, operation, context)
        _check(operation, request)
        _, response = client.meta.events.emit_until_response(
            f"before-call.dynamodb.{name}", model=operation, params=request, context=context
        )
        if response is not None:  # of a test's hook
            parsed = response[1]
            status = response[0].status_code
        else:
            with lock:
                status, parsed = answer(_handler(client.meta.region_name), operation, request)
            parsed["ResponseMetadata"] = {"HTTPStatusCode": status}
        if status != HTTPStatus.OK:
            raise client.exceptions.from_code(parsed["Error"]["Code"])(parsed, name)
        return parsed

    with mock.patch.object(BaseClient, "_make_api_call", call):
        yield


def transact(engine: DynamoDBBackend, parts: list[dict[str, Any]]) -> None:
    """Write all parts of a transaction, or none if a condition fails.

    moto copies the tables before it writes; here every condition is checked before the first
    write.
    """
    written = [next(iter(part.items())) for part in parts]
    keys = [(write["TableName"], _key(engine, write)) for _, write in written]
    if len({str(key) for key in keys}) < len(keys):
        raise MultipleTransactionsException
    stored = [engine.get_item(*key) for key in keys]
    failures: list[tuple[str, str, Any] | tuple[None, None, None]] = [
        (None, None, None)
        if _holds(write, item)
        else ("ConditionalCheckFailed", "The conditional request failed", _shown(write, item))
        for (_, write), item in zip(written, stored, strict=True)
    ]
    if any(code for code, *_ in failures):
        raise TransactionCanceledException(failures)
    for operation, write in written:
        name = write["TableName"]
        match operation:
            case "Put":
                engine.put_item(name, write["Item"])
            case "Delete":
                engine.delete_item(name, write["Key"])
            case "Update":
                engine.update_item(
                    name,
                    write["Key"],
                    update_expression=write["UpdateExpression"],
                    expression_attribute_names=write.get("ExpressionAttributeNames"),
                    expression_attribute_values=write.get("ExpressionAttributeValues"),
                )


def insert_all(engine: DynamoDBBackend, statements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the items of INSERT statements whose keys are new.

    moto's PartiQL copies every table of the engine for each statement.
    """
    results: list[dict[str, Any]] = []
    for each in statements:
        name, names = re.fullmatch(
            r'INSERT INTO "([^"]+)" VALUE {(.+)}', each["Statement"]
        ).groups()  # type: ignore[union-attr]
        item = dict(zip(re.findall(r"'(\w+)': \?", names), each["Parameters"], strict=True))
        if engine.get_item(name, _key(engine, {"TableName": name, "Item": item})):
            results.append({"Error": {"Code": "DuplicateItem", "Message": "exists"}})
        else:
            engine.put_item(name, item)
            results.append({"TableName": name})
    return results


def answer(handler: Any, operation: Any, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return the status of a call and what botocore would read from its response."""
    handler.body = handler.params = body
    try:
        result = getattr(handler, _method_of(operation.name))().result
    except JsonRESTError as error:
        response = json.loads(str(error.description), object_hook=_decode_binary)
        code = response.pop("__type").rpartition("#")[2]
        message = response.pop("message", None) or response.pop("Message", "")
        return 400, response | {"Error": {"Code": code, "Message": message}}
    known = result.keys() & operation.output_shape.members.keys()
    return 200, {name: result[name] for name in known if result[name] is not None}


def _check(operation: Any, request: dict[str, Any]) -> None:
    """Let botocore check a request, unless it has checked one of this form."""
    form = operation.name, _form(request)
    if form not in _valid:
        validate_parameters(request, operation.input_shape)
        _valid.add(form)


def _form(value: object) -> object:
    """Return what botocore looks at in a value: names, types, numbers, and what is empty."""
    if isinstance(value, dict):
        return dict, *((name, _form(each)) for name, each in value.items())
    if isinstance(value, list):
        return list, *map(_form, value)
    return type(value), value if isinstance(value, int) else bool(value)


@cache
def _handler(region: str) -> Any:
    handler: Any = DynamoHandler()
    handler.region, handler.current_account = region, DEFAULT_ACCOUNT_ID
    return handler


def _decode_binary(value: dict[str, Any]) -> Any:
    """Decode a binary attribute value, which JSON has in base64."""
    if len(value) == 1 and isinstance(encoded := value.get("B"), str):
        return {"B": base64.b64decode(encoded)}
    return value


def _key(engine: DynamoDBBackend, write: Mapping[str, Any]) -> dict[str, Any]:
    attributes = write.get("Key") or write["Item"]
    return {name: attributes[name] for name in engine.get_table(write["TableName"]).attribute_keys}


def _holds(write: Mapping[str, Any], item: Any) -> bool:
    condition = write.get("ConditionExpression")
    if condition is None:
        return True
    names, values = write.get("ExpressionAttributeNames"), write.get("ExpressionAttributeValues")
    return bool(get_filter_expression(condition, names, values).expr(item))


def _shown(write: Mapping[str, Any], item: Any) -> Any:
    if item is None or write.get("ReturnValuesOnConditionCheckFailure") != "ALL_OLD":
        return None
    return item.to_json()["Attributes"]

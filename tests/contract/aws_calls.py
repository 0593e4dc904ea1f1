"""Record the AWS calls of a running function as the requests that IAM sees."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from tests import iam
from tests.contract.client import handler
from tests.iam import AwsRequest

#: Calls that need another permission, by the service authorization reference.
_ACTIONS: Final = {
    "lambda:Invoke": {"lambda:InvokeFunction"},
    "s3:DeleteObjects": {"s3:DeleteObject"},
    "s3:ListObjectsV2": {"s3:ListBucket"},
    "sqs:SendMessageBatch": {"sqs:SendMessage"},
    "ses:SendEmail": {"ses:SendEmail", "ses:SendRawEmail"},  # SES requires both for raw content
}
#: The parameter of a call to SES -> the kind of resource that SES authorizes it on, by the same.
_OF_SES: Final = {
    "ConfigurationSetName": "configuration-set",
    "EmailIdentity": "identity",
    "FromEmailAddress": "identity",
    "TenantName": "tenant",
}
#: The logical ids of the tables, by their names in the tests.
_TABLES: Final = {"pillarbox": "Table", "pillarbox-credentials": "Credentials"}


class Calls:
    """The requests that each function made while it was running."""

    def __init__(self) -> None:
        self.made: dict[str, set[AwsRequest]] = {}
        self.running: str | None = None

    def handler(self, function: str) -> Callable[[dict[str, Any], object], dict[str, Any]]:
        """Return a function's handler that records its calls."""

        def run(event: dict[str, Any], context: object) -> dict[str, Any]:
            caller, self.running = self.running, function
            try:
                return handler(function)(event, context)
            finally:
                self.running = caller

        return run

    def record(self, of: str, operation: str, parameters: Mapping[str, Any]) -> None:
        """Record a call from any thread of the running function."""
        if self.running is None:
            return
        made = self.made.setdefault(self.running, set())
        if of == "dynamodb":
            made.update(_requests_to_tables(operation, parameters))
            return
        action = f"{'ses' if of == 'sesv2' else of}:{operation}"
        for needed in _ACTIONS.get(action, {action}):
            made.update(AwsRequest(needed, one) for one in _resources(of, parameters))


def rights_used(requests: Iterable[AwsRequest]) -> set[str]:
    """Return an action, a resource and the kind of a record for each request."""
    return {
        f"{request.action} {request.resource}{kind}"
        for request in requests
        for kind in (
            [""]
            if request.leading_keys is None
            else [f" {re.sub('#.*', '#*', key)}" for key in request.leading_keys]
        )
    }


def rights_granted(statement: iam.Statement) -> set[str]:
    patterns = statement.leading_keys
    return {
        f"{action} {resource}{kind}"
        for action in statement.actions
        for resource in statement.resources
        for kind in (
            [""] if patterns is None else [f" {re.sub('#.*', '#*', key)}" for key in patterns]
        )
    }


def _requests_to_tables(operation: str, parameters: Mapping[str, Any]) -> Iterator[AwsRequest]:
    """Yield what DynamoDB authorizes for a call.

    Each part of a transaction needs the right of the call that does it alone, and each table of a
    batch its own. AWS does not say whether the leading keys are those of all parts, so the role
    must allow both readings.
    """
    parts: list[tuple[str, str, set[str], frozenset[str] | None]]
    match operation:
        case "TransactWriteItems":
            parts = [
                (
                    "ConditionCheckItem" if kind == "ConditionCheck" else f"{kind}Item",
                    part["TableName"],
                    {_key_of(part)},
                    _attributes_of(part),
                )
                for item in parameters["TransactItems"]
                for kind, part in item.items()
            ]
        case "BatchExecuteStatement":
            parts = [
                ("PartiQLInsert", _table_of(each), {each["Parameters"][0]["S"]}, None)
                for each in parameters["Statements"]
            ]
        case "BatchGetItem":
            parts = [
                (operation, name, {key["pk"]["S"] for key in requested["Keys"]}, None)
                for name, requested in parameters["RequestItems"].items()
            ]
        case "BatchWriteItem":
            parts = [
                (
                    operation,
                    name,
                    {_key_of(write) for item in requested for write in item.values()},
                    None,
                )
                for name, requested in parameters["RequestItems"].items()
            ]
        case "Query":
            key = parameters["ExpressionAttributeValues"][":pk"]["S"]
            parts = [(operation, parameters["TableName"], {key}, None)]
        case _:
            table, key = parameters["TableName"], _key_of(parameters)
            parts = [(operation, table, {key}, _attributes_of(parameters))]
    together = frozenset(key for _, _, keys, _ in parts for key in keys)
    for name, table, keys, attributes in parts:
        for leading_keys in (frozenset(keys), together):
            yield AwsRequest(f"dynamodb:{name}", _TABLES[table], leading_keys, attributes)


def _table_of(statement: Mapping[str, Any]) -> str:
    """Return the table of an INSERT, whose first parameter is the partition key."""
    table: str = statement["Statement"].split('"')[1]
    return table


def _key_of(parameters: Mapping[str, Any]) -> str:
    key: str = (parameters.get("Key") or parameters["Item"])["pk"]["S"]
    return key


def _attributes_of(parameters: Mapping[str, Any]) -> frozenset[str]:
    """Return the top-level attributes that a call names: in its key or item, and in expressions.

    In our expressions the words of the language are in capitals, or functions before a bracket.
    """
    texts = (parameters.get(f"{kind}Expression", "") for kind in ("Update", "Condition"))
    words = re.findall(r"(?<![\w:#.])#?[a-z]\w*(?![\w(])", " ".join(texts))
    names = parameters.get("ExpressionAttributeNames", {})
    item = parameters.get("Key") or parameters["Item"]
    return frozenset(item) | {names.get(word, word) for word in words}


def _resources(of: str, parameters: Mapping[str, Any]) -> set[str]:
    """Return what a call uses: logical ids, or how ARNs of SES end."""
    if of == "sqs":
        # the service under test names them so
        return {str(parameters["QueueUrl"]).rpartition("/")[2]}
    if of == "lambda":
        return {str(parameters.get("FunctionName", "*"))}
    if of == "sesv2":
        kinds = {kind for name, kind in _OF_SES.items() if name in parameters}
        for name in ("ResourceArn", "ReputationEntityReference", "ReputationEntityPolicy"):
            _, _, end = str(parameters.get(name, "")).rpartition(":")
            kinds |= {end.partition("/")[0]} - {""}
        return {
            f"{kind}/{'${ConfigurationSet}' if kind == 'configuration-set' else '*'}"
            for kind in kinds
        } or {"*"}
    return {"SpoolBucket" if of == "s3" else "*"}

"""Both tables in this process: the stores' calls go straight to an engine of moto's."""

from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, Self

from botocore.exceptions import ClientError
from moto.core.utils import camelcase_to_underscores
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.responses import DynamoHandler

from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.sdk import sdk_session
from tests.direct_dynamodb import DIRECT, answer, insert_all, transact
from tests.fakes.quick_table import create_table


class InTurn:
    """A pool of threads that has none: to start eight takes longer than eight calls here."""

    def __init__(self, _threads: int) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    map = staticmethod(map)


class _Engine(DynamoDBBackend):
    """An engine that copies no table for a transaction or a PartiQL statement."""

    def transact_write_items(self, transact_items: list[dict[str, Any]]) -> None:
        transact(self, transact_items)

    def batch_execute_statement(self, statements: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return insert_all(self, statements)


class EngineTable(Table):
    """An empty table of an engine, which it may share with another table."""

    def __init__(self, name: str, beside: "EngineTable | None" = None) -> None:
        super().__init__(name)
        self.engine: _Engine = beside.engine if beside else _Engine("us-east-1", "123456789012")
        create_table(self.engine, name)

    @cached_property
    def client(self) -> Any:
        handler: Any = type("Handler", (DynamoHandler,), {"dynamodb_backend": self.engine})()
        handler.region, handler.current_account = "us-east-1", "123456789012"
        model = sdk_session().get_service_model("dynamodb")
        calls = {
            camelcase_to_underscores(name): partial(_call, handler, model.operation_model(name))
            for name in DIRECT
        }
        return SimpleNamespace(**calls)


def _call(handler: Any, operation: Any, **request: Any) -> dict[str, Any]:
    status, parsed = answer(handler, operation, request)
    if status != 200:
        raise ClientError(parsed, operation.name)  # type: ignore[arg-type]
    return parsed

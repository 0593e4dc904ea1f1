"""moto's engine of DynamoDB, without what makes it slow."""

from copy import copy
from typing import Any

from moto.core.common_models import BaseModel
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, LimitedSizeDict
from moto.dynamodb.models.table import Table as _Items

from tests.fakes import parsed_expressions

parsed_expressions.install()
# Typed so that mypy lets their parts be replaced.
_tables: Any = _Items
_models: Any = BaseModel
_items: Any = LimitedSizeDict
_query = _tables.query
_set_measured = _items.__setitem__
#: In bytes: an item of 400 KB has a value that is larger.
_SMALL = 1_000


def _query_partition(table: Any, hash_key: DynamoType, *args: Any, **kwargs: Any) -> Any:
    """Query a partition alone: moto sorts the whole table."""
    partition = copy(table)
    partition.items = {hash_key: table.items[hash_key]} if hash_key in table.items else {}
    return _query(partition, hash_key, *args, **kwargs)


def _set_value(item: Any, name: str, value: DynamoType) -> None:
    """Set a value; for a small one moto would measure the whole item too."""
    put = dict.__setitem__ if value.size() < _SMALL else _set_measured
    put(item, name, value)


_tables.query = _query_partition
_items.__setitem__ = _set_value
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

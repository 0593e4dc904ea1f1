"""Put many new items: what single conditional puts do, for the same price, in fewer calls.

BatchWriteItem takes no condition. A transaction costs two write units an item.
"""

from collections.abc import Sequence
from itertools import batched
from random import uniform
from time import sleep
from typing import Any, Final

from pillarbox.adapters.aws import in_parallel, service_errors
from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.errors import Unavailable

_NAME: Final = "data store"
#: BatchExecuteStatement accepts at most 25 statements, and answers for each of them.
_BATCH: Final = 25
_DUPLICATE: Final = "DuplicateItem"
#: The errors of a statement that a later try may not meet.
_BUSY: Final = frozenset(
    {
        *("InternalServerError", "ProvisionedThroughputExceeded", "RequestLimitExceeded"),
        *("ThrottlingError", "TransactionConflict"),
    }
)
#: The longest wait before each repetition, in seconds.
_WAITS: Final = (0.05, 0.1, 0.2, 0.4)


def put_all_new(table: Table, items: Sequence[Item]) -> list[Item]:
    """Put items, each if no item has its key, in any order; return those that were not put.

    After an error some may be written. A repetition changes nothing.
    """
    batches = [*batched(items, _BATCH, strict=False)]
    return [
        item for batch in in_parallel(lambda each: _insert(table, each), batches) for item in batch
    ]


def _insert(table: Table, items: Sequence[Item]) -> list[Item]:
    existing: list[Item] = []
    for wait in (*_WAITS, 0):
        statements: Any = [_insertion(table, item) for item in items]
        with service_errors(_NAME):
            results = table.client.batch_execute_statement(Statements=statements)["Responses"]
        codes = [result.get("Error", {}).get("Code") for result in results]
        answers = list(zip(items, codes, strict=True))
        existing += [item for item, code in answers if code == _DUPLICATE]
        items = [item for item, code in answers if code not in {None, _DUPLICATE}]
        if not items:
            return existing
        if wrong := {code for code in codes if code} - _BUSY - {_DUPLICATE}:
            # Others may be written: what reads a group after an error knows which.
            raise Unavailable(_NAME, f"The {_NAME} refused an item.", aws_error=min(wrong))
        sleep(uniform(0, wait))  # noqa: S311  not a secret
    raise Unavailable(_NAME, f"The {_NAME} is too busy at the moment.")


def _insertion(table: Table, item: Item) -> dict[str, Any]:
    """Return the PartiQL statement that puts an item, or fails if its key exists."""
    names = ", ".join(f"'{name}': ?" for name in item)
    return {
        "Statement": f'INSERT INTO "{table.name}" VALUE {{{names}}}',
        "Parameters": list(item.values()),
    }

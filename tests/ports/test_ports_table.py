"""The table's own calls: reading in parts, and writing under a condition."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from pillarbox.adapters.aws import WITH_RETRIES, WITHOUT_RETRIES
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.errors import ServiceError

TIMES = [0.04, 0.08, 0.16, 0.32]


def key(number: int, partition: str = "p") -> dict[str, Any]:
    return {"pk": {"S": partition}, "sk": {"S": f"{number:03}"}}


def numbers(items: Any) -> list[int]:
    return [int(item["sk"]) for item in items]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between tries, which are not waited for."""
    waits: list[float] = []
    monkeypatch.setattr("pillarbox.adapters.dynamodb.table.sleep", waits.append)
    return waits


def answering(table: Table, parts: int) -> Stubber:
    """A table that gives one key at a time, of so many, each after asking for all that is left."""
    stub = Stubber(table.client)
    for position in range(parts):
        left = [key(number) for number in range(position + 1, parts)]
        stub.add_response(
            "batch_get_item",
            {
                "Responses": {table.name: [key(position)]},
                "UnprocessedKeys": {table.name: {"Keys": left, "ConsistentRead": True}}
                if left
                else {},
            },
            {
                "RequestItems": {
                    table.name: {"Keys": [key(position), *left], "ConsistentRead": True}
                }
            },
        )
    return stub


def test_what_was_answered_in_part_is_asked_again(table: Table, waits: list[float]) -> None:
    """DynamoDB may leave keys over: they are asked for again, four times, after doubled waits."""
    with answering(table, 5) as stub:
        assert numbers(table.get_all([key(number) for number in range(5)])) == [*range(5)]
        stub.assert_no_pending_responses()
    assert waits == pytest.approx(TIMES)


def test_what_is_left_over_for_ever_is_out_of_reach(table: Table, waits: list[float]) -> None:
    """After five tries the read fails, as something that passes by itself."""
    with answering(table, 6), pytest.raises(ServiceError) as error:
        table.get_all([key(number) for number in range(6)])
    assert error.value.code == "service_unavailable"
    assert waits == pytest.approx(TIMES)


@pytest.mark.parametrize("count", [0, 1, 100, 101, 250])
def test_a_call_reads_a_hundred_keys(table: Table, count: int) -> None:
    """However many keys there are, no call has more than it may, and each is read once."""
    for number in range(count):
        table.put(key(number))
    sizes: list[int] = []

    def sent(params: Any, **_: object) -> None:
        sizes.append(len(params["RequestItems"][table.name]["Keys"]))

    table.client.meta.events.register("provide-client-params.dynamodb.BatchGetItem", sent)
    found = table.get_all([key(number) for number in range(count + 1)][:count])
    assert sorted(numbers(found)) == [*range(count)]
    assert sorted(sizes) == sorted([100] * (count // 100) + [count % 100] * bool(count % 100))


@pytest.fixture
def filled(table: Table) -> Table:
    """A table with seven items under one key, and one under another."""
    for number in range(7):
        table.put(key(number))
    table.put(key(3, "q"))
    return table


def asked(table: Table) -> list[int | None]:
    """What each query asks for at most, from now on."""
    limits: list[int | None] = []
    table.client.meta.events.register(
        "provide-client-params.dynamodb.Query",
        lambda params, **_: limits.append(params.get("Limit")),
    )
    return limits


def test_a_partition_is_read_in_order(filled: Table) -> None:
    """All of it, either way round, or from one sort key to another, both included."""
    assert numbers(filled.query(key(0))) == [*range(7)]
    assert numbers(filled.query(key(0), newest_first=True)) == [*reversed(range(7))]
    assert numbers(filled.query(key(2), key(4))) == [2, 3, 4]


def test_a_limit_ends_the_reading(filled: Table) -> None:
    """So many items are read in one call and no more."""
    limits = asked(filled)
    assert numbers(filled.query(key(0), limit=3)) == [0, 1, 2]
    assert limits == [3]


def test_pages_are_read_as_they_are_wanted(filled: Table) -> None:
    """Who stops on the way has read no more than its page; else all come."""
    limits = asked(filled)
    assert next(iter(filled.query(key(0), page=3)))["sk"] == "000"
    assert limits == [3]
    assert numbers(filled.query(key(0), page=3)) == [*range(7)]
    assert limits == [3, 3, 3, 3]


def test_a_refused_write_tells_what_is_there(filled: Table) -> None:
    """Who finds the condition not to hold sees the item that it was held against, or none."""
    there, absent = "attribute_exists(pk)", "attribute_not_exists(pk)"
    with pytest.raises(ConditionFailed) as failure:
        filled.put(key(1), condition=absent)
    assert failure.value.item == {"pk": "p", "sk": "001"}
    with pytest.raises(ConditionFailed) as failure:
        filled.delete(key(8), condition=there)
    assert failure.value.item is None
    with pytest.raises(ConditionFailed):
        filled.update(key(8), "SET a = :a", condition=there, values={":a": 1})
    assert filled.update(key(1), "SET a = :a", condition=there, values={":a": 1})["a"] == 1
    filled.delete(key(1), condition=there)
    assert filled.get(key(1)) is None


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException"])
def test_another_fault_of_a_write_is_told_as_it_is(table: Table, code: str) -> None:
    """What was never held against a condition is no condition that failed."""
    with Stubber(table.client) as stub:
        stub.add_client_error("put_item", code, http_status_code=400)
        with pytest.raises(ClientError, match=code):
            table.put(key(1), condition="attribute_exists(pk)")


@pytest.mark.parametrize("consistent", [True, False])
def test_a_read_is_as_consistent_as_it_says(filled: Table, *, consistent: bool) -> None:
    """A read sees every write before it unless it is told otherwise; a query always does."""
    seen: list[bool] = []
    for operation in ("GetItem", "Query"):
        filled.client.meta.events.register(
            f"provide-client-params.dynamodb.{operation}",
            lambda params, **_: seen.append(params["ConsistentRead"]),
        )
    filled.get(key(1), consistent=consistent)
    filled.get(key(1))
    list(filled.query(key(1)))
    assert seen == [consistent, True, True]


def test_what_must_not_take_effect_twice_is_tried_once() -> None:
    """A table is patient, save for writes that are no good twice."""
    assert [Table("t")._config, Table("t", retries=False)._config] == [
        WITH_RETRIES,
        WITHOUT_RETRIES,
    ]

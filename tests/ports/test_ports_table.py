"""The table's calls: reads in batches and pages, and conditional writes."""

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
    waits: list[float] = []
    monkeypatch.setattr("pillarbox.adapters.dynamodb.table.sleep", waits.append)
    return waits


def partial_responses(table: Table, count: int) -> Stubber:
    """Return a stub of so many responses, each with one item and the other keys unprocessed."""
    stub = Stubber(table.client)
    for position in range(count):
        unprocessed = [key(number) for number in range(position + 1, count)]
        stub.add_response(
            "batch_get_item",
            {
                "Responses": {table.name: [key(position)]},
                "UnprocessedKeys": {table.name: {"Keys": unprocessed, "ConsistentRead": True}}
                if unprocessed
                else {},
            },
            {
                "RequestItems": {
                    table.name: {"Keys": [key(position), *unprocessed], "ConsistentRead": True}
                }
            },
        )
    return stub


def test_unprocessed_keys_are_read_again(table: Table, waits: list[float]) -> None:
    """Unprocessed keys are requested up to four more times, after doubled waits."""
    with partial_responses(table, 5) as stub:
        assert numbers(table.get_all([key(number) for number in range(5)])) == [*range(5)]
        stub.assert_no_pending_responses()
    assert waits == pytest.approx(TIMES)


def test_keys_that_stay_unprocessed_are_an_error(table: Table, waits: list[float]) -> None:
    with partial_responses(table, 6), pytest.raises(ServiceError) as error:
        table.get_all([key(number) for number in range(6)])
    assert error.value.code == "service_unavailable"
    assert waits == pytest.approx(TIMES)


@pytest.mark.parametrize("count", [0, 1, 100, 101, 250])
def test_a_call_reads_a_hundred_keys(table: Table, count: int) -> None:
    for number in range(count):
        table.put(key(number))
    sizes: list[int] = []

    def record(params: Any, **_: object) -> None:
        sizes.append(len(params["RequestItems"][table.name]["Keys"]))

    table.client.meta.events.register("provide-client-params.dynamodb.BatchGetItem", record)
    items = table.get_all([key(number) for number in range(count + 1)][:count])
    assert sorted(numbers(items)) == [*range(count)]
    assert sorted(sizes) == sorted([100] * (count // 100) + [count % 100] * bool(count % 100))


@pytest.fixture
def filled(table: Table) -> Table:
    """Return a table with seven items in one partition and one item in another."""
    for number in range(7):
        table.put(key(number))
    table.put(key(3, "q"))
    return table


def requested_limits(table: Table) -> list[int | None]:
    """Return a list that records the limit of each later query."""
    limits: list[int | None] = []
    table.client.meta.events.register(
        "provide-client-params.dynamodb.Query",
        lambda params, **_: limits.append(params.get("Limit")),
    )
    return limits


def test_pages_are_read_on_demand(filled: Table) -> None:
    """A caller that stops early has read one page; a caller that goes on gets all items."""
    limits = requested_limits(filled)
    assert next(iter(filled.query(key(0), page=3)))["sk"] == "000"
    assert limits == [3]
    assert numbers(filled.query(key(0), page=3)) == [*range(7)]
    assert limits == [3, 3, 3, 3]


def test_a_failed_condition_returns_the_stored_item(filled: Table) -> None:
    present, absent = "attribute_exists(pk)", "attribute_not_exists(pk)"
    with pytest.raises(ConditionFailed) as failure:
        filled.put(key(1), condition=absent)
    assert failure.value.item == {"pk": "p", "sk": "001"}
    with pytest.raises(ConditionFailed) as failure:
        filled.delete(key(8), condition=present)
    assert failure.value.item is None
    with pytest.raises(ConditionFailed):
        filled.update(key(8), "SET a = :a", condition=present, values={":a": 1})
    assert filled.update(key(1), "SET a = :a", condition=present, values={":a": 1})["a"] == 1
    filled.delete(key(1), condition=present)
    assert filled.get(key(1)) is None


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException"])
def test_other_errors_of_a_write_are_not_a_failed_condition(table: Table, code: str) -> None:
    with Stubber(table.client) as stub:
        stub.add_client_error("put_item", code, http_status_code=400)
        with pytest.raises(ClientError, match=code):
            table.put(key(1), condition="attribute_exists(pk)")


@pytest.mark.parametrize("consistent", [True, False])
def test_reads_have_the_requested_consistency(filled: Table, *, consistent: bool) -> None:
    """A read is strongly consistent unless the caller opts out; a query always is."""
    consistency: list[bool] = []
    for operation in ("GetItem", "Query"):
        filled.client.meta.events.register(
            f"provide-client-params.dynamodb.{operation}",
            lambda params, **_: consistency.append(params["ConsistentRead"]),
        )
    filled.get(key(1), consistent=consistent)
    filled.get(key(1))
    list(filled.query(key(1)))
    assert consistency == [consistent, True, True]


def test_a_table_may_be_used_without_retries() -> None:
    """A table retries by default, and does not for writes that must not take effect twice."""
    assert [Table("t")._config, Table("t", retries=False)._config] == [
        WITH_RETRIES,
        WITHOUT_RETRIES,
    ]

"""Writes on DynamoDB that meet transactions of others, or more load than a partition takes.

The errors arrive below the SDK, so its own retries take part.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from botocore import endpoint
from botocore.awsrequest import AWSPreparedRequest
from botocore.exceptions import ReadTimeoutError
from moto.core.botocore_stubber import BotocoreStubber

from pillarbox.adapters.dynamodb import table as table_module
from pillarbox.adapters.dynamodb.messages.claims import DynamoClaims
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.table import NEW, Table, put_with_list_entry
from pillarbox.application.ports import Claim, StoredResponse
from pillarbox.domain.errors import Unavailable
from tests.claims import acquire_or_replay
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, HASH, NOW, UNLIMITED
from verification.faults.wire import body_of

OVER_HTTP = True
#: Tries of a write that meets a transaction, and of a throttled one.
TRIES, SDK_TRIES = 5, 3
RESPONSE = StoredResponse("{}")
BUSY = ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]
THROTTLES = ["ThrottlingException", "ProvisionedThroughputExceededException"]

JSON = {"content-type": "application/x-amz-json-1.0"}

type Response = tuple[int, dict[str, str], bytes]
type Answer = Callable[[], Response]


def refusal(code: str) -> Answer:
    return lambda: _response({"__type": code, "message": "planted"})


def cancellation(*reasons: str) -> Answer:
    """Return the answer to a cancelled transaction, with the reason of each write."""
    body = {
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": f"Transaction cancelled [{', '.join(reasons)}]",
        "CancellationReasons": [{"Code": reason} for reason in reasons],
    }
    return lambda: _response(body)


def _response(body: dict[str, Any]) -> Response:
    return 400, JSON, json.dumps(body).encode()


@dataclass
class Wire:
    """Answers in place of DynamoDB, the requests that were sent, and the waits between them."""

    answers: list[Answer] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    sdk_waits: list[float] = field(default_factory=list)


@pytest.fixture
def wire(table: Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """Return the wire; once its answers are used up, the emulated DynamoDB answers."""
    del table
    wire, process = Wire(), BotocoreStubber.process_request

    def planted(stubber: BotocoreStubber, request: AWSPreparedRequest) -> Any:
        wire.requests.append(json.loads(body_of(request)))
        return wire.answers.pop(0)() if wire.answers else process(stubber, request)

    monkeypatch.setattr(table_module, "sleep", wire.waits.append)
    with (
        mock.patch.object(BotocoreStubber, "process_request", planted),
        mock.patch.object(endpoint, "time", SimpleNamespace(sleep=wire.sdk_waits.append)),
    ):
        yield wire


def plant(wire: Wire, *answers: Answer) -> None:
    wire.answers[:] = answers
    wire.requests.clear()


def acquire(table: Table) -> Claim:
    claim = acquire_or_replay(DynamoClaims(table), DynamoMessages(table))
    assert isinstance(claim, Claim)
    return claim


def commit_two(table: Table) -> Callable[[], object]:
    messages = [builders.message(), builders.message()]
    return lambda: DynamoMessages(table).commit_all(messages)


def put_entry(table: Table) -> Callable[[], object]:
    record, entry = ({"pk": {"S": name}, "sk": {"S": "-"}} for name in ("record", "entry"))
    return lambda: put_with_list_entry(table, record, entry)


def items(table: Table) -> int:
    return len(table.client.scan(TableName=table.name)["Items"])


@pytest.mark.parametrize("reason", BUSY)
@pytest.mark.parametrize("times", [1, TRIES - 1])
def test_a_cancelled_transaction_is_repeated(
    table: Table, wire: Wire, reason: str, times: int
) -> None:
    """A transaction that met others or too much load succeeds once they are gone."""
    run = put_entry(table)
    before = items(table)
    plant(wire, *[cancellation("None", reason)] * times)
    run()
    assert len(wire.requests) == times + 1
    assert items(table) == before + 2


@pytest.mark.parametrize("reason", BUSY)
def test_a_transaction_that_stays_cancelled_writes_nothing(
    table: Table, wire: Wire, reason: str
) -> None:
    """After five tries the result is 503 with the reason, and nothing was written."""
    run = put_entry(table)
    before = items(table)
    plant(wire, *[cancellation(reason, "None")] * TRIES)
    with pytest.raises(Unavailable) as error:
        run()
    assert error.value.log_fields == {"unavailable": "data store", "aws_error": reason}
    assert len(wire.requests) == TRIES
    assert items(table) == before


def test_waits_are_random_and_grow(table: Table, wire: Wire) -> None:
    """Each wait is drawn between zero and a limit that doubles (full jitter)."""
    drawn: list[list[float]] = []
    for _ in range(20):
        wire.waits.clear()
        plant(wire, *[cancellation("TransactionConflict")] * TRIES)
        with pytest.raises(Unavailable):
            put_entry(table)()
        drawn.append(list(wire.waits))
    for wait, limit in zip(zip(*drawn, strict=True), (0.05, 0.1, 0.2, 0.4), strict=True):
        assert 0 <= min(wait) < limit / 2 < max(wait) <= limit


@pytest.mark.parametrize("beside", ["None", "TransactionConflict"])
def test_a_failed_condition_is_not_repeated(table: Table, wire: Wire, beside: str) -> None:
    plant(wire, *[cancellation("ConditionalCheckFailed", beside)] * 2)
    assert not table.try_transact(table.to_put({"pk": {"S": "a"}, "sk": {"S": "-"}}, condition=NEW))
    assert len(wire.requests) == 1


def statements(*codes: str | None) -> Answer:
    """Return the answer to a group of puts, with the error of each."""
    results = [{"Error": {"Code": code, "Message": ""}} if code else {} for code in codes]
    return lambda: (200, JSON, json.dumps({"Responses": results}).encode())


@pytest.mark.parametrize("reason", [*BUSY, "InternalServerError", "RequestLimitExceeded"])
def test_records_beside_a_busy_one_are_put_once(table: Table, wire: Wire, reason: str) -> None:
    """Of several records only those that were busy are put again; existing ones are left out."""
    messages, records = DynamoMessages(table), [builders.message() for _ in range(3)]
    messages.commit_all(records)
    plant(wire, statements("DuplicateItem", None, reason), statements(reason))
    assert messages.commit_all(records) == frozenset()
    sent = [len(request.get("Statements", ())) for request in wire.requests]
    assert sent == [3, 1, 1, 0]  # the last request reads those that exist


@pytest.mark.parametrize("reason", BUSY)
def test_records_that_stay_busy_are_unavailable(table: Table, wire: Wire, reason: str) -> None:
    """After five tries the result is 503."""
    plant(wire, *[statements(reason)] * TRIES)
    with pytest.raises(Unavailable):
        DynamoMessages(table).commit_all([builders.message()])
    assert (len(wire.requests), len(wire.waits)) == (TRIES, TRIES)


def test_a_mistake_in_a_group_of_puts_is_not_repeated(table: Table, wire: Wire) -> None:
    """It is a 503 that names AWS's error, because others of the group may be stored."""
    plant(wire, statements("ThrottlingError", "AccessDenied"))
    with pytest.raises(Unavailable) as raised:
        DynamoMessages(table).commit_all([builders.message(), builders.message()])
    assert (raised.value.aws_error, len(wire.requests)) == ("AccessDenied", 1)


@pytest.mark.parametrize("reason", ["ValidationError", "ItemCollectionSizeLimitExceeded"])
def test_a_mistake_in_a_transaction_is_not_repeated(table: Table, wire: Wire, reason: str) -> None:
    """What no later try changes is reported as AWS's error, also beside a conflict."""
    run = put_entry(table)
    plant(wire, cancellation(reason, "TransactionConflict"))
    with pytest.raises(table.client.exceptions.TransactionCanceledException):
        run()
    assert len(wire.requests) == 1


def test_the_sdk_keeps_the_token_of_a_transaction(table: Table, wire: Wire) -> None:
    """The SDK's retries have the same token; a transaction that AWS cancelled gets a new one."""
    plant(
        wire,
        refusal("TransactionInProgressException"),
        cancellation("TransactionConflict"),
        refusal("ThrottlingException"),
    )
    put_entry(table)()
    first, second, third, fourth = (sent["ClientRequestToken"] for sent in wire.requests)
    assert first == second != third == fourth


def test_a_refund_is_tried_once(table: Table) -> None:
    """A repeated refund would allow one email too many."""
    quotas, tries = DynamoQuotas(table), []

    def fail(**_: object) -> None:
        tries.append(1)
        raise ReadTimeoutError(endpoint_url="http://table.invalid")

    quotas.reserve(ACCOUNT, builders.messages(1), UNLIMITED, NOW)
    events = quotas._refunds.client.meta.events
    events.register_first("before-send.dynamodb.UpdateItem", fail)
    with pytest.raises(Unavailable):
        quotas.refund(ACCOUNT, builders.messages(1), NOW)
    assert len(tries) == 1


def write_claim(table: Table) -> Callable[[], object]:
    return lambda: acquire(table)


def release_claim(table: Table) -> Callable[[], object]:
    claim = acquire(table)
    return lambda: DynamoClaims(table).release(claim)


def finish_claim(table: Table) -> Callable[[], object]:
    claim = acquire(table)
    return lambda: DynamoClaims(table).finish(claim, RESPONSE)


def commit_unkeyed(table: Table) -> Callable[[], object]:
    message = builders.message()
    return lambda: DynamoMessages(table).commit(message)


def lease(table: Table) -> Callable[[], object]:
    message = builders.message()
    DynamoMessages(table).commit(message)
    return lambda: DynamoMessages(table).lease(ACCOUNT, message.message_id, HASH, "me", NOW)


def save(table: Table) -> Callable[[], object]:
    message = builders.message()
    DynamoMessages(table).commit(message)
    return lambda: DynamoMessages(table).save(message)


def reserve(table: Table) -> Callable[[], object]:
    return lambda: DynamoQuotas(table).reserve(ACCOUNT, builders.messages(1), UNLIMITED, NOW)


WRITES = [write_claim, release_claim, finish_claim, commit_unkeyed, lease, save, reserve]


def stored(table: Table) -> Any:
    return table.client.scan(TableName=table.name)["Items"]


def check_repeated(
    table: Table, wire: Wire, run: Callable[[], object], code: str, *, times: int, tries: int
) -> None:
    """Check that a write which is refused so often succeeds, or is 503 after so many tries."""
    before = stored(table)
    plant(wire, *[refusal(code)] * times)
    if times < tries:
        run()
        assert stored(table) != before
    else:
        with pytest.raises(Unavailable) as error:
            run()
        assert error.value.log_fields["aws_error"] == code
        plant(wire)
        assert stored(table) == before


@pytest.mark.parametrize("prepare", WRITES)
@pytest.mark.parametrize("times", [1, TRIES - 1, TRIES])
def test_a_write_that_meets_a_transaction_is_repeated(
    table: Table, wire: Wire, prepare: Callable[[Table], Callable[[], object]], times: int
) -> None:
    """The SDK does not repeat it; the table does, four times, and then it is 503."""
    run, conflict = prepare(table), "TransactionConflictException"
    check_repeated(table, wire, run, conflict, times=times, tries=TRIES)
    assert (len(wire.waits), wire.sdk_waits) == (min(times, TRIES - 1), [])


@pytest.mark.parametrize("prepare", [*WRITES, commit_two, put_entry])
@pytest.mark.parametrize("code", THROTTLES)
@pytest.mark.parametrize("times", [1, SDK_TRIES - 1, SDK_TRIES])
def test_the_sdk_repeats_a_throttled_write(
    table: Table,
    wire: Wire,
    prepare: Callable[[Table], Callable[[], object]],
    code: str,
    times: int,
) -> None:
    """A throttled write or transaction is tried three times by the SDK alone, and then is 503."""
    check_repeated(table, wire, prepare(table), code, times=times, tries=SDK_TRIES)
    assert (len(wire.sdk_waits), wire.waits) == (min(times, SDK_TRIES - 1), [])

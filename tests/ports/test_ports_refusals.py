"""DynamoDB refuses a call for the moment: it throttles, or another transaction is in the way.

A refused call had no effect. The caller gets its result after all or `service_unavailable`, never
the answer of a failed condition, and a repetition finds the state as it was.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from botocore import endpoint
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.retries.quota import RetryQuota
from moto.core.botocore_stubber import BotocoreStubber

from pillarbox.application.ports import Claim, LeaseRefusal, StoredResponse
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import Message
from tests.aws import Aws
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, DIGEST, HASH, NOW
from tests.ports.implementations import Ports, adapters
from verification.faults.wire import body_of, response

RESPONSE = StoredResponse("{}")
LIMITS = Limits(per_minute=1, per_day=1, per_month=1)
#: Codes that refuse a call of one item.
CODES = (
    "ThrottlingException",
    "ProvisionedThroughputExceededException",
    "TransactionConflictException",
)
#: Codes that cancel a transaction, one for each of its writes.
REASONS = ("ThrottlingError", "ProvisionedThroughputExceeded", "TransactionConflict")
EVER = 1_000


@pytest.fixture
def ports(aws: Aws) -> Ports:
    return adapters(aws)


@contextmanager
def refused(code: str, tries: int, reason: str | None = None) -> Iterator[list[str]]:
    """Refuse the first tries of calls of a table on the wire; yield the refused operations."""
    answer, operations = BotocoreStubber.__call__, list[str]()

    def refuse(
        stub: BotocoreStubber, event_name: str, request: AWSPreparedRequest, **more: Any
    ) -> Any:
        service, operation = event_name.split(".")[1:3]
        if service != "dynamodb" or len(operations) == tries:
            return answer(stub, event_name, request, **more)
        operations.append(operation)
        return refusal(request, code, reason)

    with (
        mock.patch.object(BotocoreStubber, "__call__", refuse),
        mock.patch.object(endpoint, "time", SimpleNamespace(sleep=lambda _: None)),
        mock.patch.object(RetryQuota, "acquire", return_value=True),
        mock.patch("time.sleep"),
    ):
        yield operations


def refusal(request: AWSPreparedRequest, code: str, reason: str | None) -> AWSResponse:
    """Return the answer of DynamoDB that refuses a call."""
    body: dict[str, Any] = {
        "__type": f"com.amazonaws.dynamodb.v20120810#{code}",
        "message": f"refused: {reason or code}",
    }
    if reason:
        writes = json.loads(body_of(request))["TransactItems"]
        body["CancellationReasons"] = [{"Code": reason}, *({"Code": "None"} for _ in writes[1:])]
    headers = {"content-type": "application/x-amz-json-1.0"}
    return response(request.url, 400, json.dumps(body).encode(), headers)


def stored(ports: Ports) -> Message:
    message = builders.message()
    ports.messages.commit(message, None, RESPONSE)
    return message


def lease(ports: Ports, message: Message) -> Message:
    leased = ports.messages.lease(ACCOUNT, message.message_id, HASH, "worker", NOW)
    assert not isinstance(leased, LeaseRefusal)
    return leased


def claim(ports: Ports) -> Claim:
    claim = ports.claims.acquire(ACCOUNT, DIGEST, HASH, NOW)
    assert isinstance(claim, Claim)
    return claim


def prepare_lease(ports: Ports) -> Callable[[], object]:
    message = stored(ports)
    return lambda: lease(ports, message).attempt


def prepare_save(ports: Ports) -> Callable[[], object]:
    message = lease(ports, stored(ports))
    return lambda: ports.messages.save(message)


def prepare_commit(ports: Ports) -> Callable[[], object]:
    message = builders.message()

    def commit() -> object:
        ports.messages.commit(message, None, RESPONSE)
        return ports.messages.get(ACCOUNT, message.message_id) == message

    return commit


def prepare_reserve(ports: Ports) -> Callable[[], object]:
    return lambda: ports.quotas.reserve(ACCOUNT, builders.messages(1), LIMITS, NOW)


def prepare_claim(ports: Ports) -> Callable[[], object]:
    return lambda: claim(ports).resumed


#: Prepares a write of one item, and its result.
WRITES: dict[str, tuple[Callable[[Ports], Callable[[], object]], object]] = {
    "lease": (prepare_lease, 1),
    "save": (prepare_save, True),
    "commit": (prepare_commit, True),
    "reserve": (prepare_reserve, None),
    "claim": (prepare_claim, False),
}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_stays_refused_is_unavailable(ports: Ports, name: str, code: str) -> None:
    """A write that DynamoDB keeps refusing ends in `service_unavailable` and changes nothing."""
    prepare, result = WRITES[name]
    write = prepare(ports)
    with refused(code, EVER) as operations, pytest.raises(ServiceError) as error:
        write()
    assert error.value.code == "service_unavailable"
    assert operations
    assert write() == result


@pytest.mark.parametrize("code", CODES[:2])
@pytest.mark.parametrize("name", WRITES)
def test_a_throttled_write_is_repeated(ports: Ports, name: str, code: str) -> None:
    """A write that is throttled twice has the result of an undisturbed one."""
    prepare, result = WRITES[name]
    write = prepare(ports)
    with refused(code, 2) as operations:
        assert write() == result
    assert len(operations) == 2


@pytest.mark.parametrize("reason", REASONS)
def test_a_cancelled_commit_leaves_the_claim_to_its_owner(ports: Ports, reason: str) -> None:
    """If a transaction stays cancelled, no record exists, and its owner may still commit."""
    owned, message = claim(ports), builders.message()
    with (
        refused("TransactionCanceledException", EVER, reason) as operations,
        pytest.raises(ServiceError) as error,
    ):
        ports.messages.commit(message, owned, RESPONSE)
    assert error.value.code == "service_unavailable"
    assert set(operations) == {"TransactWriteItems"}
    assert ports.messages.get(ACCOUNT, message.message_id) is None
    ports.messages.commit(message, owned, RESPONSE)
    assert ports.messages.get(ACCOUNT, message.message_id) == message


@pytest.mark.parametrize("reason", REASONS)
def test_a_cancelled_group_puts_no_record(ports: Ports, reason: str) -> None:
    """If the transaction of a group stays cancelled, none of its records exists."""
    messages = [builders.message() for _ in range(3)]
    ids = [message.message_id for message in messages]
    with (
        refused("TransactionCanceledException", EVER, reason) as operations,
        pytest.raises(ServiceError) as error,
    ):
        ports.messages.commit_all(messages)
    assert error.value.code == "service_unavailable"
    assert set(operations) == {"TransactWriteItems"}
    assert ports.messages.get_all(ACCOUNT, ids) == {}
    ports.messages.commit_all(messages)
    assert ports.messages.get_all(ACCOUNT, ids).keys() == set(ids)


@pytest.mark.parametrize("reason", REASONS)
def test_a_cancelled_try_is_no_takeover(ports: Ports, reason: str) -> None:
    """One cancelled try ends in the commit or in `service_unavailable`, and a retry commits."""
    owned, message = claim(ports), builders.message()
    with refused("TransactionCanceledException", 1, reason) as operations:
        try:
            ports.messages.commit(message, owned, RESPONSE)
        except ServiceError as error:
            assert error.code == "service_unavailable"  # noqa: PT017  either end is right
            ports.messages.commit(message, owned, RESPONSE)
    assert operations == ["TransactWriteItems"]
    assert ports.messages.get(ACCOUNT, message.message_id) == message

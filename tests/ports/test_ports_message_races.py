"""Message records on DynamoDB when the SDK repeats a write or a write fails for good."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.messages.message import Message
from tests.aws import Aws
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, HASH, NOW


class Repeating(Table):
    """A table that makes each update twice, as if the first response was lost."""

    def update(self, *args: Any, **conditions: Any) -> dict[str, Any]:
        super().update(*args, **conditions)
        return super().update(*args, **conditions)


def test_a_repeated_lease_succeeds(aws: Aws) -> None:
    """A worker has the lease if the SDK repeats the write, and it counts one attempt."""
    message = builders.message()
    DynamoMessages(Table(aws.table)).commit(message)
    leased = DynamoMessages(Repeating(aws.table)).lease(
        ACCOUNT, message.message_id, HASH, "worker", NOW
    )
    assert isinstance(leased, Message)
    assert leased.lease is not None
    assert (leased.lease.owner, leased.attempt) == ("worker", 1)


def test_a_peek_costs_half_a_read(aws: Aws) -> None:
    table, consistency = Table(aws.table), list[bool]()

    def record(params: dict[str, Any], **_: object) -> None:
        consistency.append(params["ConsistentRead"])

    table.client.meta.events.register("provide-client-params.dynamodb.GetItem", record)
    messages, message_id = DynamoMessages(table), builders.message().message_id
    messages.get(ACCOUNT, message_id)
    messages.peek(ACCOUNT, message_id)
    assert consistency == [True, False]


def test_a_permanent_failure_of_a_commit_is_not_a_takeover(aws: Aws) -> None:
    del aws
    with pytest.raises(ClientError, match="ResourceNotFound"):
        DynamoMessages(Table("another")).commit(builders.message())

"""Records on DynamoDB where a write is tried twice, or fails for a reason of its own."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from pillarbox.adapters.dynamodb.messages import DynamoMessages
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.ports import Claim, StoredResponse
from pillarbox.domain.message import Message
from tests.aws import Aws
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, DIGEST, HASH, NOW


class Repeating(Table):
    """A table that takes each update twice, as when the first answer was lost."""

    def update(self, *args: Any, **conditions: Any) -> dict[str, Any]:
        super().update(*args, **conditions)
        return super().update(*args, **conditions)


def test_a_lease_that_is_tried_twice_is_ours(aws: Aws) -> None:
    """Who leased a message unheard has it when the SDK tries again, with one attempt counted."""
    message = builders.message()
    DynamoMessages(Table(aws.table)).commit(message, None, StoredResponse("{}"))
    taken = DynamoMessages(Repeating(aws.table)).lease(
        ACCOUNT, message.message_id, HASH, "worker", NOW
    )
    assert isinstance(taken, Message)
    assert taken.lease is not None
    assert (taken.lease.owner, taken.attempt) == ("worker", 1)


def test_a_peek_costs_half_of_a_read(aws: Aws) -> None:
    """A read sees every write before it; a peek does without that, and costs half as much."""
    table, seen = Table(aws.table), list[bool]()

    def sent(params: dict[str, Any], **_: object) -> None:
        seen.append(params["ConsistentRead"])

    table.client.meta.events.register("provide-client-params.dynamodb.GetItem", sent)
    messages, message_id = DynamoMessages(table), builders.message().message_id
    messages.get(ACCOUNT, message_id)
    messages.peek(ACCOUNT, message_id)
    assert seen == [True, False]


def test_a_commit_that_can_never_be_is_not_called_overtaken(aws: Aws) -> None:
    """Without its table a commit fails as what it is, an error of ours."""
    del aws
    claim = Claim(
        account_id=ACCOUNT,
        digest=DIGEST,
        owner="me",
        body_hash=HASH,
        generation=builders.message().message_id,
    )
    with pytest.raises(ClientError, match="ResourceNotFound"):
        DynamoMessages(Table("another")).commit(builders.message(), claim, StoredResponse("{}"))

"""The records of accepted messages."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import assigning
from pillarbox.adapters.dynamodb.messages.claims import finishing
from pillarbox.adapters.dynamodb.records import (
    changing_attributes,
    lease_attribute,
    message_item,
    message_of,
)
from pillarbox.adapters.dynamodb.store import Store
from pillarbox.adapters.dynamodb.table import (
    NEW,
    ConditionFailed,
    TransactionConditionsFailed,
)
from pillarbox.application.ports import Claim, LeaseRefusal, StoredResponse
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.message import EventKind, Lease, Message

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

#: Longer than SES may take to answer (23 s). When a lease is over, the provider's event decides.
LEASE: Final = timedelta(seconds=30)


class DynamoMessages(Store):
    """Implements `ports.Messages`."""

    def commit(self, message: Message, claim: Claim | None, response: StoredResponse) -> None:
        """Put the record and, with a claim, the claim's response in the same transaction."""
        if claim is None:
            # The id is random, so an existing record is our own: the response to the write was
            # lost, and the write was retried.
            self._table.put_new(message_item(message))
            return
        expression, parts = finishing(claim, response)
        finish = self._table.to_update(
            keys.claim(claim.account_id, claim.digest), expression, **parts
        )
        if not self._table.try_transact(finish, self._put(message)):
            raise Unavailable(
                "data store",
                "Another request with the same Idempotency-Key took over.",
                aws_error="ConditionalCheckFailed",
            )

    def commit_all(self, messages: Sequence[Message]) -> None:
        """Put the records in one transaction, except those that an earlier try put."""
        missing = list(messages)
        while missing:
            try:
                self._table.transact([self._put(message) for message in missing])
            except TransactionConditionsFailed as failure:
                missing = [
                    message
                    for message, is_stored in zip(missing, failure.failed, strict=True)
                    if not is_stored
                ]
            else:
                return

    def get_all(self, account_id: str, message_ids: Sequence[UUID]) -> dict[UUID, Message]:
        """Read several messages with strong consistency."""
        requested = [keys.message(account_id, message_id) for message_id in message_ids]
        messages = map(message_of, self._table.get_all(requested))
        return {message.message_id: message for message in messages}

    def _put(self, message: Message) -> "TransactWriteItemTypeDef":
        return self._table.to_put(message_item(message), condition=NEW)

    def get(self, account_id: str, message_id: UUID) -> Message | None:
        """Read one message with strong consistency."""
        item = self._table.get(keys.message(account_id, message_id))
        return message_of(item) if item else None

    def peek(self, account_id: str, message_id: UUID) -> Message | None:
        """Read one message with eventual consistency."""
        item = self._table.get(keys.message(account_id, message_id), consistent=False)
        return message_of(item) if item else None

    def lease(
        self, account_id: str, message_id: UUID, body_hash: str, owner: str, now: datetime
    ) -> Message | LeaseRefusal:
        """Lease a message that is pending, has this hash, and has no lease and no provider's id."""
        lease = lease_attribute(Lease(owner=owner, taken_at=now, expires_at=now + LEASE))
        try:
            item = self._table.update(
                keys.message(account_id, message_id),
                "SET lease = :lease, rev = rev + :one ADD attempt :one",
                condition="#rank = :accepted AND #hash = :hash AND attribute_not_exists(lease)"
                " AND attribute_not_exists(provider_id)",
                values={
                    ":lease": lease,
                    ":one": 1,
                    ":accepted": EventKind.ACCEPTED.rank,
                    ":hash": body_hash,
                },
            )
        except ConditionFailed as failure:
            message = message_of(failure.item) if failure.item else None
            if message is not None and message.lease and message.lease.owner == owner:
                return message  # the SDK repeated the write; the first one succeeded
            return LeaseRefusal(message)
        return message_of(item)

    def save(self, message: Message) -> bool:
        """Write the changing attributes if the record still has the revision that was read."""
        expression, values = assigning(changing_attributes(message))
        item = self._table.try_update(
            keys.message(message.account_id, message.message_id),
            expression.replace("SET ", "SET rev = rev + :one, ", 1),
            condition="rev = :rev",
            values={**values, ":rev": message.revision, ":one": 1},
        )
        return item is not None

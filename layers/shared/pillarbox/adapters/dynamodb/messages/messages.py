"""The records of accepted messages."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import (
    accepted_message,
    changing_attributes,
    is_tombstone,
    lease_attribute,
    message_item,
    message_of,
    schedule_values,
    tombstone_item,
)
from pillarbox.adapters.dynamodb.table import ConditionFailed, Store, assigning, put_all_new
from pillarbox.application.ports import LeaseRefusal
from pillarbox.domain.errors import Withdrawn
from pillarbox.domain.messages.message import STALL_TIME, EventKind, Lease, Message

if TYPE_CHECKING:
    from pillarbox.domain.messages.schedule import Schedule

#: Longer than SES may take to answer (23 s). When a lease is over, the provider's event decides.
LEASE: Final = timedelta(seconds=30)


class DynamoMessages(Store):
    """Implements `ports.Messages`."""

    def commit(self, message: Message) -> None:
        """Put the record. One that exists is ours: its first write succeeded, and was repeated."""
        stored = self._table.put_new(message_item(message))
        if stored and accepted_message(stored) is None:
            raise Withdrawn

    def commit_all(self, messages: Sequence[Message]) -> frozenset[UUID]:
        existing = put_all_new(self._table, list(map(message_item, messages)))
        if not existing:
            return frozenset()
        account_id = messages[0].account_id
        ids = {message.message_id for message in messages}
        return frozenset(ids - self.get_all(account_id, list(ids)).keys())

    def withdraw(
        self, account_id: str, message_ids: Sequence[UUID], now: datetime
    ) -> dict[UUID, Message]:
        tombstones = [
            tombstone_item(account_id, message_id, now + STALL_TIME) for message_id in message_ids
        ]
        if len(tombstones) == 1:
            stored = self._table.put_new(tombstones[0])
            return _by_id([stored] if stored else ())
        existing = put_all_new(self._table, tombstones)
        return self.get_all(account_id, message_ids) if existing else {}

    def get_all(self, account_id: str, message_ids: Sequence[UUID]) -> dict[UUID, Message]:
        requested = [keys.message(account_id, message_id) for message_id in message_ids]
        return _by_id(self._table.get_all(requested))

    def is_withdrawn(self, account_id: str, message_id: UUID) -> bool:
        item = self._table.get(keys.message(account_id, message_id))
        return item is not None and is_tombstone(item)

    def get(self, account_id: str, message_id: UUID) -> Message | None:
        item = self._table.get(keys.message(account_id, message_id))
        return accepted_message(item)

    def peek(self, account_id: str, message_id: UUID) -> Message | None:
        item = self._table.get(keys.message(account_id, message_id), consistent=False)
        return accepted_message(item)

    def lease(  # noqa: PLR0913  what it leases, and for whom
        self,
        account_id: str,
        message_id: UUID,
        body_hash: str,
        owner: str,
        now: datetime,
        *,
        schedule: "Schedule | None" = None,
        unkept: bool = False,
    ) -> Message | LeaseRefusal:
        unchanged, is_unkept, values = "", "", dict[str, object]()
        if schedule is not None:
            unchanged, values = " AND schedule = :schedule", schedule_values(schedule)
        if unkept:
            is_unkept, values = ", unkept = :unkept", {**values, ":unkept": True}
        lease = lease_attribute(Lease(owner=owner, taken_at=now, expires_at=now + LEASE))
        try:
            item = self._table.update(
                keys.message(account_id, message_id),
                f"SET lease = :lease, rev = rev + :one{is_unkept} ADD attempt :one",
                condition="#rank = :accepted AND #hash = :hash AND attribute_not_exists(lease)"
                f" AND attribute_not_exists(provider_id){unchanged}",
                values={
                    **values,
                    ":lease": lease,
                    ":one": 1,
                    ":accepted": EventKind.ACCEPTED.rank,
                    ":hash": body_hash,
                },
            )
        except ConditionFailed as failure:
            message = accepted_message(failure.item)
            if message is not None and message.lease and message.lease.owner == owner:
                return message  # the SDK repeated the write; the first one succeeded
            return LeaseRefusal(message)
        return message_of(item)

    def save(self, message: Message) -> bool:
        expression, values = assigning(changing_attributes(message))
        item = self._table.try_update(
            keys.message(message.account_id, message.message_id),
            expression.replace("SET ", "SET rev = rev + :one, ", 1),
            condition="rev = :rev",
            values={**values, ":rev": message.revision, ":one": 1},
        )
        return item is not None


def _by_id(items: Iterable[Mapping[str, Any]]) -> dict[UUID, Message]:
    messages = filter(None, map(accepted_message, items))
    return {message.message_id: message for message in messages}

"""Addresses to which an account must not send any more."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.aws import in_parallel
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import TIME, Store, Table, put_all_new, to_item
from pillarbox.adapters.rows import UUID_TEXT, Row
from pillarbox.domain.accounts.suppression import Suppression, hashed_mailbox

_SUPPRESSION: Final = Row(
    Suppression, "reason", at=("at", TIME), message_id=("message?", UUID_TEXT)
)

#: The column of a suppression that is no news to webhook endpoints.
UNANNOUNCED: Final = "unannounced"


class DynamoSuppressions(Store):
    """Implements `ports.Suppressions`, and those of accounts and of webhooks."""

    def put(
        self, account_id: str, address: str, reason: str, at: datetime, message_id: UUID | None
    ) -> None:
        suppression = Suppression(address=address, reason=reason, at=at, message_id=message_id)
        self.add(account_id, suppression)

    def find_suppressed(
        self, account_id: str, addresses: Iterable[str], *, hashed: bool = False
    ) -> frozenset[str]:
        by_text = {address: address for address in addresses}
        if hashed:
            by_text |= {hashed_mailbox(account_id, address): address for address in by_text}
        requested = [keys.suppression(account_id, text) for text in sorted(by_text)]
        return frozenset(by_text[item["sk"]] for item in self._table.get_all(requested))

    def add(self, account_id: str, suppression: Suppression) -> Suppression:
        stored = self._table.put_new(
            keys.suppression(account_id, suppression.address)
            | to_item(_SUPPRESSION.write(suppression))
        )
        return suppression_of(stored) if stored else suppression

    def add_all(
        self, account_id: str, suppressions: Sequence[Suppression]
    ) -> Sequence[Suppression]:
        """Put each in a request of its own: a batch cannot keep an earlier suppression."""
        return in_parallel(lambda one: self.add(account_id, one), suppressions)

    def add_missing(
        self, account_id: str, suppressions: Sequence[Suppression], *, announce: bool
    ) -> None:
        """Put them without a replacement, so that a bounce at the same time keeps its reason."""
        marked = {} if announce else to_item({UNANNOUNCED: True})
        items = [
            keys.suppression(account_id, one.address) | to_item(_SUPPRESSION.write(one)) | marked
            for one in suppressions
        ]
        put_all_new(self._table, items)

    def get(self, account_id: str, address: str) -> Suppression | None:
        return self._table.find(keys.suppression(account_id, address), suppression_of)

    def page(
        self, account_id: str, start: str, first: str | None, limit: int
    ) -> Sequence[Suppression]:
        lowest, highest = keys.suppressions_from(account_id, start)
        if first is not None and first > start:
            lowest = keys.suppression(account_id, first)
        if lowest["sk"]["S"] > highest["sk"]["S"]:
            return []
        return [*map(suppression_of, self._table.query(lowest, highest, limit=limit))]

    def of_account(self, account_id: str) -> Iterable[Suppression]:
        return map(suppression_of, self._table.query(keys.suppression(account_id)))

    def remove(self, account_id: str, address: str) -> None:
        self._table.delete(keys.suppression(account_id, address))


def hashed_reasons(table: Table, account_id: str, mailboxes: Iterable[str]) -> dict[str, str]:
    """Return the suppressed ones among some mailboxes that only have a hash, with the reasons."""
    by_hash = {hashed_mailbox(account_id, mailbox): mailbox for mailbox in mailboxes}
    items = table.get_all([keys.suppression(account_id, text) for text in sorted(by_hash)])
    return {by_hash[item["sk"]]: item["reason"] for item in items}


def suppression_of(item: Mapping[str, Any]) -> Suppression:
    return _SUPPRESSION.read(item, address=item["sk"])

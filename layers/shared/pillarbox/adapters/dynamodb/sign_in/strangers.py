"""What strangers cost: the service's mail to them by the day, and their preview accounts."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.records import account_item, account_of, key_item
from pillarbox.adapters.dynamodb.table import (
    NEW,
    Item,
    Parts,
    Store,
    Table,
    to_item,
    to_text,
    to_ttl,
)
from pillarbox.domain.accounts.account import Account, Suspension
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.sign_in.preview_key import PREVIEW_LIST, preview_key_id, stopped_mailbox
from pillarbox.domain.sign_in.strangers import DAYS, StrangerDay

#: Bounces can come for some days.
_KEPT: Final = timedelta(days=DAYS + 5)


class DynamoStrangerMail(Store):
    """Implements `ports.StrangerMail`."""

    def add_sent(self, name: str, day: date) -> None:
        self._change(name, day, "ADD #sent :new SET expires_at = :expires", 1)

    def set_sent(self, name: str, day: date, sent: int) -> None:
        self._change(name, day, "SET #sent = :new, expires_at = :expires", sent)

    def add_bounced(self, name: str, day: date, message_id: UUID) -> int:
        """Add the id to a set. So a bounce that is reported again counts once."""
        expression = "ADD #bounced :new SET expires_at = :expires"
        return len(self._change(name, day, expression, {str(message_id)})["bounced"])

    def since(self, name: str, day: date) -> Sequence[StrangerDay]:
        """Read the days, of which there are few."""
        first, last = _key_of(name, day), _key_of(name, date.max)
        return [
            StrangerDay(
                date.fromisoformat(item["sk"].rpartition("#")[2]),
                item.get("sent", 0),
                len(item.get("bounced", ())),
            )
            for item in self._table.query(first, last)
        ]

    def _change(self, name: str, day: date, expression: str, new: object) -> dict[str, Any]:
        expires = to_ttl(datetime.combine(day, time(), UTC) + _KEPT)
        return self._table.update(
            _key_of(name, day), expression, values={":new": new, ":expires": expires}
        )


def _key_of(name: str, day: date) -> Item:
    return keys.stranger_day(f"{name}#{day}")


class DynamoPreviewAccounts:
    """Implements `sign_in.ports.PreviewAccounts`."""

    def __init__(self, credentials: Table | None, table: Table) -> None:
        """Store the tables; a worker changes no keys, and may not read `Credentials`."""
        self._credentials = credentials
        self._table = table

    def get(self, account_id: str) -> Account | None:
        return self._table.find(keys.account(account_id), account_of)

    def key_digest(self, account_id: str) -> str | None:
        item = self._keys.get(keys.key_list(account_id, preview_key_id(account_id)))
        return item["digest"] if item else None

    def put_key(self, key: ApiKey, before: str | None, account: Account | None) -> bool:
        """Put everything in one transaction over both tables."""
        of_keys, of_account = self._keys, list[Item]()
        entry = keys.key_list(key.account_id, key.key_id) | to_item({"digest": key.digest})
        is_before: Parts = {"condition": "digest = :before", "values": {":before": before}}
        writes = [
            of_keys.to_put(entry, **(is_before if before else {"condition": NEW})),
            of_keys.to_put(key_item(key)),
        ]
        if before:
            writes.append(of_keys.to_delete(keys.api_key(before)))
        if account:
            of_account = [account_item(account), keys.account_list(account.account_id)]
        writes += [self._table.to_put(item, condition=NEW) for item in of_account]
        return of_keys.try_transact(*writes)

    def suspend(self, account_id: str, suspension: Suspension) -> None:
        self._table.try_update(
            keys.account(account_id),
            "SET suspended = :at, suspended_for = :reason",
            condition="attribute_exists(widget_secret) AND attribute_not_exists(suspended)",
            values={":at": to_text(suspension.at), ":reason": suspension.reason},
        )

    def stop_mail(self, mailbox: str, at: datetime) -> None:
        text = stopped_mailbox(mailbox)
        DynamoSuppressions(self._table).put(PREVIEW_LIST, text, "stopped", at, None)

    def is_stopped(self, mailbox: str) -> bool:
        key = keys.suppression(PREVIEW_LIST, stopped_mailbox(mailbox))
        return self._table.get(key) is not None

    @property
    def _keys(self) -> Table:
        if self._credentials is None:
            raise TypeError("this process has no table of keys")
        return self._credentials

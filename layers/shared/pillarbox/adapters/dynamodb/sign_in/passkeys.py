"""The passkeys of users: one item each."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import TIME, Item, Store, to_item, to_text
from pillarbox.adapters.rows import Column, Row
from pillarbox.domain.sign_in.passkey import Passkey

_PASSKEY: Final = Row(
    Passkey,
    *("address", "credential", "public_key", "sign_count", "name", "synced"),
    user_id="user",
    created_at=("created", TIME),
    used_at=Column("used?", TIME),
    stopped_at=Column("stopped?", TIME),
)


class DynamoPasskeys(Store):
    """Implements `sign_in.ports.Passkeys`."""

    def add(self, passkey: Passkey) -> bool:
        return self._table.put_new(_key(passkey) | to_item(_PASSKEY.write(passkey))) is None

    def get(self, user_id: str, passkey_id: str) -> Passkey | None:
        return self._table.find(keys.passkey(user_id, passkey_id), _PASSKEY.read)

    def of_user(self, user_id: str) -> Sequence[Passkey]:
        passkeys = map(_PASSKEY.read, self._table.query(keys.passkey(user_id)))
        return sorted(passkeys, key=lambda one: (one.created_at, one.passkey_id))

    def use(self, passkey: Passkey, sign_count: int, at: datetime) -> bool:
        item = self._table.try_update(
            _key(passkey),
            "SET #sign_count = :new, #used = :at",
            condition="#sign_count = :before AND attribute_not_exists(#stopped)",
            values={":new": sign_count, ":before": passkey.sign_count, ":at": to_text(at)},
        )
        return item is not None

    def stop(self, passkey: Passkey, at: datetime) -> bool:
        item = self._table.try_update(
            _key(passkey),
            "SET #stopped = :at",
            condition="attribute_exists(#credential) AND attribute_not_exists(#stopped)",
            values={":at": to_text(at)},
        )
        return item is not None

    def remove(self, user_id: str, passkey_id: str) -> bool:
        return self._table.remove(keys.passkey(user_id, passkey_id))


def _key(passkey: Passkey) -> Item:
    return keys.passkey(passkey.user_id, passkey.passkey_id)

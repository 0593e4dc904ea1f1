"""When each API key last sent a message.

Each use is an item of its own and not a part of the key, so that the writer needs no right to
change keys, and no write can meet a revocation.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table, from_text, to_item, to_text

#: A use this long after the recorded one is recorded.
_PERIOD: Final = timedelta(hours=1)
#: The keys whose recorded use a process remembers, so that it need not read it again.
_MAX_KEYS: Final = 10_000


class DynamoKeyUses:
    """Implements `ports.KeyUses`. Threads may share it."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._lock = Lock()
        self._recorded: dict[tuple[str, str], datetime] = {}

    def record(self, account_id: str, key_id: str, at: datetime) -> None:
        """Put the time, unless one of the hour before is known or stored."""
        recorded = self._recorded.get((account_id, key_id)) or self.last_use(account_id, key_id)
        if recorded is None or at >= recorded + _PERIOD:
            item = keys.key_use(account_id, key_id) | to_item({"last_used": to_text(at)})
            with suppress(ConditionFailed):  # another process recorded a newer use
                self._table.put(
                    item,
                    condition="attribute_not_exists(pk) OR last_used < :at",
                    values={":at": to_text(at)},
                )
            recorded = at
        self._remember(account_id, key_id, recorded)

    def last_use(self, account_id: str, key_id: str) -> datetime | None:
        """Read one item, eventually consistently: it may be an hour behind in any case."""
        item = self._table.get(keys.key_use(account_id, key_id), consistent=False)
        return from_text(item["last_used"]) if item else None

    def last_uses(self, account_id: str) -> Mapping[str, datetime]:
        """Read the items of an account."""
        items = self._table.query(keys.key_use(account_id))
        return {item["sk"]: from_text(item["last_used"]) for item in items}

    def _remember(self, account_id: str, key_id: str, recorded: datetime) -> None:
        with self._lock:
            if len(self._recorded) >= _MAX_KEYS:
                self._recorded.clear()
            self._recorded[account_id, key_id] = recorded

"""Costly refusals: counted in the quota record, each minute in an attribute of its own.

They are counted only after a refusal, so an accepted message makes no call for them. The directory
reads them together with the key.
"""

from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import Store
from pillarbox.domain.accounts.quota import REFUSALS, QuotaCounts, refusals_name
from pillarbox.domain.errors import ServiceError

#: The attributes that may exist before past minutes are removed.
_MAX_ATTRIBUTES: Final = 4


class DynamoRefusals(Store):
    """Implements `ports.Refusals`."""

    def count(self, account_id: str, count: int, now: datetime) -> None:
        item = self._table.update(
            keys.quota(account_id),
            "ADD #refusals :count",
            names={"#refusals": refusals_name(now)},
            values={":count": count},
        )
        minutes = sorted(name for name in item if name.startswith(REFUSALS))
        if len(minutes) > _MAX_ATTRIBUTES:
            # The newest stay. A clock that is behind by more counts too little for a minute.
            names = {f"#past{position}": name for position, name in enumerate(minutes[:-2])}
            with suppress(ServiceError):  # a later refusal removes them
                self._table.update(
                    keys.quota(account_id), "REMOVE " + ", ".join(names), names=names
                )


def counts_of(item: dict[str, Any] | None) -> QuotaCounts:
    """Return what a quota record counts; without a record, nothing."""
    counts = {name: value for name, value in (item or {}).items() if isinstance(value, int)}
    return QuotaCounts(counts)

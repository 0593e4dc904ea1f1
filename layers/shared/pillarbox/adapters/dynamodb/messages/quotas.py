"""Quotas: one conditional UpdateItem counts a send in all windows.

Accounts that send very often count several sends at once (`quota_chunks`).

Each count is an attribute with the name of its window (`minute:2026-11-20T23:12`). A new
window needs no write of its own: its attribute is absent, and the same expression creates it.
Past windows are removed from time to time, so that the item stays within one write unit.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages.quota_chunks import Chunks
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.accounts.quota import (
    NOTHING,
    WINDOWS,
    Amount,
    Limits,
    Window,
    add,
    first_full,
    window_name,
)
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.timing import CLOCK_MARGIN

#: The attributes that may exist before past windows are removed: 25 names are below 700 bytes.
_MAX_ATTRIBUTES: Final = 25

#: A window is kept this long after its end: a slow clock still counts in it, and a request that
#: began in it may still count or refund. So it is as long as a request may run, and the margin.
KEPT: Final = timedelta(seconds=30) + CLOCK_MARGIN

_NAMES: Final[Mapping[Window, str]] = {window: f"#{window}" for window in WINDOWS}
#: The windows that outlive a minute.
_LONG: Final = ("#day", "#recipients", "#month")


class DynamoQuotas:
    """Implements `ports.Quotas`."""

    def __init__(self, table: Table) -> None:
        self._table = table
        # A repeated refund would allow one email too many; a missing one allows one too few.
        self._refunds = Table(table.name, retries=False)
        self._chunks = Chunks()

    def reserve(self, account_id: str, amount: Amount, limits: Limits, now: datetime) -> None:
        """Count all messages or none.

        Raises:
            QuotaExceeded: one of the windows does not have enough room.
        """
        taken, spare, over = self._chunks.reserve(account_id, amount, limits, now)
        if over is not None:
            with suppress(ServiceError):  # too strict by the rest of that chunk
                self.refund(account_id, over.left, over.at)
        missing = amount - taken
        if not missing:
            return
        left, used = taken, None
        try:
            item, left = self._count_with_spare(account_id, missing, spare, limits, now)
            used = _used(item, now)
        except ConditionFailed as failure:
            used = _used(failure.item or {}, now)
            others = add(used, NOTHING - taken)
            raise first_full(limits, others, amount, now) or failure from failure
        finally:
            self._chunks.put(account_id, left, limits, now, used)
        if len(item) > _MAX_ATTRIBUTES:
            self._remove_past_windows(account_id, item, now)

    def _count_with_spare(
        self, account_id: str, amount: Amount, spare: Amount, limits: Limits, now: datetime
    ) -> tuple[dict[str, Any], Amount]:
        """Count messages and, if they fit too, spare ones; return the item and the spare ones."""
        if spare:
            with suppress(ConditionFailed):
                return self._count(account_id, amount + spare, limits, now), spare
        return self._count(account_id, amount, limits, now), NOTHING

    def _count(
        self, account_id: str, amount: Amount, limits: Limits, now: datetime
    ) -> dict[str, Any]:
        conditions = []
        values = _values(amount)
        for window in WINDOWS:
            limit = limits.of(window)
            if limit is None:
                continue
            # A new window has no attribute. It has room if the count is within the limit.
            has_room = f"#{window} <= :highest_{window}"
            new_or_has_room = f"attribute_not_exists(#{window}) OR {has_room}"
            conditions.append(f"({new_or_has_room if amount.of(window) <= limit else has_room})")
            values[f":highest_{window}"] = limit - amount.of(window)
        # A retry after a lost response may count twice: too strict by these messages for the
        # rest of a window, but never beyond the quota.
        return self._table.update(
            keys.quota(account_id),
            "ADD #minute :messages, #day :messages, #recipients :recipients, #month :messages",
            condition=" AND ".join(conditions) or None,
            names=_names(now),
            values=values,
        )

    def refund(
        self, account_id: str, amount: Amount, now: datetime, *, of_minute: bool = True
    ) -> None:
        """Subtract messages from the counts. A window that was removed needs no refund."""
        values, names = _values(NOTHING - amount), _names(now)
        with suppress(ConditionFailed):  # the minute ended long ago, and was removed
            if of_minute:
                self._refunds.update(
                    keys.quota(account_id),
                    "ADD #minute :messages, #day :messages, #recipients :recipients,"
                    " #month :messages",
                    condition="attribute_exists(#minute)",
                    names=names,
                    values=values,
                )
                return
        # The longer windows still count.
        self._refunds.update(
            keys.quota(account_id),
            "ADD #day :messages, #recipients :recipients, #month :messages",
            names={name: names[name] for name in _LONG},
            values=values,
        )

    def _remove_past_windows(self, account_id: str, item: Mapping[str, Any], now: datetime) -> None:
        oldest = {window_name(window, now - KEPT) for window in WINDOWS}
        past = sorted(
            name
            for name in item
            if any(name < kept and name.split(":")[0] == kept.split(":")[0] for kept in oldest)
        )
        names = {f"#past{position}": name for position, name in enumerate(past)}
        if not past:
            return  # of a clock that is behind by many minutes
        # The send is counted already; a later send removes what stays.
        with suppress(ServiceError):
            self._table.update(keys.quota(account_id), "REMOVE " + ", ".join(names), names=names)


def _names(now: datetime) -> dict[str, str]:
    return {name: window_name(window, now) for window, name in _NAMES.items()}


def _values(amount: Amount) -> dict[str, object]:
    return {":messages": amount.messages, ":recipients": amount.recipients}


def _used(item: Mapping[str, Any], now: datetime) -> dict[Window, int]:
    return {window: item.get(window_name(window, now), 0) for window in WINDOWS}

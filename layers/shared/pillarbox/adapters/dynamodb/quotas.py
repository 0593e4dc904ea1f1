"""Quotas: one conditional UpdateItem counts a send in all three windows.

Each count is an attribute with the name of its window (`minute:2026-11-20T23:12`). A new
window needs no write of its own: its attribute is absent, and the same expression creates it.
Past windows are removed from time to time, so that the item stays within one write unit.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.quota import WINDOWS, Limits, Window, first_full, window_name

#: The attributes that may exist before past windows are removed: 24 names are below 700 bytes.
_MAX_ATTRIBUTES: Final = 24

_NAMES: Final[Mapping[Window, str]] = {"minute": "#minute", "day": "#day", "month": "#month"}


class DynamoQuotas:
    """Implements `ports.Quotas`."""

    def __init__(self, table: Table) -> None:
        self._table = table
        # A repeated refund would allow one email too many; a missing one allows one too few.
        self._refunds = Table(table.name, retries=False)

    def reserve(self, account_id: str, count: int, limits: Limits, now: datetime) -> None:
        """Count all messages or none.

        Raises:
            QuotaExceeded: one of the windows does not have enough room.
        """
        conditions = []
        values: dict[str, object] = {":count": count}
        for window in WINDOWS:
            limit = limits.of(window)
            if limit is None:
                continue
            name, highest = _NAMES[window], f":highest_{window}"
            # A new window has no attribute. It has room if the count is within the limit.
            has_room = f"{name} <= {highest}"
            new_or_has_room = f"attribute_not_exists({name}) OR {has_room}"
            conditions.append(f"({new_or_has_room if count <= limit else has_room})")
            values[highest] = limit - count
        try:
            # A retry after a lost response may count twice: too strict by one send for the
            # rest of a window, but never beyond the quota.
            item = self._table.update(
                keys.quota(account_id),
                "ADD #minute :count, #day :count, #month :count",
                condition=" AND ".join(conditions) or None,
                names=_names(now),
                values=values,
            )
        except ConditionFailed as failure:
            used = _used(failure.item or {}, now)
            raise first_full(limits, used, count, now) or failure from failure
        if len(item) > _MAX_ATTRIBUTES:
            self._remove_past_windows(account_id, item, now)

    def refund(self, account_id: str, count: int, now: datetime) -> None:
        """Subtract messages from the counts. A window that was removed needs no refund."""
        try:
            self._refunds.update(
                keys.quota(account_id),
                "ADD #minute :minus, #day :minus, #month :minus",
                condition="attribute_exists(#minute)",
                names=_names(now),
                values={":minus": -count},
            )
        except ConditionFailed:
            # The minute ended long ago and was removed; the day and the month still count.
            names = _names(now)
            self._refunds.update(
                keys.quota(account_id),
                "ADD #day :minus, #month :minus",
                names={name: names[name] for name in ("#day", "#month")},
                values={":minus": -count},
            )

    def _remove_past_windows(self, account_id: str, item: Mapping[str, Any], now: datetime) -> None:
        # The previous minute may still get a refund.
        kept = {*_names(now).values(), window_name("minute", now - timedelta(minutes=1))}
        past = sorted(name for name in item if ":" in name and name not in kept)
        names = {f"#past{position}": name for position, name in enumerate(past)}
        # The send is counted already; a later send removes what stays.
        with suppress(ServiceError):
            self._table.update(keys.quota(account_id), "REMOVE " + ", ".join(names), names=names)


def _names(now: datetime) -> dict[str, str]:
    return {name: window_name(window, now) for window, name in _NAMES.items()}


def _used(item: Mapping[str, Any], now: datetime) -> dict[Window, int]:
    return {window: item.get(window_name(window, now), 0) for window in WINDOWS}

"""Quotas: one conditional UpdateItem counts a send into all three windows.

The counts are attributes named after their window (`minute:2026-11-20T23:12`),
so that a window which has just begun needs no write of its own: its attribute
is absent, and the same expression starts it. Past windows are swept off now
and then, so that the item stays within one write unit.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.quota import WINDOWS, Limits, Window, first_full, window_name

#: Windows kept before the past ones are removed: 24 names are below 700 bytes.
_KEPT: Final = 24

_NAMES: Final[Mapping[Window, str]] = {"minute": "#minute", "day": "#day", "month": "#month"}


class DynamoQuotas:
    """Fulfils `ports.Quotas`."""

    def __init__(self, table: Table) -> None:
        self._table = table
        # Refunded twice, the quota would let a mail through too many; not at all, one too few.
        self._refunds = Table(table.name, retries=False)

    def reserve(self, account_id: str, count: int, limits: Limits, now: datetime) -> None:
        """Count messages in, all or none, or raise QuotaExceeded."""
        conditions = []
        values: dict[str, object] = {":count": count}
        for window in WINDOWS:
            limit = limits.of(window)
            if limit is None:
                continue
            name, most = _NAMES[window], f":most_{window}"
            # A window that has just begun has no attribute; it has room when
            # the limit holds the count at all.
            begun = f"{name} <= {most}"
            fresh = f"attribute_not_exists({name}) OR {begun}"
            conditions.append(f"({fresh if count <= limit else begun})")
            values[most] = limit - count
        try:
            # A retry after a lost answer may count twice: too strict by one
            # for the rest of a window, but never beyond the quota.
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
        if len(item) > _KEPT:
            self._sweep(account_id, item, now)

    def refund(self, account_id: str, count: int, now: datetime) -> None:
        """Count messages out again; a window swept off meanwhile needs none."""
        try:
            self._refunds.update(
                keys.quota(account_id),
                "ADD #minute :back, #day :back, #month :back",
                condition="attribute_exists(#minute)",
                names=_names(now),
                values={":back": -count},
            )
        except ConditionFailed:
            # The minute is long over and swept off; the day and month still count.
            names = _names(now)
            self._refunds.update(
                keys.quota(account_id),
                "ADD #day :back, #month :back",
                names={name: names[name] for name in ("#day", "#month")},
                values={":back": -count},
            )

    def _sweep(self, account_id: str, item: Mapping[str, Any], now: datetime) -> None:
        # The minute before may still get a refund.
        kept = {*_names(now).values(), window_name("minute", now - timedelta(minutes=1))}
        past = sorted(name for name in item if ":" in name and name not in kept)
        names = {f"#past{position}": name for position, name in enumerate(past)}
        # The send is counted already; what is left unswept, a later one sweeps.
        with suppress(ServiceError):
            self._table.update(keys.quota(account_id), "REMOVE " + ", ".join(names), names=names)


def _names(now: datetime) -> dict[str, str]:
    return {name: window_name(window, now) for window, name in _NAMES.items()}


def _used(item: Mapping[str, Any], now: datetime) -> dict[Window, int]:
    return {window: item.get(window_name(window, now), 0) for window in WINDOWS}

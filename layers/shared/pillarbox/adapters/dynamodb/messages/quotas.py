"""Quotas: one conditional UpdateItem counts a send in all windows.

Accounts that send very often count several sends at once (`Chunks`).

Each count is an attribute with the name of its window (`minute:2026-11-20T23:12`). A new
window needs no write of its own: its attribute is absent, and the same expression creates it.
Past windows are removed from time to time, so that the item stays within one write unit.

A quota is one item, which takes at most 1,000 write units a second. An account that reserves more
often than `CHUNKED_RATE` therefore counts a few messages in advance in each update. A process
keeps them in its memory, and uses them only in the minute in which they were counted and only for
the same limits. The rest is refunded by the next send of the process, or is lost if the process
dies or stays frozen. So a quota is never exceeded. It may be too strict by what the processes have
not used: for each process at most the spare messages of one chunk, and never more than a
`_SHARE`th of the room that was left.

A chunk has recipients as well, as many for each message as the account's last sends had. If
either runs out, one update counts what both lack.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from threading import Lock
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.accounts.quota import (
    NOTHING,
    RECIPIENT_WINDOWS,
    WINDOWS,
    Amount,
    Limits,
    Window,
    add,
    first_full,
    remaining_quota,
    window_name,
    window_start,
)
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.timing import CLOCK_MARGIN

#: The messages a second of an account from which on it reserves chunks, and at most how many
#: updates of its item a second then remain. A third of what a partition takes, so that refunds,
#: refusals and an uneven second have room.
CHUNKED_RATE: Final = 300
#: A chunk is at most this part of the room that is left. So chunks end before a window is full.
_SHARE: Final = 1_000
#: The rate is measured again after this time.
_PERIOD: Final = timedelta(milliseconds=500)
#: A rate that was measured longer ago than this means nothing.
_OUTDATED: Final = timedelta(minutes=1)
#: The accounts that a process remembers; the rest of the oldest one's chunk is lost.
_MAX_ACCOUNTS: Final = 1_000


@dataclass(slots=True)
class Chunk:
    """What a process knows of an account's quota in one minute."""

    #: A moment in the minute.
    at: datetime
    limits: Limits
    #: What is counted and not used.
    left: Amount = NOTHING
    #: How many messages fit into every window, as the last update found; None: any number.
    room: int | None = 0
    #: The same for recipients.
    recipient_room: int | None = None
    #: The messages a second of all processes, measured until the moment at which the item had
    #: counted `measured_count` messages in this minute.
    rate: float = 0
    measured_at: datetime | None = None
    measured_count: int = 0
    #: The recipients of a message, measured in the same time.
    recipients_per_message: float = 1
    measured_recipients: int = 0

    def is_for(self, limits: Limits, now: datetime) -> bool:
        """Return whether its messages may be used at a moment."""
        in_minute = window_start("minute", now) == window_start("minute", self.at)
        return in_minute and limits == self.limits

    def spare(self) -> Amount:
        """Return what to count in advance: nothing at up to `CHUNKED_RATE`."""
        messages = _at_most(int(self.rate // CHUNKED_RATE), self.room)
        recipients = _at_most(ceil(messages * self.recipients_per_message), self.recipient_room)
        if recipients < messages:  # too few for these messages
            return NOTHING
        return Amount(
            max(messages - self.left.messages, 0), max(recipients - self.left.recipients, 0)
        )

    def measure(self, used: Mapping[Window, int], now: datetime) -> None:
        self.room = remaining_quota(self.limits, used)
        self.recipient_room = remaining_quota(self.limits, used, RECIPIENT_WINDOWS)
        if self.measured_at is not None:
            elapsed = now - self.measured_at
            if timedelta() <= elapsed < _PERIOD:
                return
            counted = used["minute"] - self.measured_count
            self.rate = max(counted / elapsed.total_seconds(), 0)  # a clock may be set back
            if counted > 0:
                recipients = used["recipients"] - self.measured_recipients
                self.recipients_per_message = max(recipients / counted, 1)
        self.measured_at, self.measured_count = now, used["minute"]
        self.measured_recipients = used["recipients"]


def _at_most(count: int, room: int | None) -> int:
    return count if room is None else min(count, room // _SHARE)


class Chunks:
    """The chunks of one process, by account. Several threads may use them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._chunks: dict[str, Chunk] = {}

    def reserve(
        self, account_id: str, amount: Amount, limits: Limits, now: datetime
    ) -> tuple[Amount, Amount, Chunk | None]:
        """Reserve messages of the account's chunk.

        Returns:
            How much of `amount` it had; the spare amount to count with the rest; and a
            chunk that is over, whose rest is to be refunded.
        """
        with self._lock:
            chunk, over = self._chunks.pop(account_id, None), None
            if chunk is None or not chunk.is_for(limits, now):
                old, chunk = chunk, Chunk(now, limits)
                if old is not None:
                    over = old if old.left else None
                    if old.measured_at and abs(now - old.measured_at) < _OUTDATED:
                        chunk.rate = old.rate
                        chunk.recipients_per_message = old.recipients_per_message
            self._chunks[account_id] = chunk
            if len(self._chunks) > _MAX_ACCOUNTS:
                del self._chunks[next(iter(self._chunks))]
            taken = Amount(
                min(chunk.left.messages, amount.messages),
                min(chunk.left.recipients, amount.recipients),
            )
            chunk.left -= taken
            return taken, chunk.spare(), over

    def put(
        self,
        account_id: str,
        left: Amount,
        limits: Limits,
        now: datetime,
        used: Mapping[Window, int] | None = None,
    ) -> None:
        """Put messages into the account's chunk, with the counts that an update returned.

        If another thread has begun the next minute, they are lost.
        """
        with self._lock:
            chunk = self._chunks.get(account_id)
            if chunk is not None and chunk.is_for(limits, now):
                chunk.left += left
                if used is not None:
                    chunk.measure(used, now)


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

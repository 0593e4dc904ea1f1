"""Chunks of a quota: counted in the table at once, and used by one message after another.

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
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from threading import Lock
from typing import Final

from pillarbox.domain.accounts.quota import (
    NOTHING,
    RECIPIENT_WINDOWS,
    Amount,
    Limits,
    Window,
    remaining_quota,
    window_start,
)

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
        """Note the counts that an update returned."""
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

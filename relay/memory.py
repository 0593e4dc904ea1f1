"""The memory of messages in transit: the shares in it, and who gives way when it is short.

Octets count when they arrive, so a client that only announces a message holds nothing. No account
and no address can hold more than its share. If a share or all memory is used up, the
slowest messages in it give way to faster ones.
"""

import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from relay.limits import ServerLimits

#: An account, an address or everyone: the kind, which has a ceiling, and the name.
type _Party = tuple[str, str]
_EVERYONE: Final[_Party] = ("everyone", "")
#: Seconds after which arrived octets count for 37 % (1/e) in the speed of a message. A client that
#: sends a burst and then almost nothing is soon slow.
_MEMORY_OF_SPEED: Final = 5.0


class MessageMemory:
    """The memory of one message, from DATA until the service has accepted or refused it."""

    def __init__(
        self,
        budget: "MemoryBudget",
        parties: tuple[_Party, ...],
        disconnect: Callable[[], None],
        now: float,
    ) -> None:
        self._budget = budget
        self.parties = parties
        self.disconnect = disconnect
        self.size = 0
        #: Whether more of the message is expected. A complete one never gives way.
        self.arriving = True
        self.since = self._counted_at = now
        self._recent = 0.0

    def reserve(self, size: int) -> bool:
        """Reserve octets that have arrived; return False and reserve nothing if there is no room.

        Slower messages may be disconnected to make room.
        """
        return self._budget.reserve(self, size)

    def release(self) -> None:
        self._budget.release(self)

    def count(self, size: int, now: float) -> None:
        """Let arrived octets raise the speed."""
        self._recent = self._faded(now) + size
        self._counted_at = now

    def speed(self, now: float) -> float:
        """Return the octets per second of late."""
        return self._faded(now) / _MEMORY_OF_SPEED

    def _faded(self, now: float) -> float:
        return self._recent * math.exp((self._counted_at - now) / _MEMORY_OF_SPEED)


class MemoryBudget:
    """The octets that all messages in transit may occupy, and who occupies them.

    If the messages took more, the system would kill the process.
    """

    def __init__(self, limits: ServerLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._ceilings = {
            "everyone": limits.memory,
            "account": limits.memory_of_account,
            "address": limits.memory_of_address,
        }
        self._grace = limits.content_grace
        self._clock = clock
        self._used: Counter[_Party] = Counter()
        self._messages: set[MessageMemory] = set()

    @property
    def used(self) -> int:
        """The octets of all messages."""
        return self._used[_EVERYONE]

    def begin(self, account: str, address: str, disconnect: Callable[[], None]) -> MessageMemory:
        """Begin to count a message; `disconnect` ends its connection if it has to give way."""
        parties = _parties(account, address)
        return MessageMemory(self, parties, disconnect, self._clock())

    def has_room(self, account: str, address: str, size: int) -> bool:
        """Return whether a new message of this size would find room, if it is fast enough."""
        return self._makes_room(_parties(account, address), size, math.inf, self._clock())

    def reserve(self, message: MessageMemory, size: int) -> bool:
        """Reserve octets for a message (see `MessageMemory.reserve`)."""
        now = self._clock()
        if self._is_short(message.parties, size):
            speed = math.inf if now - message.since < self._grace else message.speed(now)
            if not self._makes_room(message.parties, size, speed, now):
                return False
            for party in message.parties:
                slower = self._slower(party, speed, now)
                while self._used[party] + size > self._ceilings[party[0]]:
                    victim = slower.pop(0)
                    victim.disconnect()
                    self.release(victim)
        for party in message.parties:
            self._used[party] += size
        message.size += size
        message.count(size, now)
        self._messages.add(message)
        return True

    def release(self, message: MessageMemory) -> None:
        self._messages.discard(message)
        for party in message.parties:
            self._used[party] -= message.size
            if not self._used[party]:
                del self._used[party]
        message.size = 0

    def _is_short(self, parties: tuple[_Party, ...], size: int) -> bool:
        return any(self._used[party] + size > self._ceilings[party[0]] for party in parties)

    def _makes_room(self, parties: tuple[_Party, ...], size: int, speed: float, now: float) -> bool:
        """Return whether `size` octets fit if all slower messages give way."""
        if not self._is_short(parties, size):
            return True
        return all(
            self._used[party] + size - sum(each.size for each in self._slower(party, speed, now))
            <= self._ceilings[party[0]]
            for party in parties
        )

    def _slower(self, party: _Party, speed: float, now: float) -> list[MessageMemory]:
        """Return the messages of a party that are slower than `speed`, the slowest first."""
        speeds = {
            message: message.speed(now)
            for message in self._messages
            if party in message.parties and message.arriving and now - message.since >= self._grace
        }
        slower = [message for message, own in speeds.items() if own < speed]
        return sorted(slower, key=lambda message: speeds[message])


def _parties(account: str, address: str) -> tuple[_Party, ...]:
    return ("account", account), ("address", address), _EVERYONE

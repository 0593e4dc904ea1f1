"""Fakes of the counts of signing in. A count in the table takes 4 ms."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from uuid import UUID

from pillarbox.domain.sign_in.strangers import StrangerDay


class FakeCounts:
    """Implements `sign_in.ports.SignInCounts`."""

    def __init__(self) -> None:
        self.counted = Counter[object]()

    def count(self, subject: str, window: timedelta, most: int, now: datetime) -> bool:
        if self.is_full(subject, window, most, now):
            return False
        self.counted[_window(subject, window, now)] += 1
        return True

    def is_full(self, subject: str, window: timedelta, most: int, now: datetime) -> bool:
        return self.counted[_window(subject, window, now)] >= most


def _window(subject: str, window: timedelta, now: datetime) -> object:
    return subject, window, now.timestamp() // window.total_seconds()


@dataclass
class FakeStrangerMail:
    """Implements `ports.StrangerMail`."""

    sent: Counter[date] = field(default_factory=Counter)
    bounced: set[tuple[date, UUID]] = field(default_factory=set)

    def add_sent(self, day: date) -> None:
        self.sent[day] += 1

    def add_bounced(self, day: date, message_id: UUID) -> None:
        self.bounced.add((day, message_id))

    def since(self, day: date) -> Sequence[StrangerDay]:
        days = sorted({*self.sent, *(one for one, _ in self.bounced)})
        return [
            StrangerDay(one, self.sent[one], sum(bounced == one for bounced, _ in self.bounced))
            for one in days
            if one >= day
        ]

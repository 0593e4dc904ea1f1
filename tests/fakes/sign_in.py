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

    sent: Counter[tuple[str, date]] = field(default_factory=Counter)
    bounced: dict[tuple[str, date], set[UUID]] = field(default_factory=dict)

    def add_sent(self, name: str, day: date) -> None:
        self.sent[name, day] += 1

    def set_sent(self, name: str, day: date, sent: int) -> None:
        self.sent[name, day] = sent

    def add_bounced(self, name: str, day: date, message_id: UUID) -> int:
        found = self.bounced.setdefault((name, day), set())
        found.add(message_id)
        return len(found)

    def since(self, name: str, day: date) -> Sequence[StrangerDay]:
        days = sorted({one for of, one in (*self.sent, *self.bounced) if of == name and one >= day})
        return [
            StrangerDay(one, self.sent[name, one], len(self.bounced.get((name, one), ())))
            for one in days
        ]

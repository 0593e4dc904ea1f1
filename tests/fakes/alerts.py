"""A timer of alerts that a run of simulated days can afford."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

_MINUTE = timedelta(minutes=1)


@dataclass
class FakeAlertTimes:
    """Implements `alerts.ports.AlertTimes`; `minutes` has the tasks and accounts of each minute."""

    minutes: dict[datetime, dict[str, str]] = field(default_factory=dict)
    #: No pass reads a minute again that is two minutes old.
    closed: datetime = datetime(2000, 1, 1, tzinfo=UTC)
    _names: Iterator[int] = field(default_factory=count)

    def put(self, account_id: str, due: datetime) -> None:
        minute = due.replace(second=0, microsecond=0)
        tasks = self.minutes.setdefault(minute if minute == due else minute + _MINUTE, {})
        tasks[f"{account_id}#{next(self._names)}"] = account_id

    def due(self, now: datetime) -> Iterator[tuple[datetime, Mapping[str, str]]]:
        for minute in sorted(self.minutes):
            if self.closed < minute <= now and self.minutes[minute]:
                yield minute, dict(self.minutes[minute])
        self.closed = now - timedelta(minutes=2)

    def remove(self, minute: datetime, tasks: Iterable[str]) -> None:
        for task in tasks:
            self.minutes[minute].pop(task, None)

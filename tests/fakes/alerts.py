"""In-memory implementations of the ports of alerts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count

from pillarbox.domain.accounts.alert import Alert, AlertSettings, ChatState, StoredAlert

_MINUTE = timedelta(minutes=1)


@dataclass
class FakeAlerts:
    """Implements `alerts.ports.AlertRecords`."""

    stored: dict[tuple[str, str], StoredAlert] = field(default_factory=dict)
    choices: dict[str, AlertSettings] = field(default_factory=dict)
    chats: dict[str, ChatState] = field(default_factory=dict)

    def add(self, account_id: str, alert: Alert, at: datetime) -> bool:
        one = self.stored.setdefault((account_id, alert.alert_id), StoredAlert(alert, at))
        return one.told_at is None

    def of_account(self, account_id: str) -> Sequence[StoredAlert]:
        found = [one for (owner, _), one in self.stored.items() if owner == account_id]
        return sorted(found, key=lambda one: (one.raised_at, one.alert.alert_id))

    def mark_told(self, account_id: str, alert_ids: Iterable[str], at: datetime) -> None:
        for alert_id in alert_ids:
            key = account_id, alert_id
            self.stored[key] = replace(self.stored[key], told_at=at)

    def settings(self, account_id: str) -> AlertSettings:
        return self.choices.get(account_id, AlertSettings())

    def set_settings(self, account_id: str, settings: AlertSettings) -> None:
        self.choices[account_id] = settings

    def chat_state(self, account_id: str) -> ChatState | None:
        return self.chats.get(account_id)

    def set_chat_state(self, account_id: str, state: ChatState) -> None:
        self.chats[account_id] = state


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

"""The ports of the use cases for alerts.

Every method may raise ServiceError `service_unavailable`, as in `application.ports`.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from pillarbox.domain.accounts.alert import Alert, AlertSettings, ChatState, StoredAlert


class AlertRecords(Protocol):
    """The alerts of each account, which expire, and how its owners hear of them."""

    def add(self, account_id: str, alert: Alert, at: datetime) -> bool:
        """Store an alert, unless it is stored; return whether it has yet to be told."""

    def of_account(self, account_id: str) -> Sequence[StoredAlert]:
        """Read the alerts of the last weeks consistently, the oldest first."""

    def mark_told(self, account_id: str, alert_ids: Iterable[str], at: datetime) -> None:
        """Note that alerts were told."""

    def settings(self, account_id: str) -> AlertSettings:
        """Read consistently what the owners chose; without a record, the defaults."""

    def set_settings(self, account_id: str, settings: AlertSettings) -> None:
        """Store what they chose."""

    def chat_state(self, account_id: str) -> ChatState | None:
        """Read how the last post went; None if there was none."""

    def set_chat_state(self, account_id: str, state: ChatState) -> None:
        """Store how the last post went."""


class AlertTimes(Protocol):
    """A timer: when the owners of which accounts are told, to the minute."""

    def put(self, account_id: str, due: datetime) -> None:
        """Wake up for an account at a moment. Each call adds a task of its own."""

    def due(self, now: datetime) -> Iterable[tuple[datetime, Mapping[str, str]]]:
        """Return what is due, in parts: the minute of each, and the accounts by their tasks."""

    def remove(self, minute: datetime, tasks: Iterable[str]) -> None:
        """Remove the tasks that were done. What was added meanwhile stays."""

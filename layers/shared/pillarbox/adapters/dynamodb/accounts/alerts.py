"""The alerts of accounts, what their owners chose of them, and the timer that tells them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import (
    TIME,
    Store,
    Table,
    from_text,
    to_item,
    to_text,
    to_ttl,
)
from pillarbox.adapters.dynamodb.timer import Timer
from pillarbox.adapters.rows import TUPLE, Codec, Column, Row, one_of
from pillarbox.domain.accounts.alert import (
    Alert,
    AlertKind,
    AlertSettings,
    ChatState,
    StoredAlert,
)
from pillarbox.domain.ids import new_token

#: Longer than a month, so that an alert about a month's quota is raised once.
_KEPT: Final = timedelta(days=40)
_SETTINGS: Final = "settings"
_ALERT: Final = Row(
    Alert,
    *("name", "title", "about", "url?"),
    kind=("kind?", one_of(AlertKind)),
    at=("at", TIME),
    paragraphs=("paragraphs", TUPLE),
)
_KINDS: Final = Codec(sorted, lambda kinds: frozenset(map(AlertKind, kinds)))
_CHOICE: Final = Row(
    AlertSettings,
    "chat_url?",
    mail=Column("mail", absent=True),
    off=Column("off", _KINDS, absent=frozenset()),
)
_CHAT: Final = Row(ChatState, "error?", at=("at", TIME))


class DynamoAlerts(Store):
    """Implements `accounts.alert_ports.AlertRecords`."""

    def add(self, account_id: str, alert: Alert, at: datetime) -> bool:
        """Put a new item. One that is there says whether it was told."""
        key = keys.alert(account_id, alert.alert_id)
        kept = {"raised": to_text(at), "expires_at": to_ttl(at + _KEPT)}
        stored = self._table.put_new(key | to_item(_ALERT.write(alert) | kept))
        return stored is None or "told" not in stored

    def of_account(self, account_id: str) -> Sequence[StoredAlert]:
        items = self._table.query(keys.alert(account_id))
        alerts = [_stored(item) for item in items if item["sk"] != _SETTINGS]
        return sorted(alerts, key=lambda one: (one.raised_at, one.alert.alert_id))

    def mark_told(self, account_id: str, alert_ids: Iterable[str], at: datetime) -> None:
        for alert_id in alert_ids:
            self._table.try_update(
                keys.alert(account_id, alert_id),
                "SET told = :at",
                values={":at": to_text(at)},
            )

    def settings(self, account_id: str) -> AlertSettings:
        item = self._table.get(keys.alert(account_id, _SETTINGS))
        return _CHOICE.read(item) if item else AlertSettings()

    def set_settings(self, account_id: str, settings: AlertSettings) -> None:
        self._table.put(keys.alert(account_id, _SETTINGS) | to_item(_CHOICE.write(settings)))

    def chat_state(self, account_id: str) -> ChatState | None:
        return self._table.find(keys.chat_state(account_id), _CHAT.read)

    def set_chat_state(self, account_id: str, state: ChatState) -> None:
        """Put one item. It is not among the alerts, so that who posts writes nothing there."""
        self._table.put(keys.chat_state(account_id) | to_item(_CHAT.write(state)))


class DynamoAlertTimes:
    """Implements `accounts.alert_ports.AlertTimes`."""

    def __init__(self, table: Table) -> None:
        self._timer = Timer[str](table, "TELL", str, lambda item: item["sk"], lambda _: {})

    def put(self, account_id: str, due: datetime) -> None:
        """Put an item into the first minute that begins when it is due.

        Its name is new: a pass that removes what it read must not remove an item that came later.
        """
        self._timer.put(f"{account_id}#{new_token(9)}", due)

    def due(self, now: datetime) -> Iterable[tuple[datetime, Mapping[str, str]]]:
        for minute, tasks in self._timer.due(now):
            yield minute, {task: task.partition("#")[0] for task in tasks}

    def remove(self, minute: datetime, tasks: Iterable[str]) -> None:
        self._timer.remove(minute, tasks)


def _stored(item: Mapping[str, Any]) -> StoredAlert:
    told = item.get("told")
    return StoredAlert(
        _ALERT.read(item), from_text(item["raised"]), from_text(told) if told else None
    )

"""Raise an alert. The timer tells the owners a minute or two later: see `alert_telling`."""

from dataclasses import dataclass

from pillarbox.application.accounts.alert_ports import AlertRecords, AlertTimes
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.alert import Alert


@dataclass(frozen=True, slots=True)
class Alerts:
    """Stores alerts. Who raises one needs no right to write to people, or to know who they are."""

    records: AlertRecords
    times: AlertTimes
    clock: Clock

    def raise_alert(self, account_id: str, alert: Alert) -> None:
        """Store an alert for the owners of an account. The same one may be raised again."""
        now = self.clock()
        if self.records.add(account_id, alert, now):
            self.times.put(account_id, now)

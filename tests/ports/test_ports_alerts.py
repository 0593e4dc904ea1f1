"""Alerts and the timer that tells them: `alerts.ports`, on the fakes and on the adapters."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb.accounts.alerts import DynamoAlerts, DynamoAlertTimes
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.alerts.ports import AlertRecords, AlertTimes
from pillarbox.domain.accounts.alert import (
    Alert,
    AlertKind,
    AlertSettings,
    ChatState,
    StoredAlert,
)
from tests.fakes.alerts import FakeAlerts, FakeAlertTimes
from tests.fakes.builders import ACCOUNT, NOW, at

OTHER = "acct00000002"
MINUTE = timedelta(minutes=1)
ALERT = Alert(
    kind=AlertKind.DOMAIN,
    name="shop.example",
    at=NOW,
    title="A title",
    paragraphs=("One.", "Two."),
    about="Domain: shop.example",
)


@pytest.fixture(params=["fakes", "dynamodb"])
def ports(request: pytest.FixtureRequest) -> Iterator[tuple[AlertRecords, AlertTimes]]:
    if request.param == "fakes":
        yield FakeAlerts(), FakeAlertTimes()
    else:
        table = Table(request.getfixturevalue("aws").table)
        yield DynamoAlerts(table), DynamoAlertTimes(table)


def test_an_alert_is_stored_once_and_told_once(ports: tuple[AlertRecords, AlertTimes]) -> None:
    """The same alert keeps its first time, and says whether it has to be told."""
    records, _ = ports
    test = replace(ALERT, kind=None, at=at(1))
    assert records.add(ACCOUNT, ALERT, NOW)
    assert records.add(ACCOUNT, ALERT, at(5))
    assert records.add(ACCOUNT, test, at(2))
    assert records.of_account(ACCOUNT) == [StoredAlert(ALERT, NOW), StoredAlert(test, at(2))]
    records.mark_told(ACCOUNT, [ALERT.alert_id], at(3))
    assert not records.add(ACCOUNT, ALERT, at(6))
    assert records.of_account(ACCOUNT)[0] == StoredAlert(ALERT, NOW, at(3))
    assert [*records.of_account(OTHER)] == []


def test_choices_are_no_alerts(ports: tuple[AlertRecords, AlertTimes]) -> None:
    """Settings are read as they were written, the defaults too, and are not among the alerts."""
    records, _ = ports
    assert records.settings(ACCOUNT) == AlertSettings()
    for settings in (
        AlertSettings(mail=False, off=frozenset({AlertKind.QUOTA, AlertKind.VOLUME}), chat_url="u"),
        AlertSettings(),
    ):
        records.set_settings(ACCOUNT, settings)
        assert records.settings(ACCOUNT) == settings
    assert records.chat_state(ACCOUNT) is None
    for state in (ChatState(NOW, "404"), ChatState(at(1))):
        records.set_chat_state(ACCOUNT, state)
        assert records.chat_state(ACCOUNT) == state
    assert [*records.of_account(ACCOUNT)] == []
    assert records.settings(OTHER) == AlertSettings()


def test_an_account_waits_for_its_minute(ports: tuple[AlertRecords, AlertTimes]) -> None:
    """It is due in the first minute that begins then; what comes during a pass is not removed."""
    _, times = ports
    for seconds in (1, 2):
        times.put(ACCOUNT, NOW + timedelta(seconds=seconds))
    times.put(OTHER, NOW + 2 * MINUTE)
    minute = NOW.replace(second=0, microsecond=0) + MINUTE
    assert [*times.due(minute - timedelta(seconds=1))] == []
    ((due, tasks),) = times.due(minute)
    assert (due, {*tasks.values()}) == (minute, {ACCOUNT})
    times.put(ACCOUNT, NOW + timedelta(seconds=3))
    times.remove(minute, tasks)
    assert [[*left.values()] for _, left in times.due(minute)] == [[ACCOUNT]]
    times.remove(minute, [*dict(times.due(minute))[minute]])
    found = [one for _, tasks in times.due(NOW + 4 * MINUTE) for one in tasks.values()]
    assert found == [OTHER]

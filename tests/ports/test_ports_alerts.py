"""The timer that tells alerts: the fake and the adapter."""

from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb.accounts.alerts import DynamoAlertTimes
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.accounts.alert_ports import AlertTimes
from tests.fakes.alerts import FakeAlertTimes
from tests.fakes.builders import ACCOUNT, NOW

OTHER = "acct00000002"
MINUTE = timedelta(minutes=1)


@pytest.fixture(params=["fake", "adapter"])
def times(request: pytest.FixtureRequest) -> AlertTimes:
    if request.param == "fake":
        return FakeAlertTimes()
    return DynamoAlertTimes(Table(request.getfixturevalue("aws").table))


def test_an_account_waits_for_its_minute(times: AlertTimes) -> None:
    """It is due in the first minute that begins then; what comes during a pass is not removed."""
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

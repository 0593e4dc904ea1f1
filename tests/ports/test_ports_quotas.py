"""Counting sends: `ports.Quotas`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.model import OperationModel

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages import quotas as quotas_module
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.table import Table, to_item
from pillarbox.domain.accounts.quota import (
    MESSAGE_WINDOWS,
    WINDOWS,
    Limits,
    QuotaExceeded,
    window_name,
)
from pillarbox.domain.errors import ServiceError
from tests.fakes.builders import ACCOUNT, NOW, UNLIMITED, at, messages
from tests.ports.implementations import Ports

CLOCK_MARGIN = timedelta(seconds=30)

TIGHT = Limits(per_minute=3, per_day=5, per_month=7)


def reserve(
    ports: Ports,
    count: int = 1,
    seconds: float = 0,
    limits: Limits = TIGHT,
    recipients: int = 1,
) -> str | None:
    """Reserve, and return None, or the error code with the remaining count."""
    try:
        ports.quotas.reserve(ACCOUNT, messages(count, recipients), limits, at(seconds))
    except QuotaExceeded as error:
        return f"{error.code} {error.headers['RateLimit-Remaining']}"
    return None


def test_each_window_has_its_limit(ports: Ports) -> None:
    assert [reserve(ports) for _ in range(4)] == [None] * 3 + ["rate_limit_exceeded 0"]
    assert [reserve(ports, seconds=60) for _ in range(3)] == [None] * 2 + ["daily_limit_exceeded 0"]
    day = 24 * 3600
    assert [reserve(ports, seconds=day) for _ in range(3)] == [None] * 2 + [
        "monthly_limit_exceeded 0"
    ]
    assert reserve(ports, seconds=31 * day) is None


def test_recipients_fill_a_window_of_their_own(ports: Ports) -> None:
    """Emails to many recipients use up the day's recipients before its messages."""
    limits = Limits(per_minute=None, per_day=9, per_month=None, recipients_per_day=120)
    assert [reserve(ports, limits=limits, recipients=50) for _ in range(3)] == [
        None,
        None,
        "daily_limit_exceeded 20",
    ]
    assert reserve(ports, 2, limits=limits, recipients=10) is None
    assert reserve(ports, limits=limits) == "daily_limit_exceeded 0"
    assert reserve(ports, limits=limits, recipients=50, seconds=24 * 3600) is None


def test_a_refund_for_the_previous_minute_leaves_this_one(ports: Ports) -> None:
    for seconds in (0, 60, 60, 60):
        assert reserve(ports, seconds=seconds) is None
    ports.quotas.refund(ACCOUNT, messages(1), at(0))
    assert reserve(ports, seconds=60) == "rate_limit_exceeded 0"
    assert [reserve(ports, seconds=120) for _ in range(3)] == [None] * 2 + [
        "daily_limit_exceeded 0"
    ]


def test_a_record_without_recipients_has_room_for_them(table: Table) -> None:
    quotas, limits = DynamoQuotas(table), Limits(per_minute=9, per_day=9, per_month=9)
    counts: dict[str, object] = {window_name(w, NOW): 3 for w in MESSAGE_WINDOWS}
    table.put(keys.quota(ACCOUNT) | to_item(counts))
    quotas.reserve(ACCOUNT, messages(1, 50), limits, NOW)
    item = counted(table)
    assert [item[window_name(window, NOW)] for window in WINDOWS] == [4, 4, 50, 4]
    with pytest.raises(QuotaExceeded):
        quotas.reserve(ACCOUNT, messages(1), limits, NOW)


def test_recipients_are_counted_in_the_same_update(table: Table) -> None:
    calls: list[str] = []

    def note(model: OperationModel, **_: object) -> None:
        calls.append(model.name)

    events = table.client.meta.events
    events.register("before-call.dynamodb", note)
    DynamoQuotas(table).reserve(ACCOUNT, messages(3, 50), UNLIMITED, NOW)
    events.unregister("before-call.dynamodb", note)
    assert calls == ["UpdateItem"]


def counted(table: Table) -> dict[str, Any]:
    """Return the item that counts the sends of the account."""
    item = table.get(keys.quota(ACCOUNT))
    assert item is not None
    return item


def size(item: dict[str, object]) -> int:
    """Return an upper bound of the size of an item as DynamoDB counts it."""
    return sum(len(name) + max(len(str(value)), 8) for name, value in item.items())


def test_the_record_stays_within_a_write_unit(table: Table) -> None:
    """After three hundred windows the item is below 1 KB and the current counts are complete."""
    quotas = DynamoQuotas(table)
    for step in range(100):
        now = NOW + timedelta(days=31 * step)
        quotas.reserve(ACCOUNT, messages(1), UNLIMITED, now)
        if step % 12 == 11:  # also at its largest, just before a removal
            item = counted(table)
            assert size(item) < 1024
            assert item[window_name("month", now)] == 1


def test_past_windows_are_removed_only_when_needed(table: Table) -> None:
    """A removal is an extra write, so only the 26th attribute causes one."""
    quotas, sizes = DynamoQuotas(table), []
    for minute in range(22):
        quotas.reserve(ACCOUNT, messages(1), UNLIMITED, at(60 * minute))
        sizes.append(len(table.get(keys.quota(ACCOUNT)) or ()))
    assert sizes == [*range(6, 26), 7, 8]


def test_the_previous_minute_is_not_removed(table: Table) -> None:
    """A refund in the next minute finds the minute of its reservation, in any month."""
    quotas = DynamoQuotas(table)
    for minute in range(30):
        quotas.reserve(ACCOUNT, messages(1), UNLIMITED, NOW - timedelta(days=30, minutes=minute))
    for minute in range(30):
        now = NOW + timedelta(minutes=minute)
        quotas.reserve(ACCOUNT, messages(1), UNLIMITED, now)
        if minute:
            quotas.refund(ACCOUNT, messages(1), now - timedelta(minutes=1))
            item = counted(table)
            assert item[window_name("minute", now - timedelta(minutes=1))] == 0


@pytest.mark.parametrize(("milliseconds", "kept"), [(59_999, True), (60_000, False)])
def test_a_minute_is_kept_for_a_minute_after_its_end(
    table: Table, monkeypatch: pytest.MonkeyPatch, milliseconds: int, *, kept: bool
) -> None:
    """A request of 30 seconds refunds in it, and a clock that is 30 seconds slow counts in it."""
    end = NOW.replace(second=0, microsecond=0) + timedelta(minutes=1)
    quotas = DynamoQuotas(table)
    quotas.reserve(ACCOUNT, messages(1), UNLIMITED, NOW)
    monkeypatch.setattr(quotas_module, "_MAX_ATTRIBUTES", 0)
    quotas.reserve(ACCOUNT, messages(1), UNLIMITED, end + timedelta(milliseconds=milliseconds))
    assert (window_name("minute", NOW) in counted(table)) == kept


MIDNIGHT = datetime(2026, 4, 1, tzinfo=UTC)  # also the start of a month


@pytest.mark.parametrize("skew", [-CLOCK_MARGIN, CLOCK_MARGIN])
@pytest.mark.parametrize("since_midnight", [-30, -1, 0, 1, 29])
def test_a_removal_keeps_the_windows_of_other_clocks(
    table: Table, monkeypatch: pytest.MonkeyPatch, skew: timedelta, since_midnight: int
) -> None:
    """Around midnight, a removal by a slow or fast clock gives no other clock a second quota."""
    now, past = MIDNIGHT + timedelta(seconds=since_midnight), MIDNIGHT - timedelta(days=40)
    quotas, limits = DynamoQuotas(table), Limits(per_minute=None, per_day=10, per_month=10)
    quotas.reserve(ACCOUNT, messages(1), UNLIMITED, past)
    quotas.reserve(ACCOUNT, messages(10), limits, now)
    with monkeypatch.context() as always:
        always.setattr(quotas_module, "_MAX_ATTRIBUTES", 0)
        quotas.reserve(ACCOUNT, messages(1), UNLIMITED, now + skew)
    with pytest.raises(QuotaExceeded):
        quotas.reserve(ACCOUNT, messages(1), limits, now)
    item = counted(table)
    assert window_name("day", past) not in item


def test_a_refund_does_not_restore_a_removed_minute(table: Table) -> None:
    quotas = DynamoQuotas(table)
    for minute in range(30):
        quotas.reserve(ACCOUNT, messages(1), UNLIMITED, at(60 * minute))
    quotas.refund(ACCOUNT, messages(1), NOW)
    item = counted(table)
    assert window_name("minute", NOW) not in item
    assert (item["day:2026-03-14"], item["month:2026-03"]) == (29, 29)


def test_a_failed_removal_does_not_fail_the_send(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    quotas = DynamoQuotas(table)
    original = table.update

    def update(key: object, expression: str, **keywords: object) -> object:
        if expression.startswith("REMOVE"):
            raise ServiceError("service_unavailable", "planted")
        return original(key, expression, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(table, "update", update)
    for minute in range(40):
        quotas.reserve(ACCOUNT, messages(1), UNLIMITED, at(60 * minute))
    monkeypatch.undo()
    quotas.reserve(ACCOUNT, messages(1), UNLIMITED, at(60 * 40))
    item = counted(table)
    assert len(item) < 10
    assert item["day:2026-03-14"] == 41

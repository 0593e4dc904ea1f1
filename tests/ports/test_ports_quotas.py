"""Counting sends: `ports.Quotas`."""

from datetime import timedelta

import pytest
from botocore.exceptions import ReadTimeoutError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.quota import Limits, QuotaExceeded, window_name
from tests.fakes.builders import ACCOUNT, NOW, UNLIMITED, at
from tests.fakes.stores import FakeQuotas, Store
from tests.ports.implementations import Ports

TIGHT = Limits(per_minute=3, per_day=5, per_month=7)


def reserve(ports: Ports, count: int = 1, seconds: float = 0, limits: Limits = TIGHT) -> str | None:
    """Reserve; None when there was room, else the code and what was left."""
    try:
        ports.quotas.reserve(ACCOUNT, count, limits, at(seconds))
    except QuotaExceeded as full:
        return f"{full.code} {full.headers['RateLimit-Remaining']}"
    return None


def test_each_window_has_its_limit(ports: Ports) -> None:
    """The minute, the day and the month fill in their turn, and a new window has room."""
    assert [reserve(ports) for _ in range(4)] == [None] * 3 + ["rate_limit_exceeded 0"]
    assert [reserve(ports, seconds=60) for _ in range(3)] == [None] * 2 + ["daily_limit_exceeded 0"]
    day = 24 * 3600
    assert [reserve(ports, seconds=day) for _ in range(3)] == [None] * 2 + [
        "monthly_limit_exceeded 0"
    ]
    assert reserve(ports, seconds=31 * day) is None


def test_several_are_counted_in_together_or_not_at_all(ports: Ports) -> None:
    """Three do not fit where two do; the two still do."""
    assert reserve(ports) is None
    assert reserve(ports, 3) == "rate_limit_exceeded 2"
    assert reserve(ports, 2) is None
    assert reserve(ports) == "rate_limit_exceeded 0"


def test_more_than_a_whole_window_never_fits(ports: Ports) -> None:
    """A count over the limit is refused in a window that has not begun."""
    assert reserve(ports, 4) == "rate_limit_exceeded 3"


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (UNLIMITED, None),
        (Limits(per_minute=0, per_day=None, per_month=None), "rate_limit_exceeded 0"),
        (Limits(per_minute=None, per_day=0, per_month=None), "daily_limit_exceeded 0"),
        (Limits(per_minute=None, per_day=None, per_month=0), "monthly_limit_exceeded 0"),
        (Limits(per_minute=None, per_day=None, per_month=1), None),
    ],
)
def test_none_is_no_limit_and_zero_is_none_left(
    ports: Ports, limits: Limits, code: str | None
) -> None:
    """A window without a limit is never full; one of zero always is."""
    assert reserve(ports, limits=limits) == code


def test_a_refund_makes_room(ports: Ports) -> None:
    """What was not accepted is counted out of the windows it was counted into."""
    for _ in range(3):
        reserve(ports)
    ports.quotas.refund(ACCOUNT, 1, at(0))
    assert [reserve(ports), reserve(ports)] == [None, "rate_limit_exceeded 0"]


def test_a_refund_of_the_minute_before_leaves_this_one(ports: Ports) -> None:
    """A send reserved at the end of a minute is refunded there, in the day and in the month."""
    for seconds in (0, 60, 60, 60):
        assert reserve(ports, seconds=seconds) is None
    ports.quotas.refund(ACCOUNT, 1, at(0))
    assert reserve(ports, seconds=60) == "rate_limit_exceeded 0"
    assert [reserve(ports, seconds=120) for _ in range(3)] == [None] * 2 + [
        "daily_limit_exceeded 0"
    ]


def test_accounts_do_not_share(ports: Ports) -> None:
    """One account's sends leave another's quota alone."""
    while reserve(ports) is None:
        pass
    ports.quotas.reserve("acct00000002", 3, TIGHT, NOW)


LIMITS = st.builds(
    Limits,
    per_minute=st.none() | st.integers(0, 5),
    per_day=st.none() | st.integers(0, 8),
    per_month=st.none() | st.integers(0, 12),
)
STEPS = st.lists(
    st.tuples(st.sampled_from([0, 20, 60, 3600, 86_400]), st.integers(1, 4), st.booleans()),
    max_size=12,
)


@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(LIMITS, STEPS)
def test_both_sides_count_alike(
    table: Table, limits: Limits, steps: list[tuple[int, int, bool]]
) -> None:
    """Whatever is reserved and refunded when, the table and plain counting say the same."""
    table.delete(keys.quota(ACCOUNT))
    sides, seconds = (FakeQuotas(Store()), DynamoQuotas(table)), 0
    for wait, count, refund in steps:
        seconds += wait
        outcomes = []
        for quotas in sides:
            try:
                quotas.reserve(ACCOUNT, count, limits, at(seconds))
            except QuotaExceeded as full:
                outcomes.append((full.code, full.details, full.headers))
            else:
                outcomes.append(("reserved", None, {}))
                if refund:
                    quotas.refund(ACCOUNT, count, at(seconds))
        assert outcomes[0] == outcomes[1]


def size(item: dict[str, object]) -> int:
    """The size of an item as DynamoDB counts it, at most: names, and values as text."""
    return sum(len(name) + max(len(str(value)), 8) for name, value in item.items())


def test_the_record_stays_within_a_write_unit(table: Table) -> None:
    """Three hundred windows on, the item is below 1 KB and the present counts are whole."""
    quotas = DynamoQuotas(table)
    for step in range(100):
        now = NOW + timedelta(days=31 * step)
        quotas.reserve(ACCOUNT, 1, UNLIMITED, now)
        if step % 12 == 11:  # at its fullest, right before a sweep, too
            item = table.get(keys.quota(ACCOUNT))
            assert item is not None
            assert size(item) < 1024
            assert item[window_name("month", now)] == 1


def test_the_record_is_swept_no_sooner_than_it_must(table: Table) -> None:
    """A sweep is a write more: it comes with the twenty-fifth attribute, not with each send."""
    quotas, sizes = DynamoQuotas(table), []
    for minute in range(22):
        quotas.reserve(ACCOUNT, 1, UNLIMITED, at(60 * minute))
        sizes.append(len(table.get(keys.quota(ACCOUNT)) or ()))
    assert sizes == [*range(5, 25), 6, 7]


def test_the_minute_before_outlives_the_sweep(table: Table) -> None:
    """A refund that comes in the next minute finds its minute, in whatever month."""
    quotas = DynamoQuotas(table)
    for minute in range(30):
        quotas.reserve(ACCOUNT, 1, UNLIMITED, NOW - timedelta(days=30, minutes=minute))
    for minute in range(30):
        now = NOW + timedelta(minutes=minute)
        quotas.reserve(ACCOUNT, 1, UNLIMITED, now)
        if minute:
            quotas.refund(ACCOUNT, 1, now - timedelta(minutes=1))
            item = table.get(keys.quota(ACCOUNT))
            assert item is not None
            assert item[window_name("minute", now - timedelta(minutes=1))] == 0


def test_a_refund_brings_no_swept_minute_back(table: Table) -> None:
    """The minute is over and swept off: the refund counts in its day and month alone."""
    quotas = DynamoQuotas(table)
    for minute in range(30):
        quotas.reserve(ACCOUNT, 1, UNLIMITED, at(60 * minute))
    quotas.refund(ACCOUNT, 1, NOW)
    item = table.get(keys.quota(ACCOUNT))
    assert item is not None
    assert window_name("minute", NOW) not in item
    assert (item["day:2026-03-14"], item["month:2026-03"]) == (29, 29)


def test_a_sweep_that_fails_does_not_fail_the_send(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The send was counted; what the sweep left over is swept by a later one."""
    quotas = DynamoQuotas(table)
    plain = table.update

    def update(key: object, expression: str, **given: object) -> object:
        if expression.startswith("REMOVE"):
            raise ServiceError("service_unavailable", "planted")
        return plain(key, expression, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(table, "update", update)
    for minute in range(40):
        quotas.reserve(ACCOUNT, 1, UNLIMITED, at(60 * minute))
    monkeypatch.undo()
    quotas.reserve(ACCOUNT, 1, UNLIMITED, at(60 * 40))
    item = table.get(keys.quota(ACCOUNT))
    assert item is not None
    assert len(item) < 10
    assert item["day:2026-03-14"] == 41


def test_a_refund_is_tried_once(table: Table) -> None:
    """Its first try may have taken effect unheard; twice would let a mail too many through."""
    quotas, tries = DynamoQuotas(table), []

    def fail(**_: object) -> None:
        tries.append(1)
        raise ReadTimeoutError(endpoint_url="http://table.invalid")

    quotas.reserve(ACCOUNT, 1, UNLIMITED, NOW)
    events = quotas._refunds.client.meta.events
    events.register_first("before-send.dynamodb.UpdateItem", fail)
    with pytest.raises(ServiceError):
        quotas.refund(ACCOUNT, 1, NOW)
    assert len(tries) == 1

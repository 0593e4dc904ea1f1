"""Costly refusals: `ports.Refusals`."""

from datetime import timedelta

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages.quota_refusals import DynamoRefusals
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.accounts.quota import (
    REFUSALS,
    refusals_name,
)
from tests.fakes.builders import ACCOUNT, NOW, UNLIMITED, messages


def test_past_minutes_are_removed(table: Table) -> None:
    """An account that is refused every minute keeps a few counts, the newest among them."""
    refusals = DynamoRefusals(table)
    for minute in range(60):
        refusals.count(ACCOUNT, 1, NOW + timedelta(minutes=minute))
        item = table.get(keys.quota(ACCOUNT)) or {}
        names = [name for name in item if name.startswith(REFUSALS)]
        assert refusals_name(NOW + timedelta(minutes=minute)) in names
        assert len(names) <= 4


def test_refusals_and_quotas_share_their_record(table: Table) -> None:
    """Each removes its own past windows only, and neither disturbs the other's counts."""
    quotas, refusals = DynamoQuotas(table), DynamoRefusals(table)
    for minute in range(60):
        now = NOW + timedelta(minutes=minute)
        refusals.count(ACCOUNT, 1, now)
        quotas.reserve(ACCOUNT, messages(1), UNLIMITED, now)
    item = table.get(keys.quota(ACCOUNT)) or {}
    assert item["day:2026-03-14"] == 60 - item.get("day:2026-03-15", 0)
    assert item[refusals_name(now)] == 1
    assert len(item) < 40

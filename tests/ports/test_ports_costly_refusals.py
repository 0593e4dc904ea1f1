"""Costly refusals: `ports.Refusals`, and the counts that `ports.Directory` reads with the key."""

from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages.quota_refusals import DynamoRefusals
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.accounts.quota import (
    REFUSALS,
    Limits,
    QuotaCounts,
    QuotaExceeded,
    refusals_name,
)
from tests.fakes.builders import ACCOUNT, NOW, UNLIMITED, messages
from tests.ports.implementations import Ports
from tests.refusals import refusal

OTHER = "acct00000002"


def counts(ports: Ports, account_id: str = ACCOUNT) -> QuotaCounts:
    return ports.directory.look_up(account_id, quota=True).quota


def test_refusals_add_up_in_their_minute(ports: Ports) -> None:
    """Counts add up within a minute; another minute and another account have their own."""
    later = NOW + timedelta(minutes=1)
    ports.refusals.count(ACCOUNT, 1, NOW)
    ports.refusals.count(ACCOUNT, 3, NOW)
    ports.refusals.count(ACCOUNT, 5, later)
    ports.refusals.count(OTHER, 7, NOW)
    by_window = counts(ports).by_window
    assert (by_window[refusals_name(NOW)], by_window[refusals_name(later)]) == (4, 5)
    assert counts(ports, OTHER).by_window == {refusals_name(NOW): 7}


def test_the_directory_reads_a_full_quota(ports: Ports) -> None:
    """What `reserve` counted is read with the key, so that a full window refuses early."""
    limits = Limits(per_minute=1, per_day=None, per_month=None)
    counts(ports).check(limits, NOW)
    ports.quotas.reserve(ACCOUNT, messages(1), limits, NOW)
    with pytest.raises(QuotaExceeded) as error:
        counts(ports).check(limits, NOW)
    assert error.value.details == {"limit_per_minute": 1}
    counts(ports).check(limits, NOW + timedelta(minutes=1))


def test_refusals_use_no_quota(ports: Ports) -> None:
    """A full window of refusals stops a request early, but takes no room from the reservation."""
    limits = Limits(per_minute=1, per_day=1, per_month=1)
    ports.refusals.count(ACCOUNT, 20, NOW)
    assert refusal(counts(ports).check, limits, NOW).code == "rate_limit_exceeded"
    ports.quotas.reserve(ACCOUNT, messages(1), limits, NOW)


def test_the_quota_is_read_only_if_it_is_requested(ports: Ports) -> None:
    """Without `quota` a look-up reads no counts, so that a forged key costs two reads."""
    ports.refusals.count(ACCOUNT, 20, NOW)
    assert ports.directory.look_up(ACCOUNT, key_digest="0" * 64).quota == QuotaCounts()


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

"""The stores of accounts, keys, senders and suppressions."""

from dataclasses import replace
from typing import Any

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.account_log import DynamoAccountLog
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoApiKeys
from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.accounts.account import Account, Plan, Suspension
from pillarbox.domain.accounts.account_log import AccountAction, LogEntry
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id
from tests.fakes.builders import ACCOUNT, NOW, OTHER_ACCOUNT
from tests.integration.admin.records import LATER, api_key
from tests.refusals import refusal

SENDER, OTHER_SENDER = "Hello.There@shop.example", "orders@shop.example"


def account(account_id: str = ACCOUNT) -> Account:
    return Account(account_id=account_id, name="Shop", plan=Plan.FREE, created_at=NOW)


def limits(
    per_minute: int | None = None,
    per_day: int | None = None,
    per_month: int | None = None,
    recipients_per_day: int | None = None,
) -> Limits:
    return Limits(
        per_minute=per_minute,
        per_day=per_day,
        per_month=per_month,
        recipients_per_day=recipients_per_day,
    )


@pytest.fixture
def accounts(table: Table) -> DynamoAccounts:
    return DynamoAccounts(table)


def log_of(accounts: DynamoAccounts) -> DynamoAccountLog:
    return DynamoAccountLog(accounts._table)


@pytest.fixture
def api_keys(credentials: Table) -> DynamoApiKeys:
    return DynamoApiKeys(credentials)


@pytest.fixture
def suppressions(table: Table) -> DynamoSuppressions:
    return DynamoSuppressions(table)


def test_all_accounts_are_listed_by_id(accounts: DynamoAccounts) -> None:
    ids = [f"acct{number:08}" for number in range(130)]
    for account_id in reversed(ids):
        accounts.add(account(account_id))
    assert [listed.account_id for listed in accounts.all()] == ids


def test_a_change_that_is_refused_is_not_logged(accounts: DynamoAccounts) -> None:
    entry = LogEntry(entry_id=str(new_id(NOW)), at=NOW, by="root", action=AccountAction.RESUMED)
    assert accounts.resume(OTHER_ACCOUNT, entry) is None
    assert accounts.suspend(OTHER_ACCOUNT, Suspension(NOW), entry) is None
    assert accounts.change(OTHER_ACCOUNT, AccountChanges(name="x"), entry) is None
    accounts.add(account())
    accounts.raise_shards(ACCOUNT, 4, LATER)
    assert accounts.raise_shards(ACCOUNT, 2, LATER, entry) is None
    assert [*log_of(accounts).entries(OTHER_ACCOUNT, 9)] == []
    assert [*log_of(accounts).entries(ACCOUNT, 9)] == []


def test_a_change_writes_only_the_fields_it_names(accounts: DynamoAccounts) -> None:
    accounts.add(account())
    accounts.put_sender(ACCOUNT, SENDER, verified=True, default=False)
    accounts.change(ACCOUNT, AccountChanges(plan=Plan.ENTERPRISE, limits=limits(per_day=0)))
    changed = accounts.change(
        ACCOUNT,
        AccountChanges(name="Store", limits=limits(7, None, None, 8), hold_uncertain=True),
    )
    assert changed == accounts.get(ACCOUNT)
    assert changed == replace(
        account(),
        name="Store",
        plan=Plan.ENTERPRISE,
        overrides=limits(7, 0, None, 8),
        senders={SENDER: True},
        default_sender=SENDER,
        hold_uncertain=True,
    )


def test_a_suspension_keeps_its_time_until_it_ends(accounts: DynamoAccounts) -> None:
    accounts.add(account())
    suspended = accounts.suspend(ACCOUNT, Suspension(NOW, "bounces"))
    assert suspended == replace(account(), suspension=Suspension(NOW, "bounces"))
    assert accounts.suspend(ACCOUNT, Suspension(LATER)) == suspended
    again = accounts.suspend(ACCOUNT, Suspension(LATER, "complaints"))
    assert again == replace(account(), suspension=Suspension(NOW, "complaints"))
    assert accounts.get(ACCOUNT) == again
    assert accounts.resume(ACCOUNT) == account()
    assert accounts.resume(ACCOUNT) == account()
    assert accounts.suspend(OTHER_ACCOUNT, Suspension(NOW)) is None
    assert accounts.resume(OTHER_ACCOUNT) is None


def test_a_change_creates_no_account(accounts: DynamoAccounts) -> None:
    assert accounts.change(ACCOUNT, AccountChanges(name="Store")) is None
    assert accounts.raise_shards(ACCOUNT, 2, NOW) is None
    assert accounts.put_sender(ACCOUNT, SENDER, verified=True, default=True) is None
    assert accounts.remove_sender(ACCOUNT, SENDER) is None
    assert accounts.set_default_sender(ACCOUNT, SENDER) is None
    assert accounts.get(ACCOUNT) is None


def test_keys_are_listed_by_account(api_keys: DynamoApiKeys) -> None:
    keys = [api_key(number) for number in range(120)]
    for key in [*keys, api_key(1, OTHER_ACCOUNT)]:
        api_keys.add(key)
    assert sorted(api_keys.of_account(ACCOUNT), key=lambda key: key.key_id) == keys
    assert [*api_keys.of_account("acct00000003")] == []


def test_an_account_is_not_overwritten(accounts: DynamoAccounts) -> None:
    accounts.add(account())
    assert refusal(accounts.add, replace(account(), name="Other")).code == "service_unavailable"
    assert [*accounts.all()] == [account()]


def test_a_sender_that_becomes_the_default_is_not_removed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts, address = DynamoAccounts(table), "a@x.example"
    accounts.add(account())
    accounts.put_sender(ACCOUNT, address, verified=False, default=False)
    accounts.put_sender(ACCOUNT, "b@x.example", verified=True, default=True)
    original, updates = table.update, list[object]()

    def update(*arguments: Any, **named: Any) -> dict[str, Any]:
        updates.append(named["condition"])
        if len(updates) == 2:
            monkeypatch.undo()
            accounts.put_sender(ACCOUNT, address, verified=True, default=True)
        return original(*arguments, **named)

    monkeypatch.setattr(table, "update", update)
    assert accounts.remove_sender(ACCOUNT, address) is None
    current = accounts.get(ACCOUNT)
    assert current is not None
    assert current.default_sender in current.senders


def test_a_key_that_cannot_be_listed_is_not_created(
    api_keys: DynamoApiKeys, table: Table, credentials: Table
) -> None:
    api_keys.add(api_key(1))
    with pytest.raises(ServiceError):
        api_keys.add(replace(api_key(1), digest="another"))
    assert DynamoDirectory(table, credentials).look_up(ACCOUNT, key_digest="another").key is None


def test_revoking_creates_no_key_record(api_keys: DynamoApiKeys, credentials: Table) -> None:
    made = api_key(1)
    api_keys.add(made)
    credentials.delete(keys.api_key(made.digest))
    with pytest.raises(ConditionFailed):
        api_keys.revoke(ACCOUNT, made.key_id, NOW)
    assert credentials.get(keys.api_key(made.digest)) is None

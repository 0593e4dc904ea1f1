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
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id
from tests.fakes.builders import ACCOUNT, NOW, OTHER_ACCOUNT
from tests.integration.admin.records import LATER, api_key
from tests.refusals import refusal

SENDER, OTHER_SENDER = "Hello.There@shop.example", "orders@shop.example"


def account(account_id: str = ACCOUNT) -> Account:
    return Account(account_id=account_id, name="Shop", plan=Plan.FREE, created_at=NOW)


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

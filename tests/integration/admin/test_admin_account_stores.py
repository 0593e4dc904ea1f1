"""The stores of accounts, keys, senders and suppressions."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.account_log import DynamoAccountLog
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoApiKeys
from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.adapters.dynamodb.templates import DynamoTemplates
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.accounts.account import Account, Plan, Suspension
from pillarbox.domain.accounts.account_log import AccountAction, LogEntry, SettingValue
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id
from tests.fakes.builders import ACCOUNT, NOW, OTHER_ACCOUNT
from tests.integration.admin.records import LATER, add, api_key, template
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


def test_an_account_is_read_as_it_was_added(accounts: DynamoAccounts) -> None:
    full = replace(
        account(),
        overrides=limits(0, 20, 300, 40),
        senders={SENDER: True, OTHER_SENDER: False},
        default_sender=SENDER,
        hold_uncertain=True,
        contact=SENDER,
    )
    accounts.add(full)
    assert accounts.get(ACCOUNT) == full
    assert accounts.get(OTHER_ACCOUNT) is None


def test_all_accounts_are_listed_by_id(accounts: DynamoAccounts) -> None:
    ids = [f"acct{number:08}" for number in range(130)]
    for account_id in reversed(ids):
        accounts.add(account(account_id))
    assert [listed.account_id for listed in accounts.all()] == ids


def test_accounts_are_read_page_by_page(accounts: DynamoAccounts) -> None:
    ids = [f"acct{number:08}" for number in range(5)]
    for account_id in ids:
        accounts.add(account(account_id))
    pages, first = list[list[str]](), None
    while True:
        page, first = accounts.page(first, 2)
        pages.append([listed.account_id for listed in page])
        if first is None:
            break
    assert pages == [ids[:2], ids[2:4], ids[4:]]
    assert accounts.page(ids[3], 2)[1] is None
    assert accounts.page("b", 2) == ([], None)


def test_a_change_is_logged_with_what_it_changes(accounts: DynamoAccounts) -> None:
    accounts.add(account())
    actions: list[tuple[AccountAction, dict[str, tuple[SettingValue, SettingValue]]]] = [
        (AccountAction.CHANGED, {"plan": ("free", "standard"), "perDay": (None, 7)}),
        (AccountAction.CHANGED, {"shards": (1, 2)}),
        (AccountAction.SUSPENDED, {}),
        (AccountAction.RESUMED, {}),
    ]
    entries = [
        LogEntry(
            entry_id=str(new_id(NOW + timedelta(seconds=number))),
            at=NOW + timedelta(seconds=number),
            by="root@pillarbox.example",
            action=action,
            changes=changes,
            reason="bounces" if action is AccountAction.SUSPENDED else None,
        )
        for number, (action, changes) in enumerate(actions)
    ]
    plan, shards, suspended, resumed = entries
    wanted = AccountChanges(plan=Plan.STANDARD, limits=limits(per_day=7))
    changed = accounts.change(ACCOUNT, wanted, plan)
    assert changed == accounts.get(ACCOUNT) == wanted.applied_to(account())
    raised = accounts.raise_shards(ACCOUNT, 2, LATER, shards)
    assert raised is not None
    assert raised.shards == 2
    stopped = accounts.suspend(ACCOUNT, Suspension(NOW, "bounces"), suspended)
    assert stopped == replace(raised, suspension=Suspension(NOW, "bounces"))
    assert accounts.resume(ACCOUNT, resumed) == raised
    assert [*log_of(accounts).entries(ACCOUNT, 9)] == entries[::-1]
    assert [*log_of(accounts).entries(ACCOUNT, 2)] == [resumed, suspended]
    assert [*log_of(accounts).entries(OTHER_ACCOUNT, 9)] == []


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


def test_own_limits_can_be_removed(accounts: DynamoAccounts) -> None:
    accounts.add(replace(account(), overrides=limits(1, 2, 3, 4), hold_uncertain=True))
    one = accounts.change(ACCOUNT, AccountChanges(plan_limits=True, limits=limits(per_day=9)))
    assert one is not None
    assert one.overrides == limits(per_day=9)
    none = accounts.change(ACCOUNT, AccountChanges(plan_limits=True, hold_uncertain=False))
    assert none == account()


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


def test_hashed_suppressions_are_noted(accounts: DynamoAccounts) -> None:
    accounts.add(account())
    accounts.set_hashed_suppressions(ACCOUNT)
    accounts.set_hashed_suppressions(OTHER_ACCOUNT)
    assert [*accounts.all()] == [replace(account(), hashed_suppressions=True)]


def test_the_first_raise_says_from_when_on_shards_are_used(accounts: DynamoAccounts) -> None:
    accounts.add(account())
    accounts.raise_shards(ACCOUNT, 4, NOW)
    raised = accounts.raise_shards(ACCOUNT, 8, LATER)
    assert raised == accounts.get(ACCOUNT) == replace(account(), shards=8, sharded_from=NOW)
    assert accounts.raise_shards(ACCOUNT, 8, LATER) == raised


def test_a_change_creates_no_account(accounts: DynamoAccounts) -> None:
    assert accounts.change(ACCOUNT, AccountChanges(name="Store")) is None
    assert accounts.raise_shards(ACCOUNT, 2, NOW) is None
    assert accounts.put_sender(ACCOUNT, SENDER, verified=True, default=True) is None
    assert accounts.remove_sender(ACCOUNT, SENDER) is None
    assert accounts.set_default_sender(ACCOUNT, SENDER) is None
    assert accounts.get(ACCOUNT) is None


def test_removing_the_default_sender_leaves_none(accounts: DynamoAccounts) -> None:
    accounts.add(account())
    accounts.put_sender(ACCOUNT, SENDER, verified=True, default=False)
    accounts.put_sender(ACCOUNT, OTHER_SENDER, verified=True, default=False)
    left = accounts.remove_sender(ACCOUNT, OTHER_SENDER)
    assert left is not None
    assert (left.senders, left.default_sender) == ({SENDER: True}, SENDER)
    assert accounts.remove_sender(ACCOUNT, OTHER_SENDER) is None
    assert accounts.remove_sender(ACCOUNT, SENDER) == accounts.get(ACCOUNT) == account()
    accounts.put_sender(ACCOUNT, SENDER, verified=False, default=False)
    assert accounts.remove_sender(ACCOUNT, OTHER_SENDER) is None
    assert accounts.remove_sender(ACCOUNT, SENDER) == account()


def test_keys_are_listed_by_account(api_keys: DynamoApiKeys) -> None:
    keys = [api_key(number) for number in range(120)]
    for key in [*keys, api_key(1, OTHER_ACCOUNT)]:
        api_keys.add(key)
    assert sorted(api_keys.of_account(ACCOUNT), key=lambda key: key.key_id) == keys
    assert [*api_keys.of_account("acct00000003")] == []


def test_the_first_revocation_stays(api_keys: DynamoApiKeys) -> None:
    api_keys.add(api_key(1))
    api_keys.add(api_key(2))
    revoked = api_keys.revoke(ACCOUNT, api_key(1).key_id, NOW)
    assert revoked == replace(api_key(1), revoked_at=NOW)
    assert api_keys.revoke(ACCOUNT, api_key(1).key_id, LATER) == revoked
    listed = sorted(api_keys.of_account(ACCOUNT), key=lambda key: key.key_id)
    assert listed == [revoked, api_key(2)]


def test_only_a_revoked_key_is_forgotten(api_keys: DynamoApiKeys) -> None:
    api_keys.add(api_key(1))
    api_keys.add(api_key(2))
    api_keys.revoke(ACCOUNT, api_key(1).key_id, NOW)
    for number in (1, 2, 1):
        api_keys.forget(api_key(number))
    assert [*api_keys.of_account(ACCOUNT)] == [api_key(2)]


def test_suppressions_are_listed_by_address(suppressions: DynamoSuppressions) -> None:
    addresses = [f"{number:03}@example.com" for number in range(20)]
    for address in reversed(addresses):
        suppressions.add(ACCOUNT, Suppression(address=address, reason="manual", at=NOW))
    assert [suppression.address for suppression in suppressions.of_account(ACCOUNT)] == addresses
    assert [*suppressions.of_account(OTHER_ACCOUNT)] == []


def test_suppressions_are_read_in_pages(suppressions: DynamoSuppressions) -> None:
    texts = ("abe@x.example", "ada@x.example", "adb@x.example", "bob@x.example")
    made = [
        Suppression(address=text, reason="manual", at=NOW, message_id=new_id(NOW)) for text in texts
    ]
    assert suppressions.add_all(ACCOUNT, made) == made
    other = replace(made[0], reason="bounce")
    assert suppressions.add_all(ACCOUNT, [other]) == [made[0]]
    assert suppressions.page(ACCOUNT, "", None, 3) == made[:3]
    assert suppressions.page(ACCOUNT, "ad", None, 9) == made[1:3]
    assert suppressions.page(ACCOUNT, "ad", "adb@x.example", 9) == [made[2]]
    assert suppressions.page(ACCOUNT, "ad", "zoe@x.example", 9) == []
    assert suppressions.page(ACCOUNT, "b", "abe@x.example", 9) == [made[3]]


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


def test_the_directory_finds_what_operators_create(table: Table, credentials: Table) -> None:
    DynamoAccounts(table).add(account())
    DynamoApiKeys(credentials).add(api_key(1))
    DynamoApiKeys(credentials).revoke(ACCOUNT, api_key(1).key_id, NOW)
    DynamoSuppressions(table).put(ACCOUNT, "ann@example.com", "bounced", NOW, None)
    saved = template()
    add(DynamoTemplates(table), saved)
    entry = DynamoDirectory(table, credentials).look_up(
        ACCOUNT,
        key_digest=api_key(1).digest,
        addresses=["ann@example.com", "bob@example.com"],
        template_ids=[UUID(saved.template_id)],
    )
    assert entry.account == account()
    assert entry.key == replace(api_key(1), revoked_at=NOW)
    assert entry.suppressed == {"ann@example.com": "bounced"}
    assert entry.templates == {UUID(saved.template_id): saved}

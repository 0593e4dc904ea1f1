"""The stores in DynamoDB keep to the suites of their ports, and to one another."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.api_keys import DynamoApiKeys
from pillarbox.adapters.dynamodb.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.adapters.dynamodb.templates import DynamoTemplates
from pillarbox.domain.errors import ServiceError
from tests.unit.admin.fakes import ACCOUNT, NOW
from tests.unit.admin.port_suites import (
    AccountRecordsSuite,
    KeyRecordsSuite,
    SuppressionRecordsSuite,
    TemplateRecordsSuite,
    account,
    api_key,
    template,
)


class TestDynamoAccounts(AccountRecordsSuite):
    @pytest.fixture
    def records(self, table: Table) -> DynamoAccounts:
        return DynamoAccounts(table)


class TestDynamoApiKeys(KeyRecordsSuite):
    @pytest.fixture
    def records(self, table: Table) -> DynamoApiKeys:
        return DynamoApiKeys(table)


class TestDynamoSuppressions(SuppressionRecordsSuite):
    @pytest.fixture
    def records(self, table: Table) -> DynamoSuppressions:
        return DynamoSuppressions(table)


class TestDynamoTemplates(TemplateRecordsSuite):
    @pytest.fixture
    def records(self, table: Table) -> DynamoTemplates:
        return DynamoTemplates(table)


def test_an_account_is_not_written_over(table: Table) -> None:
    """An id that is taken is refused, and neither record nor list changes."""
    accounts = DynamoAccounts(table)
    accounts.add(account())
    with pytest.raises(ServiceError) as refused:
        accounts.add(replace(account(), name="Other"))
    assert refused.value.code == "service_unavailable"
    assert [*accounts.all()] == [account()]


def test_a_sender_that_becomes_the_default_is_not_removed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made the default between the two updates, it stays: no default is without its sender."""
    accounts, address = DynamoAccounts(table), "a@x.example"
    accounts.add(replace(account(), senders={}, default_sender=None))
    accounts.put_sender(ACCOUNT, address, verified=False, default=False)
    accounts.put_sender(ACCOUNT, "b@x.example", verified=True, default=True)
    plain, updates = table.update, list[object]()

    def update(*arguments: Any, **named: Any) -> dict[str, Any]:
        updates.append(named["condition"])
        if len(updates) == 2:
            monkeypatch.undo()
            accounts.put_sender(ACCOUNT, address, verified=True, default=True)
        return plain(*arguments, **named)

    monkeypatch.setattr(table, "update", update)
    assert accounts.remove_sender(ACCOUNT, address) is None
    found = accounts.get(ACCOUNT)
    assert found is not None
    assert found.default_sender in found.senders


def test_a_sender_is_removed_though_there_is_no_default(table: Table) -> None:
    """An account without a default still has senders to remove, and none that it has not."""
    accounts, address = DynamoAccounts(table), "a@x.example"
    accounts.add(replace(account(), senders={}, default_sender=None))
    accounts.put_sender(ACCOUNT, address, verified=False, default=False)
    assert accounts.remove_sender(ACCOUNT, "b@x.example") is None
    removed = accounts.remove_sender(ACCOUNT, address)
    assert removed is not None
    assert not removed.senders


def test_a_key_that_cannot_be_listed_is_not_made(table: Table) -> None:
    """Record and list entry come together: when the entry is refused, so is the record."""
    records = DynamoApiKeys(table)
    records.add(api_key(1))
    with pytest.raises(ServiceError):
        records.add(replace(api_key(1), digest="another"))
    assert DynamoDirectory(table).look_up(ACCOUNT, key_digest="another").key is None


def test_revoking_makes_no_key(table: Table) -> None:
    """An entry of the list whose record is gone is no leave to write half a record."""
    made = api_key(1)
    DynamoApiKeys(table).add(made)
    table.delete(keys.api_key(made.digest))
    with pytest.raises(ConditionFailed):
        DynamoApiKeys(table).revoke(ACCOUNT, made.key_id, NOW)
    assert table.get(keys.api_key(made.digest)) is None


def test_the_directory_finds_what_operators_make(table: Table) -> None:
    """What accepting a mail reads is what was made here, revocation and suppression included."""
    DynamoAccounts(table).add(account())
    DynamoApiKeys(table).add(api_key(1))
    DynamoApiKeys(table).revoke(ACCOUNT, api_key(1).key_id, NOW)
    DynamoSuppressions(table).put(ACCOUNT, "ann@example.com", "bounced", NOW, None)
    saved = template()
    DynamoTemplates(table).add(saved)
    found = DynamoDirectory(table).look_up(
        ACCOUNT,
        key_digest=api_key(1).digest,
        addresses=["ann@example.com", "bob@example.com"],
        template_ids=[UUID(saved.template_id)],
    )
    assert found.account == account()
    assert found.key == replace(api_key(1), revoked_at=NOW)
    assert found.suppressed == {"ann@example.com": "bounced"}
    assert found.templates == {UUID(saved.template_id): saved}

"""The stores in DynamoDB pass the tests of their ports, and fit each other."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoApiKeys
from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.adapters.dynamodb.templates.drafts import (
    DynamoTemplateDrafts,
    DynamoTemplateVersions,
)
from pillarbox.adapters.dynamodb.templates.templates import DynamoTemplates
from pillarbox.domain.errors import ServiceError
from tests.unit.admin.fakes import ACCOUNT, NOW
from tests.unit.admin.port_suites import (
    AccountRecordsSuite,
    KeyRecordsSuite,
    SuppressionRecordsSuite,
    TemplateDraftsSuite,
    TemplateRecordsSuite,
    TemplateStores,
    account,
    add,
    api_key,
    template,
)


class TestDynamoAccounts(AccountRecordsSuite):
    @pytest.fixture
    def records(self, table: Table) -> DynamoAccounts:
        return DynamoAccounts(table)


class TestDynamoApiKeys(KeyRecordsSuite):
    @pytest.fixture
    def records(self, credentials: Table) -> DynamoApiKeys:
        return DynamoApiKeys(credentials)


class TestDynamoSuppressions(SuppressionRecordsSuite):
    @pytest.fixture
    def records(self, table: Table) -> DynamoSuppressions:
        return DynamoSuppressions(table)


class TestDynamoTemplates(TemplateRecordsSuite):
    @pytest.fixture
    def records(self, table: Table) -> DynamoTemplates:
        return DynamoTemplates(table)


class TestDynamoTemplateDrafts(TemplateDraftsSuite):
    @pytest.fixture
    def stores(self, table: Table) -> TemplateStores:
        return TemplateStores(
            DynamoTemplates(table), DynamoTemplateDrafts(table), DynamoTemplateVersions(table)
        )


def test_an_account_is_not_overwritten(table: Table) -> None:
    """An existing id is refused, and the account stays unchanged."""
    accounts = DynamoAccounts(table)
    accounts.add(account())
    with pytest.raises(ServiceError) as refused:
        accounts.add(replace(account(), name="Other"))
    assert refused.value.code == "service_unavailable"
    assert [*accounts.all()] == [account()]


def test_a_sender_that_becomes_the_default_is_not_removed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sender that becomes the default during its removal stays."""
    accounts, address = DynamoAccounts(table), "a@x.example"
    accounts.add(replace(account(), senders={}, default_sender=None))
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


def test_a_sender_is_removed_without_a_default(table: Table) -> None:
    """An account without a default sender can remove only senders that it has."""
    accounts, address = DynamoAccounts(table), "a@x.example"
    accounts.add(replace(account(), senders={}, default_sender=None))
    accounts.put_sender(ACCOUNT, address, verified=False, default=False)
    assert accounts.remove_sender(ACCOUNT, "b@x.example") is None
    removed = accounts.remove_sender(ACCOUNT, address)
    assert removed is not None
    assert not removed.senders


def test_a_key_that_cannot_be_listed_is_not_created(table: Table, credentials: Table) -> None:
    """Record and list entry are written together: if the entry is refused, so is the record."""
    records = DynamoApiKeys(credentials)
    records.add(api_key(1))
    with pytest.raises(ServiceError):
        records.add(replace(api_key(1), digest="another"))
    assert DynamoDirectory(table, credentials).look_up(ACCOUNT, key_digest="another").key is None


def test_revoking_creates_no_key_record(credentials: Table) -> None:
    """Revoking a list entry whose record is gone writes no partial record."""
    made = api_key(1)
    DynamoApiKeys(credentials).add(made)
    credentials.delete(keys.api_key(made.digest))
    with pytest.raises(ConditionFailed):
        DynamoApiKeys(credentials).revoke(ACCOUNT, made.key_id, NOW)
    assert credentials.get(keys.api_key(made.digest)) is None


def test_the_directory_finds_what_operators_create(table: Table, credentials: Table) -> None:
    """The directory returns what operators wrote, including revocations and suppressions."""
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

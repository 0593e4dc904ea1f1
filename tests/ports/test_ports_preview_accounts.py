"""The accounts of the preview widget, on both tables."""

from dataclasses import replace

import pytest

from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.accounts.account import Account, Plan, Suspension
from pillarbox.domain.accounts.key import PREVIEW_SCOPES, ApiKey, KeyType
from pillarbox.domain.sign_in.preview_key import preview_key_id
from tests.aws import Aws
from tests.fakes.builders import NOW, at

ID = "acct00000042"
OWNED = Account(
    account_id=ID,
    name="Preview widget",
    plan=Plan.FREE,
    created_at=NOW,
    contact="ada@shop.example",
    widget_secret="5ec2e7",
)
KEY = ApiKey(
    key_id=preview_key_id(ID),
    account_id=ID,
    name="Preview widget",
    type=KeyType.PREVIEW,
    preset=None,
    scopes=PREVIEW_SCOPES,
    digest="d1",
    created_at=NOW,
    self_service=True,
)


@pytest.fixture
def store(aws: Aws) -> DynamoPreviewAccounts:
    return DynamoPreviewAccounts(Table(aws.credentials), Table(aws.table))


def test_an_account_has_one_key(store: DynamoPreviewAccounts) -> None:
    """A key replaces the one that was read; what was read too early changes nothing."""
    second = replace(KEY, digest="d2")
    assert store.get(ID) is None
    assert store.key_digest(ID) is None
    assert store.put_key(KEY, None, OWNED)
    assert store.get(ID) == OWNED
    assert store.key_digest(ID) == "d1"
    assert not store.put_key(second, None, None)
    assert not store.put_key(second, "d0", None)
    assert not store.put_key(second, "d1", OWNED)
    assert store.key_digest(ID) == "d1"
    assert store.put_key(second, "d1", None)
    assert store.key_digest(ID) == "d2"


def test_only_an_account_of_the_widget_is_suspended(store: DynamoPreviewAccounts) -> None:
    """The first reason stays; an account that is not the widget's, or is absent, stays as it is."""
    first = Suspension(NOW, "first")
    store.put_key(KEY, None, OWNED)
    other = replace(OWNED, account_id="acct00000043", widget_secret=None)
    store.put_key(replace(KEY, account_id=other.account_id, digest="d3"), None, other)
    for account_id in (ID, other.account_id, "acct00000044"):
        store.suspend(account_id, first)
    store.suspend(ID, Suspension(at(1), "second"))
    found = store.get(ID)
    assert found is not None
    assert found.suspension == first
    assert store.get(other.account_id) == other
    assert store.get("acct00000044") is None


def test_mail_is_stopped_for_a_mailbox(store: DynamoPreviewAccounts) -> None:
    """It stays stopped in each form of the address, and others go on."""
    store.stop_mail("bob@other.example", NOW)
    store.stop_mail("bob@other.example", at(1))
    assert store.is_stopped("bob@other.example")
    assert store.is_stopped("Bob+news@other.example")
    assert not store.is_stopped("ann@other.example")

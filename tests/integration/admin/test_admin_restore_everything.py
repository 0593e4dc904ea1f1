"""`pillarbox restore rows` after a loss of everything: all kinds return, and no webhook is sent."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import boto3
import pytest

from admin.use_cases.restore import RESTORED
from admin.wiring import OperatorWiring
from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.account_changes import (
    DynamoSenderDomains,
    added_events,
    changed_account,
)
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.alerts import DynamoAlerts
from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoApiKeys, DynamoKeyUses
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.history.message_log import unmarked
from pillarbox.adapters.dynamodb.queue_log import DynamoQueueLog
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.replies import (
    DynamoReceivedMails,
    DynamoReceivingDomains,
    DynamoReplyKeys,
)
from pillarbox.adapters.dynamodb.sign_in.sign_ups import DynamoSignUps
from pillarbox.adapters.dynamodb.sign_in.users import DynamoMembers, DynamoUsers
from pillarbox.adapters.dynamodb.table import Item, Table, to_item
from pillarbox.adapters.dynamodb.templates import DynamoTemplateDrafts, DynamoTemplates
from pillarbox.adapters.dynamodb.webhooks.endpoints import DynamoWebhookEndpoints
from pillarbox.application.operator.ports import Redrive
from pillarbox.application.receiving_ports import ReceivingDomain
from pillarbox.application.webhooks.announce import Announcement
from pillarbox.domain.accounts.account import Suspension
from pillarbox.domain.accounts.account_log import AccountAction, LogEntry
from pillarbox.domain.accounts.alert import AlertSettings
from pillarbox.domain.accounts.sender_domain import DomainState, SenderDomain
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Event, EventKind, MessageOrigin
from pillarbox.domain.sign_in.session import Member, Role, User
from pillarbox.domain.sign_in.sign_up import SignUpRequest, SignUpState
from tests.aws import create_table
from tests.fakes.builders import account, message, received
from tests.fakes.webhooks import FakeWebhookQueue, endpoint
from tests.integration.admin.conftest import SETTINGS
from tests.integration.admin.operator_command import Operator, failure
from tests.integration.admin.records import add, api_key, draft, template

NOW: Final = datetime(2026, 11, 22, 9, tzinfo=UTC)
AT: Final = "2026-11-22T08:00"
SHOP, OTHER = "qh4ybvcvbqzk", "0ther4ybvcvb"
OLD: Final = new_id(NOW - timedelta(days=400))
ENDPOINT: Final = endpoint(SHOP)
SENT: Final = Event(kind=EventKind.SENT, at=NOW - timedelta(days=400))


def fill(table: Table, credentials: Table) -> None:
    """Store a row of each kind that a person would miss, for two accounts."""
    log = LogEntry(entry_id="1", at=NOW, by="operator", action=AccountAction.SUSPENDED)
    DynamoQueueLog(table).put(Redrive(entry_id="1", at=NOW, by="operator", queue="jobs", moved=1))
    for account_id in (SHOP, OTHER):
        accounts, name = DynamoAccounts(table), f"{account_id}@shop.example"
        accounts.add(replace(account(account_id), hashed_suppressions=True))
        accounts.suspend(account_id, Suspension(NOW, "list"), log)
        user = DynamoUsers(credentials).add(User(user_id=f"user-{account_id}", address=name))
        member = Member(
            account_id=account_id,
            user_id=user.user_id,
            address=name,
            role=Role.OWNER,
            added_at=NOW,
        )
        DynamoMembers(credentials).put(member)
        request = SignUpRequest(
            user_id=user.user_id,
            address=name,
            state=SignUpState.CREATED,
            at=NOW,
            account_id=account_id,
        )
        assert DynamoSignUps(credentials, table).put(request, None)
        key = replace(api_key(1, account_id), digest=f"digest-{account_id}")
        DynamoApiKeys(credentials).add(key)
        DynamoKeyUses(table).record(account_id, key.key_id, NOW)
        DynamoAlerts(table).set_settings(account_id, AlertSettings(mail=False))
        DynamoSuppressions(table).add(
            account_id, Suppression(address="ann@example.com", reason="bounced", at=NOW)
        )
        verified = SenderDomain(name="shop.example", state=DomainState.VERIFIED, changed_at=NOW)
        assert DynamoSenderDomains(table).replace(account_id, None, verified)
        table.put(keys.account_domain(account_id, "shop.example") | to_item({"state": "verified"}))
        add(DynamoTemplates(table), template(0, account_id))
        assert DynamoTemplateDrafts(table).put(draft(1, account_id), 0)
        old = message(
            account_id,
            OLD,
            events=(SENT,),
            announced=True,
            origin=MessageOrigin(key_id=key.key_id),
        )
        table.put(message_item(old))
        assert DynamoReceivedMails(table).add(received(account_id))
        receiving = ReceivingDomain(f"in.{account_id}.example", account_id, frozenset({"support"}))
        assert DynamoReceivingDomains(table).put(receiving)
    assert DynamoWebhookEndpoints(credentials, table).add(ENDPOINT, 10)
    assert DynamoReplyKeys(credentials, lambda: NOW).for_new_tokens()


def rows(name: str) -> list[Item]:
    items: list[Any] = boto3.client("dynamodb").scan(TableName=name)["Items"]
    return items


def by_key(items: list[Item]) -> dict[tuple[str, str], Item]:
    return {(item["pk"]["S"], item["sk"]["S"]): item for item in items}


@pytest.fixture
def lost(
    table: Table, credentials: Table, deployed: str, monkeypatch: pytest.MonkeyPatch
) -> dict[str, list[Item]]:
    """What both tables had, of which there are copies now; the tables themselves are empty."""
    assert deployed
    monkeypatch.setattr("admin.restore.utc_now", lambda: NOW)
    fill(table, credentials)
    former = {}
    for each in (table, credentials):
        former[each.name] = rows(each.name)
        copy = Table(f"{each.name}-at-20261122T080000Z")
        create_table(copy.name)
        copy.write_all(puts=former[each.name])
        each.write_all(deletes=[{"pk": one["pk"], "sk": one["sk"]} for one in former[each.name]])
    return former


def restore(*options: str) -> Any:
    result = Operator().plain(
        *("--stack-name", "pillarbox-dev", "--json", "restore", "rows", "--at", AT, "--yes"),
        *options,
    )
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def inserted(table: Table) -> list[dict[str, Any]]:
    """The records of the table's stream after the restore."""
    return [
        {
            "eventName": "INSERT",
            "dynamodb": {"Keys": {"pk": item["pk"], "sk": item["sk"]}, "NewImage": item},
        }
        for item in rows(table.name)
    ]


def announce(table: Table, credentials: Table, records: list[dict[str, Any]]) -> FakeWebhookQueue:
    queue = FakeWebhookQueue()
    result = Announcement(
        account_of=changed_account,
        read=added_events,
        written_at=lambda _: None,
        endpoints=DynamoWebhookEndpoints(credentials, table),
        queue=queue,
        clock=lambda: datetime.now(UTC),
    ).apply(records)
    assert (result.retry_from, result.errors) == (None, [])
    return queue


def test_every_kind_comes_back(table: Table, lost: dict[str, list[Item]]) -> None:
    kinds = {keys.kind_and_account(item)[0] for items in lost.values() for item in items}
    assert kinds >= RESTORED.keys()
    shown = restore("--all-accounts", "--messages")
    assert shown["leftOut"] == []
    for name, items in lost.items():
        expected = [item | ({"rev": {"N": "1"}} if keys.is_message(item) else {}) for item in items]
        assert by_key([unmarked(item) for item in rows(name)]) == by_key(expected)
    assert shown["restoredRows"] == sum(map(len, lost.values()))
    assert len(boto3.client("dynamodb").list_tables()["TableNames"]) == 2
    assert table.name in lost


@pytest.mark.usefixtures("lost")
def test_what_comes_back_is_not_announced(table: Table, credentials: Table) -> None:
    restore("--all-accounts", "--messages")
    records = inserted(table)
    assert announce(table, credentials, records).tasks == []
    # The same rows without the mark of the restore would be news.
    unmarked_records = [
        {"dynamodb": one["dynamodb"] | {"NewImage": unmarked(one["dynamodb"]["NewImage"])}}
        for one in records
    ]
    told = announce(table, credentials, unmarked_records).tasks
    assert len(told) >= 4
    (change,) = (
        one["dynamodb"]
        for one in records
        if keys.is_message(one["dynamodb"]["NewImage"])
        and one["dynamodb"]["NewImage"]["account"] == {"S": SHOP}
    )
    old = message(SHOP, OLD, events=(SENT,), announced=True)
    bounced = Event(kind=EventKind.BOUNCED, at=NOW, recipient="ann@example.com")
    new = message_item(old.with_events([bounced])) | {"restored": change["NewImage"]["restored"]}
    later = {"dynamodb": change | {"OldImage": change["NewImage"], "NewImage": new}}
    assert len(announce(table, credentials, [later]).tasks) == 1


@pytest.mark.usefixtures("lost")
def test_the_statistics_count_restored_messages(table: Table) -> None:
    restore("--all-accounts", "--messages")
    records = inserted(table)
    service = OperatorWiring(SETTINGS)
    vars(service)["_judge"] = None  # the breaker needs queues, for mail to owners
    for _ in range(2):
        assert service.aggregation.apply(records).errors == []
    for account_id in (SHOP, OTHER):
        report = service.statistics_audit.verify(account_id)
        assert (report.is_correct, report.messages) == (True, 1)
    assert wiring.count_changes(records) == {}


@pytest.mark.usefixtures("lost")
def test_only_the_rows_of_an_account_come_back(table: Table, credentials: Table) -> None:
    restore("--account", SHOP)
    found = [
        keys.kind_and_account(item) for name in (table, credentials) for item in rows(name.name)
    ]
    assert {account_id for _, account_id in found} == {SHOP, ""}
    assert {kind for kind, account_id in found if not account_id} == {"USER"}
    users = DynamoUsers(credentials)
    assert users.get(f"{SHOP}@shop.example") is not None
    assert users.get(f"{OTHER}@shop.example") is None
    assert DynamoMembers(credentials).of_user(f"user-{SHOP}")[0].account_id == SHOP


@pytest.mark.usefixtures("lost")
def test_an_endpoint_joins_those_that_exist(table: Table, credentials: Table) -> None:
    endpoints, other = DynamoWebhookEndpoints(credentials, table), endpoint(SHOP)
    assert endpoints.add(other, 10)
    DynamoAccounts(table).add(account(SHOP))
    restore("--account", SHOP)
    known = {each.endpoint_id for each in endpoints.of_account(SHOP)}
    assert known == {ENDPOINT.endpoint_id, other.endpoint_id}
    ids = credentials.get(keys.webhook_endpoint_ids(SHOP))
    assert ids is not None
    assert ids["ids"] == known
    assert (table.get(keys.account(SHOP)) or {})["has_webhooks"] is True


def replace_row(*words: str, typed: str | None = None) -> Any:
    return Operator().plain(
        *("--stack-name", "pillarbox-dev", "restore", "rows", "--at", AT, "--account", SHOP),
        *("--replace", *words),
        typed=typed,
    )


@pytest.mark.usefixtures("lost")
def test_a_wrong_row_is_replaced(table: Table) -> None:
    wrong = replace(account(SHOP), name="Wrong", shards=4, contact="wrong@shop.example")
    DynamoAccounts(table).add(wrong)
    before = table.get(keys.account(SHOP))
    refused = replace_row("accounts", SHOP, "--keep-copy", typed="n\n")
    assert refused.exit_code == 1
    assert table.get(keys.account(SHOP)) == before
    result = replace_row("accounts", SHOP, typed="y\n")
    assert result.exit_code == 0, result.output
    for words in (("name", "Wrong", "Shop"), ("contact", "wrong@shop.example", "-")):
        assert any(all(word in line for word in words) for line in result.stdout.splitlines())
    now = table.get(keys.account(SHOP)) or {}
    assert (now["name"], now["shards"], "contact" in now) == ("Shop", 4, False)
    assert len(rows(table.name)) == 2  # and its entry in the list: nothing else came back


@pytest.mark.usefixtures("lost")
def test_a_secret_is_replaced_and_not_shown(table: Table, credentials: Table) -> None:
    wrong = replace(ENDPOINT, url="https://wrong.example", secrets=())
    DynamoWebhookEndpoints(credentials, table).add(wrong, 10)
    result = replace_row("webhookEndpoints", ENDPOINT.endpoint_id, "--yes")
    assert result.exit_code == 0
    assert "wrong.example" in result.output
    assert ENDPOINT.secrets[0].text not in result.output
    endpoints = DynamoWebhookEndpoints(credentials, table).of_account(SHOP)
    assert [*endpoints] == [ENDPOINT]


@pytest.mark.usefixtures("lost")
def test_a_row_that_is_missing_is_put_back_alone(table: Table) -> None:
    for restored in (1, 0):
        result = replace_row("suppressions", "ann@example.com", "--yes", "--keep-copy")
        assert f"Restored rows  {restored}" in result.stdout
    assert [*by_key(rows(table.name))] == [(f"SUP#{SHOP}", "ann@example.com")]


@pytest.mark.usefixtures("lost")
def test_a_row_that_changes_meanwhile_is_not_replaced(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    DynamoAccounts(table).add(replace(account(SHOP), name="Wrong"))

    def change(*_: object, **__: object) -> bool:
        table.update(
            keys.account(SHOP),
            "SET #name = :name",
            names={"#name": "name"},
            values={":name": "Newer"},
        )
        return True

    monkeypatch.setattr("admin.restore.agrees", change)
    result = replace_row("accounts", SHOP, "--yes")
    assert "The row has changed since it was shown." in result.stderr
    assert (table.get(keys.account(SHOP)) or {})["name"] == "Newer"


@pytest.mark.usefixtures("lost")
def test_what_may_not_be_replaced_is_refused_before_the_copy(table: Table) -> None:
    before = len(boto3.client("dynamodb").list_tables()["TableNames"])
    for words, said in (
        (("keys", "k1"), "a revoked key could become valid"),
        (("members", "u1"), "use `member add`"),
        (("templates", str(OLD)), "publish an earlier one"),
        (("accounts", OTHER), "is not the kind and the id of a row of this account"),
        (("messages", "x"), "is not the kind and the id of a row of this account"),
        (("quotas", "x"), "is not the kind and the id of a row of this account"),
        (("suppressions", "bob@example.com"), "was not there then"),
    ):
        assert said in failure(replace_row(*words, "--yes"))
    assert len(boto3.client("dynamodb").list_tables()["TableNames"]) == before
    assert rows(table.name) == []


def test_a_message_that_was_pending_stays_away(table: Table, lost: dict[str, list[Item]]) -> None:
    """The sweep would mark it as failed and announce that, although it may have been delivered."""
    copy = Table(f"{table.name}-at-20261122T080000Z")
    waiting = new_id(NOW - timedelta(days=3))
    copy.put(message_item(message(SHOP, waiting)))
    assert lost
    refused = replace_row("messages", str(waiting), "--yes")
    assert "pending then" in refused.stderr
    (left_out,) = restore("--account", SHOP, "--messages")["leftOut"]
    assert (left_out["kind"], left_out["rows"]) == ("messages", 1)
    assert "pending then" in left_out["reason"]
    assert table.get(keys.message(SHOP, waiting)) is None


def test_a_young_message_is_not_replaced(table: Table, lost: dict[str, list[Item]]) -> None:
    young = new_id(NOW - timedelta(hours=47))
    Table(f"{table.name}-at-20261122T080000Z").put(message_item(message(SHOP, young)))
    assert lost
    assert "younger than two days" in replace_row("messages", str(young), "--yes").stderr
    assert "Restored rows  1" in replace_row("messages", str(OLD), "--yes").stdout
    assert (table.get(keys.message(SHOP, UUID(str(OLD)))) or {})["status"] == "sent"

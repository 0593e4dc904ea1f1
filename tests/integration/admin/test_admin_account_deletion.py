"""`pillarbox account delete`: what it deletes, what it refuses, and that it can be run again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest

from pillarbox.adapters.dynamodb.accounts.account_data import DynamoAccountData
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.messages.waiting import DynamoWaitingContents, DynamoWakeTimes
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.webhooks.deliveries import (
    DynamoWaitingEvents,
    DynamoWebhookDeliveries,
)
from pillarbox.adapters.dynamodb.webhooks.endpoints import DynamoEndpointHealths
from pillarbox.application.waiting import wake_job
from pillarbox.domain.accounts.account import Suspension
from pillarbox.domain.accounts.quota import Amount, Limits
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Event, EventKind
from pillarbox.domain.messages.schedule import Schedule
from pillarbox.domain.webhooks.endpoint import DeliveryState, EndpointHealth, WebhookDelivery
from pillarbox.domain.webhooks.events import webhook_test
from tests.fakes.builders import mail, message
from tests.integration.admin.conftest import CREDENTIALS
from tests.integration.admin.operator_command import Operator, failure

MESSAGES = 230


def all_items(table: Table) -> list[dict[str, Any]]:
    """Return the items of both tables, but counts and the log of what the command called."""
    scan = table.client.get_paginator("scan")
    pages = [page for name in (table.name, CREDENTIALS) for page in scan.paginate(TableName=name)]
    items = [item for page in pages for item in page["Items"]]
    others = ("COUNT#", "LOG#000000000000")
    return [item for item in items if not item["pk"]["S"].startswith(others)]


def fill(run: Operator, table: Table, account: str, tmp_path: Any, messages: int) -> None:
    """Give an account something of every kind; its messages are in four shards."""
    now = datetime.now(UTC)
    DynamoAccounts(table).raise_shards(account, 4, now)
    for _ in range(messages):
        accepted = message(account, new_id(now - timedelta(hours=1), 4))
        delivered = accepted.with_events([Event(kind=EventKind.DELIVERED, at=now)])
        table.put(message_item(delivered))
    DynamoWaitingContents(table, bucket="").put_all([(message(account), mail())])
    run("stats", "rebuild", "--account", account)
    html = tmp_path / "a.html"
    html.write_text("<p>{{ a }}</p>")
    source = ("--name", "a", "--subject", "b", "--category", "c", "--html", html)
    run("template", "create", "--account", account, *source)
    run("suppression", "add", "--account", account, "ann@example.com")
    run("key", "create", "--account", account, "--name", "web", "--preset", "send")
    hook = run("webhook", "create", "--account", account, "http://127.0.0.1:9000/")["id"]
    event = webhook_test(account, now).for_endpoint(hook)
    DynamoWebhookDeliveries(table).put(WebhookDelivery(event=event, state=DeliveryState.WAITING))
    DynamoWaitingEvents(table, lambda: now).put(event)
    healthy = EndpointHealth()
    DynamoEndpointHealths(table).replace(account, hook, healthy, EndpointHealth(failing_since=now))
    limits = Limits(per_minute=None, per_day=None, per_month=None)
    for sender in (account, f"{account}#key_1"):
        DynamoQuotas(table).reserve(sender, Amount(1, 1), limits, now)


def suspend(table: Table, account: str, ago: timedelta = timedelta(minutes=5)) -> None:
    DynamoAccounts(table).suspend(account, Suspension(datetime.now(UTC) - ago))


def test_an_account_is_deleted_with_everything_of_it(
    run: Operator, table: Table, account: str, tmp_path: Any
) -> None:
    other = run("account", "create", "--name", "Other", "--plan", "standard")["id"]
    fill(run, table, other, tmp_path, 3)
    kept = all_items(table)
    fill(run, table, account, tmp_path, MESSAGES)
    suspend(table, account)
    result = run("account", "delete", account, "--yes")
    assert (result["id"], result["done"]) == (account, True)
    assert result["items"] > MESSAGES
    left = all_items(table)
    assert [item for item in left if account in str(item)] == []
    assert sorted(map(str, left)) == sorted(str(item) for item in kept if account not in str(item))
    assert run.refused("account", "delete", account, "--yes") == (1, "account_not_found")


def test_nothing_stays_of_mail_that_waits(run: Operator, table: Table, account: str) -> None:
    """The job in the timer goes with the record that says when it is due."""
    now = datetime.now(UTC)
    schedule = Schedule(due_at=now + timedelta(days=20), life=timedelta(days=1), held=True)
    waiting = replace(message(account, new_id(now)), schedule=schedule)
    table.put(message_item(waiting))
    DynamoWaitingContents(table, bucket="").put_all([(waiting, mail())])
    DynamoWakeTimes(table).put_all([wake_job(waiting, schedule)])
    assert [item for item in all_items(table) if item["pk"]["S"].startswith("WAKE#")]
    run("stats", "rebuild", "--account", account)
    suspend(table, account)
    run("account", "delete", account, "--drop-pending", "--yes")
    assert [item for item in all_items(table) if account in str(item)] == []


def test_nothing_stays_of_an_endpoint_that_was_deleted_before(
    run: Operator, table: Table, account: str
) -> None:
    """The health goes with its endpoint: the account's deletion no longer knows the endpoint."""
    hook = run("webhook", "create", "--account", account, "http://127.0.0.1:9000/")["id"]
    failing = EndpointHealth(failing_since=datetime.now(UTC))
    DynamoEndpointHealths(table).replace(account, hook, EndpointHealth(), failing)
    run("webhook", "remove", "--account", account, hook, "--yes")
    suspend(table, account)
    run("account", "delete", account, "--yes")
    assert [item for item in all_items(table) if account in str(item)] == []


def test_deletions_that_dynamodb_leaves_out_are_repeated(
    run: Operator, table: Table, account: str
) -> None:
    """DynamoDB may delete a part of a batch only; the rest is deleted by the next request."""
    for number in range(5):
        address = f"u{number}@example.com"
        DynamoSuppressions(table).put(account, address, "manual", datetime.now(UTC), None)
    suspend(table, account)
    data = DynamoAccountData(table, Table(CREDENTIALS))
    whole = table.client.batch_write_item
    requests: list[int] = []

    def partly(RequestItems: Any) -> Any:  # noqa: N803  the SDK's name
        (deletions,) = RequestItems.values()
        requests.append(len(deletions))
        whole(RequestItems={table.name: deletions[:2]})
        return {"UnprocessedItems": {table.name: deletions[2:]} if deletions[2:] else {}}

    with mock.patch.object(table.client, "batch_write_item", partly):
        assert list(data.delete_contents(account, 1)) == [("suppressions", 5)]
    assert requests == [5, 3, 1]
    assert run("suppression", "list", "--account", account)["items"] == []


@pytest.mark.usefixtures("mailbox")
def test_a_person_is_asked_first(run: Operator, table: Table, account: str) -> None:
    suspend(table, account)
    refused = run.plain("--local", "account", "delete", account)
    assert f"Delete the account {account}" in failure(refused)
    assert run.refused("account", "delete", account) == (2, "validation_failed")
    assert run("account", "show", account)["id"] == account

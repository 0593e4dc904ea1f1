"""A loss of all rows of an account on the running stack, and what `restore rows` brings back."""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import pytest

from local.engine import STACK_NAME
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.table import Item, Table
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Event, EventKind
from tests.aws import forget_sessions
from tests.fakes.builders import message
from tests.stack import PATIENCE, ROOT, operate, run_operator, send_email, wait_for

pytestmark = pytest.mark.stack

MEMBER: Final = "ada@lost.example"
RECEIVER: Final = "restored"


@pytest.fixture
def tables(stack: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Table]]:
    """Both tables of the running stack, for direct access."""
    for name, value in stack["environment"].items():
        monkeypatch.setenv(name, value)
    forget_sessions()
    names = ("PILLARBOX_TABLE", "PILLARBOX_CREDENTIALS_TABLE")
    yield [Table(stack["environment"][name]) for name in names]
    forget_sessions()


def rows_of(table: Table, account_id: str) -> list[Item]:
    pages = table.client.get_paginator("scan").paginate(TableName=table.name)
    items: list[Any] = [item for page in pages for item in page["Items"]]
    return [
        item
        for item in items
        if keys.kind_and_account(item)[1] == account_id or item.get("address") == {"S": MEMBER}
    ]


def restore(stack: dict[str, Any], *options: str) -> Any:
    """Run the command as for a stack in AWS: the engine takes the place of AWS."""
    done = subprocess.run(
        [
            *(ROOT / ".venv" / "bin" / "pillarbox", "--stack-name", STACK_NAME, "--json"),
            *("restore", "rows", *options),
        ],
        env=stack["environment"] | {"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def received(stack: dict[str, Any], **query: str) -> list[dict[str, Any]]:
    url = f"{stack['inbox_url']}/webhooks"
    query = {"receiver": RECEIVER, **query}
    items: list[dict[str, Any]] = httpx.get(url, params=query, timeout=PATIENCE).json()["items"]
    return items


def test_a_lost_account_works_again_and_webhooks_are_silent(
    stack: dict[str, Any], tables: list[Table]
) -> None:
    """Key, sender, member, suppression and endpoint work again; only new events are posted."""
    account = operate("account", "create", "--name", "Lost", "--plan", "standard")["id"]
    of_account = ("--account", account)
    operate("sender", "add", *of_account, "shop@lost.example", "--verified", "--default")
    issued_key = operate("key", "create", *of_account, "--name", "web", "--preset", "send")
    operate("webhook", "create", *of_account, f"{stack['inbox_url']}/hooks/{RECEIVER}")
    operate("member", "add", *of_account, MEMBER, "--role", "owner")
    operate("suppression", "add", *of_account, "bob@customer.example")
    now = datetime.now(UTC)
    old = message(
        account,
        new_id(now - timedelta(days=400)),
        events=(Event(kind=EventKind.SENT, at=now - timedelta(days=400)),),
        announced=True,
    )
    tables[0].put(message_item(old))
    wait_for(lambda: received(stack, message=str(old.message_id)))
    wait_for(lambda: received(stack, type="suppression.added"))

    at = now.replace(microsecond=0)
    lost = 0
    for table in tables:
        # What DynamoDB's recovery would make of a time that the engine does not know.
        table.client.restore_table_to_point_in_time(
            SourceTableName=table.name,
            TargetTableName=f"{table.name}-at-{at:%Y%m%dT%H%M%SZ}",
            UseLatestRestorableTime=True,
        )
        of_table = rows_of(table, account)
        lost += len(of_table)
        table.write_all(deletes=[{"pk": item["pk"], "sk": item["sk"]} for item in of_table])
        assert rows_of(table, account) == []
    before = len(received(stack))

    done = restore(stack, "--at", at.isoformat(), *of_account, "--messages", "--yes")
    assert 10 < done["restoredRows"] < lost
    assert {"statistics", "searchEntries"} <= {one["kind"] for one in done["leftOut"]}
    message_id = send_email(stack, issued_key["key"]).json()["messageId"]
    wait_for(lambda: received(stack, message=message_id, type="email.delivered"))
    told = received(stack)
    news = told[: len(told) - before]
    assert {one["messageId"] for one in news} == {message_id}
    assert [one["email"] for one in operate("member", "list", *of_account)["items"]] == [MEMBER]
    (suppressed,) = operate("suppression", "list", *of_account)["items"]
    assert suppressed["address"] == "bob@customer.example"
    shown = operate("message", "show", str(old.message_id), *of_account)
    assert shown["status"] == "sent"
    wait_for(lambda: run_operator("stats", "verify", *of_account).returncode == 0)

"""`pillarbox key find` and `message find --key`: the steps after a key has leaked."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoKeyUses
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.accounts.key import KeyType, new_key_text
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import MessageOrigin
from tests.fakes.builders import message
from tests.integration.admin.operator_command import Operator, failure

USED = datetime(2026, 3, 14, 15, tzinfo=UTC)


def find(text: str, *options: str) -> Any:
    return Operator().plain("--local", *options, "key", "find", typed=text)


def create(run: Operator, account: str, name: str) -> dict[str, str]:
    made: dict[str, str] = run(
        *("key", "create", "--account", account, "--name", name, "--preset", "send")
    )
    return made


def test_the_text_of_a_key_finds_the_key(run: Operator, table: Table, account: str) -> None:
    create(run, account, "other")
    made = create(run, account, "web")
    DynamoKeyUses(table).record(account, made["id"], USED)
    result = find(f"  {made['key']}\n", "--json")
    shown = json.loads(result.stdout)
    assert {name: shown[name] for name in ("accountId", "id", "name", "lastUsedAt")} == {
        "accountId": account,
        "id": made["id"],
        "name": "web",
        "lastUsedAt": "2026-03-14T15:00:00.000+00:00",
    }
    assert shown["revokedAt"] is None
    plain = find(made["key"])
    assert f"pillarbox key revoke {made['id']}" in plain.stderr
    assert made["key"] not in result.output + plain.output
    run("key", "revoke", made["id"])
    assert json.loads(find(made["key"], "--json").stdout)["revokedAt"] is not None


def test_a_terminal_does_not_show_the_key(
    run: Operator, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = create(run, account, "web")
    terminal = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("admin.keys.sys", terminal)
    monkeypatch.setattr("admin.keys.getpass", lambda _: made["key"])
    assert made["id"] in find("").stdout


def test_a_key_is_no_argument(run: Operator, account: str) -> None:
    """The command line is in the shell's history and in the list of processes."""
    made = create(run, account, "web")
    assert run.plain("--local", "key", "find", made["key"]).exit_code == 2


@pytest.mark.usefixtures("account")
def test_what_is_no_key_is_not_quoted(run: Operator, account: str) -> None:
    made = create(run, account, "web")
    for text, said in (
        (made["key"][:-1], "key: is not a key: it is mistyped or cut off\n"),
        ("", "key: is not a key: it is mistyped or cut off\n"),
        (new_key_text(account, KeyType.LIVE), f"The account {account} has no such key any more"),
        (new_key_text("0" * 12, KeyType.LIVE), "The account 000000000000 has no such key any more"),
    ):
        result = find(text)
        assert failure(result).startswith(said)
        assert not text or text not in result.output


def test_the_messages_of_a_key_are_found(run: Operator, table: Table, account: str) -> None:
    """The id of the key is enough: it names the account. Other conditions apply too."""
    leaked, other = (create(run, account, name)["id"] for name in ("leaked", "other"))
    sent = []
    for ago, key_id, subject in ((3, leaked, "Hi"), (2, other, "Hi"), (1, leaked, "Receipt")):
        stored = message(account, new_id(datetime.now(UTC) - timedelta(hours=ago)))
        origin = MessageOrigin(key_id=key_id)
        table.put(message_item(replace(stored, origin=origin, subject=subject)))
        sent.append(str(stored.message_id))
    command = ("message", "find", "--key", leaked)

    def ids(*words: str) -> list[str]:
        return [item["messageId"] for item in run(*command, *words)["items"]]

    assert ids() == [sent[2], sent[0]]
    assert ids("--account", account, "--subject", "hi") == [sent[0]]
    assert ids("--since", "90m") == [sent[2]]
    for words in (("--account", "0" * 12), ("--key", "web")):
        assert run.refused(*command, *words) == (1, "validation_failed")

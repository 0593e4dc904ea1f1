"""`pillarbox recipient erase`, run by an operator or a program."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.accounts.suppression import is_hashed
from pillarbox.domain.messages.message import ERASED_ADDRESS
from pillarbox.domain.messages.statistics import END_OF_TIME
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT, SERVICE_ACCOUNT_ID
from tests.integration.admin.operator_command import Operator, failure
from tests.integration.admin.test_admin_messages import minutes, put

ANN = "ann@example.com"


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits of the command, which take no time here."""
    waited: list[float] = []
    monkeypatch.setattr("admin.wiring.sleep", waited.append)
    return waited


def test_a_person_is_erased_from_all_accounts(
    run: Operator, table: Table, account: str, pauses: list[float]
) -> None:
    other = run("account", "create", "--name", "Other", "--plan", "free")["id"]
    run("account", "create", "--name", "Third", "--plan", "free")
    erased = put(table, account, minutes(5), to=("Ann@Example.com", "bob@example.com"))
    put(table, account, minutes(4), to=("bob@example.com",))
    put(table, other, minutes(3), to=(ANN,))
    run("suppression", "add", "--account", other, ANN)
    result = run("recipient", "erase", "ANN@example.com", "--yes")
    assert (result["address"], result["messages"]) == (ANN, 2)
    by_account = {item["accountId"]: item for item in result["items"]}
    assert by_account == {
        account: {"accountId": account, "messages": 1, "pending": 1, "suppressed": False},
        other: {"accountId": other, "messages": 1, "pending": 1, "suppressed": True},
    }
    (pause,) = pauses
    assert 50 < pause <= 60
    shown = run("message", "show", erased)
    assert shown["to"] == ["erased@recipient.invalid", "bob@example.com"]
    assert shown["subject"] == "[erased]"
    assert run("message", "find", "--to", ANN)["items"] == []
    assert run("recipient", "erase", ANN, "--yes")["items"] == []
    (suppression,) = run("suppression", "list", "--account", other)["items"]
    assert suppression["address"].startswith("sha256:")
    assert suppression["reason"] == "manual"
    assert DynamoDirectory(table).look_up(other, addresses=[ANN]).suppressed == {ANN: "manual"}
    assert run("suppression", "remove", "--account", other, ANN)["removed"]
    assert DynamoDirectory(table).look_up(other, addresses=[ANN]).suppressed == {}


def test_one_account_suppresses_the_erased_address(
    run: Operator, table: Table, account: str, tmp_path: Path
) -> None:
    result = run("recipient", "erase", ANN, "--account", account, "--suppress", "--yes")
    assert result["items"] == [
        {"accountId": account, "messages": 0, "pending": 0, "suppressed": True}
    ]
    directory = DynamoDirectory(table)
    assert directory.look_up(account, addresses=[ANN]).suppressed == {ANN: "manual"}
    file = f"{tmp_path}/suppressions.csv"
    assert run("suppression", "export", "--account", account, file)["exported"] == 1
    run("suppression", "remove", "--account", account, ANN)
    assert run("suppression", "import", "--account", account, file)["added"] == 1
    assert directory.look_up(account, addresses=[ANN]).suppressed == {ANN: "manual"}


def test_a_person_is_erased_from_the_mail_of_the_service(
    run: Operator, table: Table, account: str
) -> None:
    assert account
    suppressions, log = DynamoSuppressions(table), DynamoMessageLog(table)
    suppressions.put(SERVICE_ACCOUNT_ID, ANN, "bounced", datetime(2026, 1, 1, tzinfo=UTC), None)
    for named in ((), ("--account", SERVICE_ACCOUNT_ID)):
        code = put(table, SERVICE_ACCOUNT_ID, minutes(5), to=(ANN,), subject="Your code")
        assert run("message", "show", code)["to"] == [ANN]
        result = run("recipient", "erase", ANN, "--yes", *named)
        assert [item["accountId"] for item in result["items"]] == [SERVICE_ACCOUNT_ID]
    messages = [*log.newest_first(SERVICE_ACCOUNT_ID, 0, END_OF_TIME)]
    assert [(one.to, one.subject) for one in messages] == [((ERASED_ADDRESS,), "[erased]")] * 2
    (stored,) = suppressions.of_account(SERVICE_ACCOUNT_ID)
    assert is_hashed(stored.address)
    hashed = SERVICE_ACCOUNT.hashed_suppressions  # which each of its messages has
    assert suppressions.find_suppressed(SERVICE_ACCOUNT_ID, [ANN], hashed=hashed) == {ANN}


def test_nothing_is_erased_before_the_operator_agrees(
    run: Operator, table: Table, account: str
) -> None:
    message_id = put(table, account, minutes(5), to=(ANN,))
    asked = run.plain("--local", "recipient", "erase", ANN, typed="n\n")
    question = f"Erase {ANN} from the history of all 1 accounts and of the service's own mail?"
    assert question in " ".join(failure(asked).split())
    assert run.refused("recipient", "erase", ANN) == (2, "validation_failed")
    assert run.refused("recipient", "erase", "ann", "--yes") == (1, "validation_failed")
    wrong = ("recipient", "erase", ANN, "--yes", "--account", "0" * 11 + "1")
    assert run.refused(*wrong) == (1, "account_not_found")
    assert run("message", "show", message_id)["to"] == [ANN]
    agreed = run.plain("--local", "recipient", "erase", ANN, typed="y\n")
    assert agreed.exit_code == 0
    assert run("message", "show", message_id)["to"] == ["erased@recipient.invalid"]


def test_messages_of_all_accounts_are_found(run: Operator, table: Table, account: str) -> None:
    other = run("account", "create", "--name", "Other", "--plan", "free")["id"]
    stored = [
        put(table, (account, other)[number % 2], minutes(number), to=(ANN,))
        for number in range(1, 8)
    ]
    find = ("message", "find", "--to", ANN, "--limit", 3)
    found: list[str] = []
    until = "0m"
    while True:
        page = run(*find, "--until", until)
        found += [item["messageId"] for item in page["items"]]
        if page["complete"]:
            break
        until = page["nextTo"]
    assert found == stored

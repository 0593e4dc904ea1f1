"""`pillarbox message …`, run by an operator or a program."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog
from pillarbox.adapters.dynamodb.messages.waiting import DynamoWaitingContents, DynamoWakeTimes
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.replies import DynamoReceivedMails
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.ports import PayloadGone
from pillarbox.domain.accounts.suppression import is_hashed
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import (
    ERASED_ADDRESS,
    Event,
    EventKind,
    Message,
    MessageOrigin,
    SendRoute,
)
from pillarbox.domain.messages.schedule import Schedule, whole
from pillarbox.domain.messages.statistics import END_OF_TIME
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT, SERVICE_ACCOUNT_ID
from pillarbox.http.messages.replies import timestamp
from tests.fakes.builders import mail, message, received
from tests.integration.admin.operator_command import Operator, failure


def put(table: Table, account_id: str, ago: timedelta, shards: int = 1, **changes: object) -> str:
    stored: Message = message(account_id, new_id(datetime.now(UTC) - ago, shards))
    table.put(message_item(replace(stored, **changes)))  # type: ignore[arg-type]
    return str(stored.message_id)


def minutes(number: int) -> timedelta:
    return timedelta(minutes=number)


@pytest.mark.parametrize("shards", [1, 4])
def test_a_message_is_found_by_its_id_alone(
    run: Operator, table: Table, account: str, shards: int
) -> None:
    for number in range(3):
        run("account", "create", "--name", f"Other {number}", "--plan", "free")
    at = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)
    bounce = Event(
        kind=EventKind.BOUNCED, at=at, recipient="ann@example.com", code="no_such_user", reason="No"
    )
    message_id = put(table, account, minutes(5), shards, subject="Hello", events=(bounce,))
    shown = run("message", "show", message_id)
    assert (shown["accountId"], shown["subject"]) == (account, "Hello")
    assert (shown["status"], shown["errorMessage"]) == ("bounced", "No")
    assert shown["events"][1:] == [
        {
            "at": "2026-03-14T15:09:26.000+00:00",
            "type": "bounced",
            "recipient": "ann@example.com",
            "code": "no_such_user",
            "reason": "No",
        }
    ]
    assert run("message", "show", message_id, "--account", account) == shown
    table_text = run.plain("--local", "message", "show", message_id).stdout
    assert message_id in table_text
    assert "no_such_user" in table_text


def test_a_message_that_waits_is_canceled(run: Operator, table: Table, account: str) -> None:
    schedule = Schedule(due_at=datetime.now(UTC) + minutes(90), life=minutes(60))
    message_id = put(table, account, minutes(5), schedule=schedule)
    waiting = message(account, UUID(message_id))
    contents = DynamoWaitingContents(table, bucket="")
    contents.put_all([(waiting, mail())])
    canceled = run("message", "cancel", message_id, "--yes")
    assert (canceled["status"], canceled["events"][-1]["code"]) == ("failed", "canceled")
    with pytest.raises(PayloadGone):
        contents.load(waiting)
    sent = put(table, account, minutes(5))
    assert run.refused("message", "cancel", sent, "--yes") == (1, "not_cancelable")


def test_a_message_that_waits_gets_another_time(run: Operator, table: Table, account: str) -> None:
    """The command queues no job, so the timer must find it: sixteen minutes ahead are enough."""
    schedule = Schedule(due_at=whole(datetime.now(UTC)) + minutes(90), life=minutes(60))
    waiting = put(table, account, minutes(5), schedule=schedule)
    now = datetime.now(UTC)
    late, soon = ((now + minutes(ahead)).isoformat() for ahead in (16, 14))
    change = ("message", "reschedule", waiting, "--yes", "--at")
    assert run.refused(*change, soon) == (1, "validation_failed")
    assert run("message", "show", waiting)["scheduledAt"] == timestamp(schedule.due_at)
    moved = datetime.fromisoformat(run(*change, late)["scheduledAt"])
    assert abs(moved - now - minutes(16)) < minutes(1)
    jobs = [job for _, found in DynamoWakeTimes(table).due(moved) for job in found]
    assert [(str(job.message_id), job.due_at) for job in jobs] == [(waiting, moved)]


def test_a_held_message_is_released_by_the_timer(run: Operator, table: Table, account: str) -> None:
    """It is due when the timer can find it; what waits for an owner, or does not, is refused."""
    now = datetime.now(UTC)
    schedule = Schedule(due_at=now + minutes(60), life=minutes(60), held=True)
    origin = MessageOrigin(route=SendRoute.HTTP, held=True)
    held = put(table, account, minutes(5), schedule=schedule, origin=origin)
    released = run("message", "release", held, "--yes")
    assert (released["held"], released["status"]) == (False, "pending")
    due_at = datetime.fromisoformat(released["scheduledAt"])
    assert minutes(14) < due_at - now < minutes(17)
    jobs = [job for _, found in DynamoWakeTimes(table).due(due_at) for job in found]
    assert [str(job.message_id) for job in jobs] == [held]
    owners = replace(origin, for_owner=True)
    of_agent = put(table, account, minutes(5), schedule=schedule, origin=owners)
    assert run.refused("message", "release", of_agent, "--yes") == (1, "confirmation_required")
    sent = put(table, account, minutes(5))
    assert run.refused("message", "release", sent, "--yes") == (1, "not_cancelable")


def test_a_message_that_does_not_exist(run: Operator, table: Table, account: str) -> None:
    other = run("account", "create", "--name", "Other", "--plan", "free")["id"]
    message_id = put(table, account, minutes(5))
    unknown = new_id(datetime.now(UTC))
    show = ("message", "show")
    assert run.refused(*show, unknown) == (1, "message_not_found")
    assert run.refused(*show, message_id, "--account", other) == (1, "message_not_found")
    assert run.refused(*show, message_id, "--account", "0" * 12) == (1, "account_not_found")
    assert run.refused(*show, "hello") == (1, "validation_failed")


def test_messages_are_found_by_recipient_subject_and_time(
    run: Operator, table: Table, account: str
) -> None:
    receipt = put(table, account, minutes(10), to=("Ann@Example.com",), subject="Your RECEIPT 12")
    copied = put(table, account, minutes(5), bcc=("ann@example.com",), subject="Hello")
    other = put(table, account, minutes(4), to=("bob@example.com",), subject="Receipt 13")
    old = put(table, account, minutes(60 * 30), to=("ann@example.com",), subject="Receipt 1")
    find = ("message", "find", "--account", account)

    def ids(*words: str) -> list[str]:
        return [item["messageId"] for item in run(*find, *words)["items"]]

    assert ids("--to", "ANN@example.com") == [copied, receipt, old]
    assert ids("--to", "ann@example.com", "--since", "24h") == [copied, receipt]
    assert ids("--to", "ann@example.com", "--subject", "receipt") == [receipt, old]
    assert ids("--subject", "receipt 1") == [other, receipt]
    assert ids("--to", "ann@example.com", "--since", "2d") == [copied, receipt, old]
    assert ids("--to", "ann@example.com", "--since", "7m") == [copied]
    assert ids("--to", "ann@example.com", "--until", "7m") == [receipt, old]
    assert ids("--to", "nn@example.com") == []
    assert ids("--to", "ANN*") == [copied, receipt, old]
    assert ids("--to", "nn*") == []
    for wrong in ("yesterday", "1m"):
        words = (*find, "--since", wrong, "--until", "5m")
        assert run.refused(*words) == (1, "validation_failed")


def test_the_search_says_what_it_read_and_how_to_go_on(
    run: Operator, table: Table, account: str
) -> None:
    stored = [
        put(table, account, minutes(number), to=("ann@example.com",)) for number in range(1, 6)
    ]
    find = ("message", "find", "--account", account, "--to", "ann@example.com")
    first = run(*find, "--limit", 2)
    assert [item["messageId"] for item in first["items"]] == stored[:2]
    assert (first["read"], first["complete"]) == (2, False)
    rest = run(*find, "--until", first["nextTo"])
    assert [item["messageId"] for item in rest["items"]] == stored[2:]
    assert (rest["read"], rest["complete"], rest["nextTo"]) == (3, True, None)
    bounded = run(*find, "--max-read", 1)
    assert (len(bounded["items"]), bounded["complete"]) == (1, False)
    told = run.plain("--local", *find, "--limit", "2").stderr
    assert "Read 2 messages" in told
    assert "Go on with --until" in told


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
    assert DynamoReceivedMails(table).add(received(other, sender=ANN))
    run("suppression", "add", "--account", other, ANN)
    result = run("recipient", "erase", "ANN@example.com", "--yes")
    assert (result["address"], result["messages"]) == (ANN, 2)
    by_account = {item.pop("accountId"): item for item in result["items"]}
    assert by_account == {
        account: {"messages": 1, "pending": 1, "received": 0, "suppressed": False},
        other: {"messages": 1, "pending": 1, "received": 1, "suppressed": True},
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
        {"accountId": account, "messages": 0, "pending": 0, "received": 0, "suppressed": True}
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

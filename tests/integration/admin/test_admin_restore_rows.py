"""`pillarbox restore rows`, with moto in place of AWS."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import boto3
import pytest
from botocore.stub import Stubber

from admin.aws import table_copy
from admin.aws.table_copy import TableCopy
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.records import is_tombstone, key_item
from pillarbox.adapters.dynamodb.table import Item, Table, to_item
from pillarbox.domain.accounts.suppression import hashed_mailbox
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id
from tests.aws import create_table
from tests.fakes import builders
from tests.integration.admin.conftest import CREDENTIALS
from tests.integration.admin.documented_output import documented, readable
from tests.integration.admin.operator_command import Operator, failure

NOW: Final = datetime(2026, 11, 22, 9, tzinfo=UTC)
AT: Final = "2026-11-22T08:00"
OLD: Final = new_id(NOW - timedelta(days=3))
YOUNG: Final = new_id(NOW - timedelta(hours=2))
SHOP: Final = "qh4ybvcvbqzk"
OTHER: Final = "other4ybvcvb"


def account(account_id: str) -> list[Item]:
    """The rows of an account: its record and its entry in the list."""
    return [
        keys.account(account_id) | to_item({"name": "then"}),
        keys.account_list(account_id),
    ]


FORMER: Final = [
    *account(SHOP),
    *account(OTHER),
    keys.api_key("d1") | to_item({"account": SHOP}),
    keys.key_list(SHOP, "k1") | to_item({"digest": "d1"}),
    keys.suppression(SHOP, "ann@example.com"),
    keys.template(SHOP, OLD),
    keys.template(OTHER, OLD),
    keys.message(SHOP, OLD),
    keys.message(SHOP, YOUNG),
    keys.suppression(SHOP, "old@example.com") | to_item({"expires_at": int(NOW.timestamp()) - 1}),
    # These must not come back: they would be wrong today.
    keys.quota(SHOP),
    keys.claim(SHOP, "c1"),
    keys.heartbeat(),
    keys.entries(SHOP, 1),
    keys.sending_rate(),
]


@pytest.fixture
def live(table: Table, deployed: str, monkeypatch: pytest.MonkeyPatch) -> Table:
    """A stack whose table has lost everything but one account, which changed since then."""
    assert deployed
    for name in (table.name, CREDENTIALS):
        boto3.client("dynamodb").update_continuous_backups(
            TableName=name,
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )
    monkeypatch.setattr("admin.restore.utc_now", lambda: NOW)
    monkeypatch.setattr(table_copy, "_POLL_SECONDS", 0)
    table.put(keys.account(SHOP) | to_item({"name": "now"}))
    return table


def copied(live: Table) -> None:
    """The copies of both tables that an interrupted run left."""
    copy = Table(f"{live.name}-at-20261122T080000Z")
    of_credentials = Table(f"{CREDENTIALS}-at-20261122T080000Z")
    for one in (copy, of_credentials):
        create_table(one.name)
    for item in FORMER:
        (of_credentials if keys.is_credential(item) else copy).put(item)


def restore(*options: str, typed: str | None = None) -> Any:
    command = ("--stack-name", "pillarbox-dev", "restore", "rows", "--at", AT, *options)
    return Operator().plain(*command, typed=typed)


def rows(table: Table) -> set[tuple[str, str]]:
    items = boto3.client("dynamodb").scan(TableName=table.name)["Items"]
    return {(item["pk"]["S"].split("#")[0], item["sk"]["S"]) for item in items}


def tables() -> list[str]:
    return boto3.client("dynamodb").list_tables()["TableNames"]


def test_lost_rows_come_back(live: Table) -> None:
    copied(live)
    command = f"restore rows --at {AT} --account {SHOP}"
    result = Operator().plain("--stack-name", "pillarbox-dev", *command.split(), typed="y\n")
    assert (result.exit_code, readable(result.output)) == (0, documented(command))
    assert rows(live) == {
        ("ACCT", "-"),
        ("ACCTS", SHOP),
        ("SUP", "ann@example.com"),
        ("TPL", str(OLD)),
    }
    assert rows(Table(CREDENTIALS)) == {("KEY", "-"), ("KEYS", "k1")}
    assert live.get(keys.account(OTHER)) is None
    changed = live.get(keys.account(SHOP))
    assert changed is not None
    assert changed["name"] == "now"
    assert tables() == [live.name, CREDENTIALS]


def test_an_erased_suppression_stays_erased(live: Table) -> None:
    """The hash of an address is there, so the address does not come back."""
    copied(live)
    hashed = hashed_mailbox(SHOP, "ann@example.com")
    live.put(keys.suppression(SHOP, hashed))
    assert restore("--account", SHOP, "--yes").exit_code == 0
    assert {row for row in rows(live) if row[0] == "SUP"} == {("SUP", hashed)}


def test_a_lost_account_comes_back_with_its_keys_that_end(live: Table) -> None:
    """A key's end is a text of the name that elsewhere is a time to live; an ended one is kept."""
    copied(live)
    for digest, end in (("d2", NOW + timedelta(days=1)), ("d3", NOW - timedelta(days=1))):
        key = replace(builders.api_key(digest, OTHER), digest=digest, expires_at=end)
        Table(f"{CREDENTIALS}-at-20261122T080000Z").put(key_item(key))
    assert restore("--account", OTHER, "--yes").exit_code == 0
    assert live.get(keys.account(OTHER)) is not None
    for digest, day in (("d2", "2026-11-23"), ("d3", "2026-11-21")):
        stored = Table(CREDENTIALS).get(keys.api_key(digest)) or {}
        assert str(stored["expires_at"]).startswith(day)


def test_a_key_that_was_revoked_since_then_stays_revoked(live: Table) -> None:
    copied(live)
    for item in FORMER:
        if keys.is_credential(item):
            Table(CREDENTIALS).put(item | to_item({"revoked": "since"}))
    assert restore("--account", SHOP, "--yes").exit_code == 0
    assert (Table(CREDENTIALS).get(keys.api_key("d1")) or {})["revoked"] == "since"


def test_messages_come_back_if_no_job_can_come_for_them(live: Table) -> None:
    copied(live)
    # A job of the lost message came again, so a worker put a tombstone.
    DynamoMessages(live).withdraw(SHOP, [OLD], NOW)
    result = restore("--all-accounts", "--messages", "--yes")
    assert result.exit_code == 0
    assert "stats rebuild" in result.stderr
    restored = live.get(keys.message(SHOP, OLD))
    assert restored is not None
    assert not is_tombstone(restored)
    assert live.get(keys.message(SHOP, YOUNG)) is None
    assert live.get(keys.account(OTHER)) is not None
    assert live.get(keys.quota(SHOP)) is None


@pytest.mark.parametrize(("options", "left"), [([], 2), (["--keep-copy"], 4)])
def test_no_is_the_default(live: Table, options: list[str], left: int) -> None:
    copied(live)
    result = restore("--account", SHOP, *options, typed="\n")
    assert result.exit_code == 1
    assert rows(live) == {("ACCT", "-")}
    assert len(tables()) == left
    state = "kept" if options else "deleted"
    named = " ".join(
        f"The copy {name}-at-20261122T080000Z is {state}." for name in (live.name, CREDENTIALS)
    )
    assert f"Nothing was restored. {named}" in readable(result.stderr)


def test_an_interruption_at_the_question_keeps_the_copy(live: Table) -> None:
    """The next run finds the copy, for which it would wait twenty minutes otherwise."""
    copied(live)
    assert restore("--account", SHOP, typed="").exit_code == 1
    assert rows(live) == {("ACCT", "-")}
    assert len(tables()) == 4


def test_the_copy_is_made_by_dynamodb(live: Table) -> None:
    moment = NOW - timedelta(hours=1)
    window = {
        "PointInTimeRecoveryStatus": "ENABLED",
        "EarliestRestorableDateTime": moment,
        "LatestRestorableDateTime": NOW,
    }
    backups = {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": window,
    }
    name = f"{live.name}-at-20261122T080000Z"
    with Stubber(live.client) as stub:
        stub.add_client_error("describe_table", "ResourceNotFoundException")
        stub.add_response("describe_continuous_backups", {"ContinuousBackupsDescription": backups})
        stub.add_client_error("describe_table", "ResourceNotFoundException")
        stub.add_response(
            "restore_table_to_point_in_time",
            {},
            {
                "SourceTableName": live.name,
                "TargetTableName": name,
                "RestoreDateTime": moment,
            },
        )
        copy = TableCopy(live, moment)
        copy.check()
        copy.request()
        for status in ("CREATING", "ACTIVE", "ACTIVE"):
            stub.add_response("describe_table", {"Table": {"TableStatus": status}})
        copy.wait()
        copy.request()
        stub.assert_no_pending_responses()
    assert copy.name == name


@pytest.mark.parametrize(
    ("statuses", "state"),
    [
        (["CREATING", None, None, None, None], "deleted"),
        (["ACTIVE", "DELETING"], "DELETING"),
        (["CREATING", "INACCESSIBLE_ENCRYPTION_CREDENTIALS"], "INACCESSIBLE_ENCRYPTION"),
    ],
)
def test_a_copy_that_disappears_ends_the_wait(
    live: Table, statuses: list[str | None], state: str
) -> None:
    copy = TableCopy(live, NOW)
    with Stubber(live.client) as stub:
        for status in statuses:
            if status is None:
                stub.add_client_error("describe_table", "ResourceNotFoundException")
            else:
                stub.add_response("describe_table", {"Table": {"TableStatus": status}})
        if statuses[0] == "ACTIVE":
            copy.request()
        with pytest.raises(ServiceError, match=state):
            copy.wait(lambda _: None)
        stub.assert_no_pending_responses()


def test_a_copy_that_is_not_known_at_once_is_waited_for(live: Table) -> None:
    """For a moment DynamoDB may not know a table that it has just begun to make."""
    with Stubber(live.client) as stub:
        for _ in range(3):
            stub.add_client_error("describe_table", "ResourceNotFoundException")
        stub.add_response("describe_table", {"Table": {"TableStatus": "ACTIVE"}})
        TableCopy(live, NOW).wait(lambda _: None)
        stub.assert_no_pending_responses()


def test_a_time_out_of_reach_names_the_window(live: Table) -> None:
    assert failure(restore("--all-accounts", "--yes")).startswith("--at: must be from 20")
    assert tables() == [live.name, CREDENTIALS]


def test_a_table_without_recovery_is_refused(live: Table) -> None:
    boto3.client("dynamodb").update_continuous_backups(
        TableName=live.name,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False},
    )
    result = restore("--all-accounts", "--yes")
    assert result.stderr == f"The table {live.name} has no point-in-time recovery.\n"


@pytest.mark.usefixtures("live")
@pytest.mark.parametrize("options", [[], ["--account", "a", "--all-accounts"]])
def test_the_accounts_are_said(options: list[str]) -> None:
    assert restore(*options).exit_code == 2


@pytest.mark.usefixtures("live")
def test_programs_say_yes_before_the_copy() -> None:
    """With --json the command ends at once, not after twenty minutes."""
    command = ("--stack-name", "pillarbox-dev", "--json", "restore", "rows", "--at", AT)
    assert Operator().plain(*command, "--all-accounts").exit_code == 2

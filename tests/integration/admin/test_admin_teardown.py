"""`pillarbox teardown`, with moto in place of AWS."""

import json
from typing import Any, Final

import boto3
import pytest
from botocore.exceptions import ClientError

from admin.aws import kept_data, receipts, stacks
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.ses.receipts import SesReceiptRules
from tests.integration.admin.aws_stubs import Stubs
from tests.integration.admin.conftest import create_stack
from tests.integration.admin.documented_output import documented, readable
from tests.integration.admin.operator_command import Operator, failure

TABLE: Final = "pillarbox-dev-Table-1MRWQ7"
CREDENTIALS: Final = "pillarbox-dev-Credentials-8KX2"
BUCKET: Final = "pillarbox-dev-spool-x4k2"
QUEUES: Final = ("JobsQueue", "UrgentJobsQueue")
TEMPLATE: Final[dict[str, Any]] = {
    "Resources": {
        **{name: {"Type": "AWS::SQS::Queue"} for name in QUEUES},
        **{
            logical_id: {
                "Type": "AWS::DynamoDB::Table",
                "DeletionPolicy": "Retain",
                "Properties": {
                    "TableName": name,
                    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                    "BillingMode": "PAY_PER_REQUEST",
                    "DeletionProtectionEnabled": True,
                },
            }
            for logical_id, name in (("Table", TABLE), ("Credentials", CREDENTIALS))
        },
        "SpoolBucket": {
            "Type": "AWS::S3::Bucket",
            "DeletionPolicy": "Retain",
            "Properties": {"BucketName": BUCKET},
        },
    },
    "Outputs": {
        "TableName": {"Value": {"Ref": "Table"}},
        "CredentialsTableName": {"Value": {"Ref": "Credentials"}},
        **{f"{name}Url": {"Value": {"Ref": name}} for name in QUEUES},
    },
}


@pytest.fixture
def stack(table: Table, monkeypatch: pytest.MonkeyPatch) -> str:
    """A stack in emulated AWS with a protected table of one item and a large email."""
    assert table.name
    monkeypatch.setattr(stacks, "_POLL_SECONDS", 0)
    boto3.client("cloudformation").create_stack(
        StackName="pillarbox-dev", TemplateBody=json.dumps(TEMPLATE)
    )
    for name in (TABLE, CREDENTIALS):
        boto3.client("dynamodb").update_table(TableName=name, DeletionProtectionEnabled=True)
    boto3.client("dynamodb").put_item(TableName=TABLE, Item={"pk": {"S": "ACCT#1"}})
    boto3.client("s3").put_object(Bucket=BUCKET, Key="mail", Body=b"large")
    monkeypatch.setattr(receipts, "_PAUSE", 0)
    SesReceiptRules("pillarbox-dev", BUCKET).put("in.shop.example")
    return "pillarbox-dev"


def teardown(*options: str, typed: str | None = None) -> Any:
    command = ("--stack-name", "pillarbox-dev", "teardown", *options)
    return Operator().plain(*command, typed=typed)


def exist() -> tuple[bool, bool, bool]:
    """Whether there are a stack, its tables and its bucket."""
    tables = boto3.client("dynamodb").list_tables()["TableNames"]
    assert (TABLE in tables) is (CREDENTIALS in tables)
    buckets = [bucket["Name"] for bucket in boto3.client("s3").list_buckets()["Buckets"]]
    return stacks.describe("pillarbox-dev") is not None, TABLE in tables, BUCKET in buckets


@pytest.mark.usefixtures("stack")
def test_the_stack_goes_and_the_table_stays() -> None:
    result = teardown(typed="pillarbox-dev\n")
    assert (result.exit_code, readable(result.output)) == (0, documented("teardown"))
    assert exist() == (False, True, False)
    assert boto3.client("ses").list_receipt_rule_sets()["RuleSets"] == []
    found = boto3.client("dynamodb").describe_table(TableName=TABLE)["Table"]
    assert found["DeletionProtectionEnabled"]


@pytest.mark.usefixtures("stack")
def test_the_data_is_deleted_on_request_then_or_later() -> None:
    assert teardown("--confirm", "pillarbox-dev").exit_code == 0
    later = teardown("--delete-data", "--confirm", "pillarbox-dev")
    assert later.exit_code == 0
    assert "deleted, protection off first" in later.stdout
    assert exist() == (False, False, False)
    again = teardown("--delete-data", "--confirm", "pillarbox-dev")
    assert (again.exit_code, "kept" in again.stdout) == (0, True)


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize("typed", ["pillarbox\n", "\n\n"])
def test_another_name_deletes_nothing(typed: str) -> None:
    assert teardown(typed=typed).exit_code == 1
    assert exist() == (True, True, True)


@pytest.mark.usefixtures("stack")
def test_programs_give_the_name() -> None:
    """With --json the name must be an option, since no one types it; the result is JSON."""
    command = ("--stack-name", "pillarbox-dev", "--json", "teardown")
    assert Operator().plain(*command).exit_code == 2
    result = Operator().plain(*command, "--confirm", "pillarbox-dev")
    assert json.loads(result.stdout) == {
        "stack": "pillarbox-dev",
        "deleted": True,
        "keptTable": TABLE,
        "keptCredentials": CREDENTIALS,
    }


@pytest.mark.usefixtures("stack")
def test_emails_that_wait_are_not_lost() -> None:
    queue = stacks.require("pillarbox-dev").outputs["UrgentJobsQueueUrl"]
    boto3.client("sqs").send_message(QueueUrl=queue, MessageBody="job")
    assert "1 accepted emails still wait" in failure(teardown("--confirm", "pillarbox-dev"))
    assert exist() == (True, True, True)
    assert teardown("--drop-pending", "--confirm", "pillarbox-dev").exit_code == 0


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize("output", ["TableName", "CredentialsTableName"])
def test_a_table_that_another_stack_uses_is_not_deleted(output: str) -> None:
    used = {"TableName": TABLE, "CredentialsTableName": CREDENTIALS}[output]
    create_stack("pillarbox-new", {}, **{output: used})
    refused = teardown("--delete-data", "--confirm", "pillarbox-dev")
    assert f"the stack pillarbox-new uses the table {TABLE} or {CREDENTIALS}" in failure(refused)
    assert exist() == (True, True, True)


@pytest.mark.usefixtures("table")
def test_a_stack_that_never_was_is_one_line() -> None:
    result = teardown("--confirm", "pillarbox-dev")
    assert failure(result).startswith("There is no stack pillarbox-dev in this account")


@pytest.mark.usefixtures("table")
def test_missing_data_is_no_error() -> None:
    kept_data.delete_table("none")
    assert [*kept_data.delete_bucket("none")] == []


def test_a_missing_right_is_an_error(stubs: Stubs) -> None:
    stubs.refuse("dynamodb", "describe_table", "AccessDeniedException")
    with pytest.raises(ClientError):
        kept_data.delete_table("pillarbox")


def nothing_kept(stubs: Stubs) -> None:
    stubs.resources({})
    stubs.answer("cloudformation", "describe_stacks", {"Stacks": []})


@pytest.mark.parametrize(
    ("status", "more", "message"),
    [
        ("CREATE_COMPLETE", {"EnableTerminationProtection": True}, "termination protection"),
        ("UPDATE_IN_PROGRESS", {}, "changes now (UPDATE_IN_PROGRESS)"),
    ],
)
def test_a_stack_that_aws_would_not_delete_is_refused(
    stubs: Stubs, status: str, more: dict[str, Any], message: str
) -> None:
    stubs.stack("pillarbox-dev", status, **more)
    nothing_kept(stubs)
    assert message in failure(teardown("--confirm", "pillarbox-dev"))


def test_a_deletion_that_fails_can_be_repeated(
    stubs: Stubs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipts.StackReceipts, "remove", lambda _: 0)
    for before, after in (
        ("CREATE_COMPLETE", "DELETE_FAILED"),
        ("DELETE_FAILED", "DELETE_COMPLETE"),
    ):
        stubs.stack("pillarbox-dev", before)
        nothing_kept(stubs)
        stubs.answer("cloudformation", "delete_stack", {})
        stubs.stack("pillarbox-dev", "DELETE_IN_PROGRESS")
        stubs.stack("pillarbox-dev", after, StackStatusReason="Edge is not disabled yet.")
        result = teardown("--confirm", "pillarbox-dev")
        assert (result.exit_code == 1) == (after == "DELETE_FAILED")
    assert "could not" not in result.stderr

"""`pillarbox restore stack`, with prepared answers of AWS."""

from typing import Any, Final

import pytest
import yaml

from admin.aws import kept_table
from local import template
from tests.integration.admin.aws_stubs import Stubs, stack_id
from tests.integration.admin.documented_output import documented, readable
from tests.integration.admin.operator_command import Operator, failure

NAME: Final = "pillarbox-Table-1MRWQ7"
CREDENTIALS: Final = "pillarbox-Credentials-8KX2"
STACK: Final = stack_id("pillarbox")
CHANGES: Final = "arn:aws:cloudformation:eu-west-1:123456789012:changeSet/restore/3"
TABLE: Final[dict[str, Any]] = {
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
    ],
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    "DeletionProtectionEnabled": True,
}


def kept(
    stubs: Stubs, table: dict[str, Any] = TABLE, *, expires: bool = True, name: str = NAME
) -> None:
    """Prepare the questions about a table."""
    stubs.answer("dynamodb", "describe_table", {"Table": table}, {"TableName": name})
    stubs.answer("cloudformation", "describe_stacks", {"Stacks": []})
    recovery = {"PointInTimeRecoveryStatus": "ENABLED" if expires else "DISABLED"}
    stubs.answer(
        "dynamodb",
        "describe_continuous_backups",
        {
            "ContinuousBackupsDescription": {
                "ContinuousBackupsStatus": "ENABLED",
                "PointInTimeRecoveryDescription": recovery,
            }
        },
    )
    expiry = {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"} if expires else {}
    stubs.answer("dynamodb", "describe_time_to_live", {"TimeToLiveDescription": expiry})


def former_address(stubs: Stubs) -> None:
    """Prepare the end of the address and the shared tenant of the table's former stack."""
    for kind in ("ADDRESS", "TENANT"):
        key = {"pk": {"S": kind}, "sk": {"S": "-"}}
        stubs.answer("dynamodb", "delete_item", {}, {"TableName": NAME, "Key": key})


def imported(stubs: Stubs, *statuses: str) -> None:
    """Prepare the change set, and the statuses of the stack."""
    stubs.answer("cloudformation", "create_change_set", {"Id": CHANGES, "StackId": STACK})
    for status in ("CREATE_IN_PROGRESS", "CREATE_COMPLETE"):
        stubs.answer("cloudformation", "describe_change_set", {"Status": status})
    stubs.answer("cloudformation", "execute_change_set", {}, {"ChangeSetName": CHANGES})
    for status in statuses:
        stubs.stack("pillarbox", status)


def test_the_stack_begins_with_the_tables(stubs: Stubs) -> None:
    stubs.no_stack("pillarbox")
    kept(stubs)
    kept(stubs, name=CREDENTIALS)
    former_address(stubs)
    imported(stubs, "REVIEW_IN_PROGRESS", "IMPORT_IN_PROGRESS", "IMPORT_COMPLETE")
    command = f"restore stack {NAME} {CREDENTIALS}"
    result = Operator().plain("--stack-name", "pillarbox", *command.split(), typed="y\n")
    assert (result.exit_code, readable(result.output)) == (0, documented(command))


@pytest.mark.parametrize("logical_id", ["Table", "Credentials"])
def test_the_next_deployment_keeps_a_table(stubs: Stubs, logical_id: str) -> None:
    """The imported properties are those of template.yaml, so that nothing replaces the table."""
    stream = "StreamSpecification" if logical_id == "Credentials" else ""
    kept(stubs, {name: value for name, value in TABLE.items() if name != stream})
    resource = kept_table.describe(NAME)
    declared = template.load()["Resources"][logical_id]["Properties"]
    declared.pop("WarmThroughput", None)  # an update adds it, if the operator wants it
    protection = {"DeletionProtectionEnabled": True}
    assert resource["Properties"] == declared | protection
    assert resource["DeletionPolicy"] == "Retain"


def test_a_bare_copy_is_described_as_it_is(stubs: Stubs) -> None:
    """The next deployment adds what it lacks and changes its key, since the import says so."""
    bare = {name: TABLE[name] for name in ("AttributeDefinitions", "KeySchema")}
    bare |= {"SSEDescription": {"Status": "ENABLED"}}
    kept(stubs, bare | {"BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"}}, expires=False)
    properties = kept_table.describe(NAME)["Properties"]
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": False}
    assert properties["SSESpecification"] == {"SSEEnabled": True}
    assert not {"StreamSpecification", "TimeToLiveSpecification"} & set(properties)


def test_the_change_set_imports_the_tables(stubs: Stubs) -> None:
    client = stubs.client("cloudformation")
    asked: dict[str, Any] = {}
    create = client.create_change_set
    client.create_change_set = lambda **call: asked.update(call) or create(**call)
    imported(stubs, "IMPORT_COMPLETE")
    resource = {"Type": "AWS::DynamoDB::Table"}
    kept_table.import_into("pillarbox", {NAME: resource, CREDENTIALS: resource})
    assert asked["ChangeSetType"] == "IMPORT"
    assert asked["ResourcesToImport"] == [
        {
            "ResourceType": "AWS::DynamoDB::Table",
            "LogicalResourceId": logical_id,
            "ResourceIdentifier": {"TableName": name},
        }
        for logical_id, name in (("Table", NAME), ("Credentials", CREDENTIALS))
    ]
    assert NAME not in asked["TemplateBody"]
    assert yaml.safe_load(asked["TemplateBody"])["Resources"].keys() == {"Table", "Credentials"}


def restore(*options: str, tables: tuple[str, ...] = (NAME, CREDENTIALS)) -> Any:
    return Operator().plain("--stack-name", "pillarbox", "restore", "stack", *tables, *options)


def test_a_run_after_an_interruption_goes_on(stubs: Stubs) -> None:
    stubs.stack("pillarbox", "REVIEW_IN_PROGRESS")
    kept(stubs)
    kept(stubs, name=CREDENTIALS)
    former_address(stubs)
    imported(stubs, "IMPORT_COMPLETE")
    assert restore("--yes").exit_code == 0
    stubs.stack("pillarbox", "IMPORT_COMPLETE")
    stubs.resources({"Table": NAME})
    assert NAME in restore("--yes").stdout


def test_a_stack_that_exists_is_refused(stubs: Stubs) -> None:
    stubs.stack("pillarbox", "UPDATE_COMPLETE")
    result = restore("--yes")
    assert failure(result).startswith("--stack-name: pillarbox exists already (UPDATE_COMPLETE)")


def test_a_table_that_does_not_fit_is_refused(stubs: Stubs) -> None:
    stubs.no_stack("pillarbox")
    stubs.refuse("dynamodb", "describe_table", "ResourceNotFoundException")
    assert restore("--yes").stderr.startswith(f"TABLES: there is no table {NAME}")
    stubs.no_stack("pillarbox")
    keys = TABLE["KeySchema"][:1]
    stubs.answer("dynamodb", "describe_table", {"Table": TABLE | {"KeySchema": keys}})
    assert "its keys are others" in restore("--yes").stderr
    stubs.no_stack("pillarbox")
    stubs.answer("dynamodb", "describe_table", {"Table": TABLE})
    outputs = [{"OutputKey": "TableName", "OutputValue": NAME}]
    stubs.stack("pillarbox", Outputs=outputs)
    assert f"the stack pillarbox uses {NAME}" in restore("--yes").stderr


@pytest.mark.parametrize("tables", [(NAME,), (NAME, CREDENTIALS, "another")])
def test_both_tables_are_named(stubs: Stubs, tables: tuple[str, ...]) -> None:
    """Without `Credentials` a stack would refuse every key."""
    stubs.no_stack("pillarbox")
    assert restore("--yes", tables=tables).exit_code == 2


def test_an_import_that_fails_is_an_error(stubs: Stubs) -> None:
    stubs.no_stack("pillarbox")
    kept(stubs)
    kept(stubs, name=CREDENTIALS)
    former_address(stubs)
    stubs.answer("cloudformation", "create_change_set", {"Id": CHANGES, "StackId": STACK})
    failed = {"Status": "FAILED", "StatusReason": "Resources [Table] is already in a stack"}
    stubs.answer("cloudformation", "describe_change_set", failed)
    assert failure(restore("--yes")).endswith("Resources [Table] is already in a stack\n")
    stubs.no_stack("pillarbox")
    kept(stubs)
    kept(stubs, name=CREDENTIALS)
    former_address(stubs)
    imported(stubs, "IMPORT_ROLLBACK_COMPLETE")
    assert "IMPORT_ROLLBACK_COMPLETE" in restore("--yes").stderr

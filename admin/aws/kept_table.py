"""Put the tables that a deleted stack kept into a new stack, by CloudFormation's import."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from time import sleep
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from admin.aws import stacks
from pillarbox.adapters.dynamodb import keys
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

_POLL_SECONDS: Final = 5.0
#: The logical ids and the outputs of the template.
_LOGICAL_IDS: Final = ("Table", "Credentials")
_OUTPUTS: Final = ("TableName", "CredentialsTableName")
_TYPE: Final = "AWS::DynamoDB::Table"
_KEYS: Final = [
    {"AttributeName": "pk", "KeyType": "HASH"},
    {"AttributeName": "sk", "KeyType": "RANGE"},
]


def describe(name: str) -> dict[str, Any]:
    """Return the table as a resource of a template.

    It has no name there: template.yaml gives it none, and a changed name would replace the table.
    """
    dynamodb = boto3.client("dynamodb")
    try:
        table = dynamodb.describe_table(TableName=name)["Table"]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFoundException":
            raise _refusal(f"there is no table {name} in this account and region") from None
        raise
    if table["KeySchema"] != _KEYS:
        raise _refusal(f"{name} is not a table of this service: its keys are others")
    owners = [
        stack.name
        for stack in stacks.every()
        if name in {stack.outputs.get(output) for output in _OUTPUTS}
    ]
    if owners:
        raise _refusal(f"the stack {', '.join(owners)} uses {name}")
    backups = dynamodb.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    recovery = backups.get("PointInTimeRecoveryDescription", {})
    expiry = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    properties: dict[str, Any] = {
        "BillingMode": table.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED"),
        "AttributeDefinitions": table["AttributeDefinitions"],
        "KeySchema": table["KeySchema"],
        "DeletionProtectionEnabled": table.get("DeletionProtectionEnabled", False),
        # DynamoDB describes only a KMS key; without one the table has a key that AWS owns.
        "SSESpecification": {
            "SSEEnabled": table.get("SSEDescription", {}).get("Status") in {"ENABLED", "ENABLING"}
        },
        "PointInTimeRecoverySpecification": {
            "PointInTimeRecoveryEnabled": recovery.get("PointInTimeRecoveryStatus") == "ENABLED"
        },
    }
    if stream := table.get("StreamSpecification", {}).get("StreamViewType"):
        properties["StreamSpecification"] = {"StreamViewType": stream}
    if expiry.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"}:
        properties["TimeToLiveSpecification"] = {
            "AttributeName": expiry["AttributeName"],
            "Enabled": True,
        }
    return {
        "Type": _TYPE,
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": properties,
    }


def forget_address(name: str) -> None:
    """Delete the address of the service that a table had under its former stack, and the tenant.

    Links in emails would lead there. The next deployment stores those of the new stack.
    """
    for key in (keys.service_address(), keys.shared_tenant()):
        boto3.client("dynamodb").delete_item(TableName=name, Key=key)


def imported_tables(stack_id: str) -> list[str]:
    named = stacks.resources(stack_id)
    return [named[logical_id] for logical_id in _LOGICAL_IDS if logical_id in named]


def import_into(
    stack_name: str, tables: Mapping[str, Any], pause: Callable[[float], None] = sleep
) -> None:
    """Create a stack that has only the tables."""
    cloudformation: Any = boto3.client("cloudformation")
    names = " and ".join(tables)
    template = {"Resources": dict(zip(_LOGICAL_IDS, tables.values(), strict=False))}
    change_set = cloudformation.create_change_set(
        StackName=stack_name,
        ChangeSetName=f"restore-{datetime.now(UTC):%Y%m%dT%H%M%S}",
        ChangeSetType="IMPORT",
        ResourcesToImport=[
            {
                "ResourceType": _TYPE,
                "LogicalResourceId": logical_id,
                "ResourceIdentifier": {"TableName": name},
            }
            for logical_id, name in zip(_LOGICAL_IDS, tables, strict=False)
        ],
        TemplateBody=json.dumps(template),
    )
    while True:
        found = cloudformation.describe_change_set(ChangeSetName=change_set["Id"])
        if found["Status"] == "CREATE_COMPLETE":
            break
        if found["Status"] == "FAILED":
            message = f"CloudFormation cannot import {names}: {found.get('StatusReason', '')}"
            raise ServiceError("service_unavailable", message)
        pause(_POLL_SECONDS)
    cloudformation.execute_change_set(ChangeSetName=change_set["Id"])
    ended = stacks.wait(change_set["StackId"], lambda _: None, pause)
    if ended.status != "IMPORT_COMPLETE":
        message = f"CloudFormation could not import {names}: {ended.status} {ended.reason}"
        raise ServiceError("service_unavailable", message)


def _refusal(message: str) -> ValidationFailed:
    return ValidationFailed(FieldError("TABLES", message, "not_allowed"))

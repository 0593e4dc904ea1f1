"""Put a table that a deleted stack kept into a new stack, by CloudFormation's import."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from time import sleep
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from admin.aws import stacks
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

_POLL_SECONDS: Final = 5.0
#: The logical id and the output of the template.
_LOGICAL_ID: Final = "Table"
_OUTPUT: Final = "TableName"
_TYPE: Final = "AWS::DynamoDB::Table"
_KEYS: Final = [
    {"AttributeName": "pk", "KeyType": "HASH"},
    {"AttributeName": "sk", "KeyType": "RANGE"},
]


def describe(name: str) -> dict[str, Any]:
    """Return the table as a resource of a template.

    It has no name there: template.yaml gives it none, and a changed name would replace the table.

    Raises:
        ValidationFailed: on `TABLE`: it does not exist, is not ours or belongs to a stack.
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
    owners = [stack.name for stack in stacks.every() if stack.outputs.get(_OUTPUT) == name]
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
    if table.get("SSEDescription", {}).get("Status") in {"ENABLED", "ENABLING"}:
        properties["SSESpecification"] = {"SSEEnabled": True}
    return {
        "Type": _TYPE,
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": properties,
    }


def imported_table(stack_id: str) -> str:
    """Return the name of the table that a stack has."""
    return stacks.resources(stack_id)[_LOGICAL_ID]


def import_into(
    stack_name: str, table: str, resource: dict[str, Any], pause: Callable[[float], None] = sleep
) -> None:
    """Create a stack that has only the table.

    Raises:
        ServiceError: `service_unavailable`: CloudFormation refuses the import.
    """
    cloudformation: Any = boto3.client("cloudformation")
    template = {"Resources": {_LOGICAL_ID: resource}}
    change_set = cloudformation.create_change_set(
        StackName=stack_name,
        ChangeSetName=f"restore-{datetime.now(UTC):%Y%m%dT%H%M%S}",
        ChangeSetType="IMPORT",
        ResourcesToImport=[
            {
                "ResourceType": _TYPE,
                "LogicalResourceId": _LOGICAL_ID,
                "ResourceIdentifier": {"TableName": table},
            }
        ],
        TemplateBody=json.dumps(template),
    )
    while True:
        found = cloudformation.describe_change_set(ChangeSetName=change_set["Id"])
        if found["Status"] == "CREATE_COMPLETE":
            break
        if found["Status"] == "FAILED":
            message = f"CloudFormation cannot import {table}: {found.get('StatusReason', '')}"
            raise ServiceError("service_unavailable", message)
        pause(_POLL_SECONDS)
    cloudformation.execute_change_set(ChangeSetName=change_set["Id"])
    ended = stacks.wait(change_set["StackId"], lambda _: None, pause)
    if ended.status != "IMPORT_COMPLETE":
        message = f"CloudFormation could not import {table}: {ended.status} {ended.reason}"
        raise ServiceError("service_unavailable", message)


def _refusal(message: str) -> ValidationFailed:
    return ValidationFailed(FieldError("TABLE", message, "not_allowed"))

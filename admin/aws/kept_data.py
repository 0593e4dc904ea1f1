"""What CloudFormation keeps when a stack is deleted: the tables and the buckets."""

from collections.abc import Iterator
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from admin.aws import stacks
from admin.aws.stacks import StackDescription
from admin.use_cases.teardown import KeptData, KeptTable
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.s3 import delete_objects

#: The logical ids in the template.
_TABLE: Final = "Table"
_CREDENTIALS: Final = "Credentials"
_BUCKETS: Final = ("SpoolBucket", "ErrorPages", "DashboardFiles")
_TABLE_OUTPUTS: Final = ("TableName", "CredentialsTableName")
#: The partitions of what the service notes for itself.
_OWN_NOTES: Final = frozenset(
    key["pk"]["S"]
    for key in (
        keys.heartbeat(),
        keys.probe(),
        *map(keys.timer_note, keys.TIMERS),
        keys.sending_rate(),
        keys.service_address(),
        keys.shared_tenant(),
    )
)
#: S3's and DynamoDB's words for what does not exist.
_MISSING: Final = frozenset({"NoSuchBucket", "ResourceNotFoundException"})


def last_deleted(stack_name: str) -> StackDescription | None:
    """Return the last deleted stack of this name; AWS remembers it for 90 days."""
    pages: Any = boto3.client("cloudformation").get_paginator("list_stacks")
    deleted = [
        summary
        for page in pages.paginate(StackStatusFilter=["DELETE_COMPLETE"])
        for summary in page["StackSummaries"]
        if summary["StackName"] == stack_name
    ]
    if not deleted:
        return None
    newest = max(deleted, key=lambda summary: summary["CreationTime"])
    return stacks.describe(newest["StackId"])


def read(stack: StackDescription) -> KeptData:
    """Read which of the stack's data exists, and who else uses its tables."""
    named = stacks.resources(stack.stack_id)
    table, credentials = _table(named.get(_TABLE)), _table(named.get(_CREDENTIALS))
    names = {found.name for found in (table, credentials) if found}
    buckets = [named[name] for name in _BUCKETS if name in named and _is_bucket(named[name])]
    users = [
        other.name
        for other in stacks.every()
        if other.stack_id != stack.stack_id
        and names & {other.outputs.get(output) for output in _TABLE_OUTPUTS}
    ]
    return KeptData(table=table, credentials=credentials, buckets=buckets, users=users)


def _table(name: str | None) -> KeptTable | None:
    """Describe a table; return None if it does not exist."""
    if name is None:
        return None
    try:
        found = boto3.client("dynamodb").describe_table(TableName=name)["Table"]
    except ClientError as error:
        _ignore_missing(error)
        return None
    protected = found.get("DeletionProtectionEnabled", False)
    return KeptTable(name=name, items=found["ItemCount"], protected=protected)


def has_rows(name: str) -> bool:
    """Return whether a table has rows of somebody; one that does not exist has none.

    The timers of a stack write their own notes as soon as they exist, also if the creation of the
    rest fails. DynamoDB's count of items is up to six hours old, so this reads the rows.
    """
    pages = (
        boto3.client("dynamodb")
        .get_paginator("scan")
        .paginate(TableName=name, ConsistentRead=True, ProjectionExpression="pk")
    )
    try:
        return any(item["pk"]["S"] not in _OWN_NOTES for page in pages for item in page["Items"])
    except ClientError as error:
        _ignore_missing(error)
        return False


def unprotect(name: str) -> None:
    dynamodb = boto3.client("dynamodb")
    if dynamodb.describe_table(TableName=name)["Table"].get("DeletionProtectionEnabled"):
        dynamodb.update_table(TableName=name, DeletionProtectionEnabled=False)
        # DynamoDB deletes no table that is being updated.
        dynamodb.get_waiter("table_exists").wait(TableName=name)


def delete_table(name: str) -> None:
    dynamodb = boto3.client("dynamodb")
    try:
        unprotect(name)
        dynamodb.delete_table(TableName=name)
        dynamodb.get_waiter("table_not_exists").wait(TableName=name)
    except ClientError as error:
        _ignore_missing(error)


def delete_bucket(name: str) -> Iterator[int]:
    """Empty a bucket and delete it; yield the number of objects of each step."""
    s3 = boto3.client("s3")
    try:
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=name):
            if found := [item["Key"] for item in page.get("Contents", [])]:
                delete_objects(s3, name, found)
                yield len(found)
        s3.delete_bucket(Bucket=name)
    except ClientError as error:
        _ignore_missing(error)


def _is_bucket(name: str) -> bool:
    try:
        boto3.client("s3").list_objects_v2(Bucket=name, MaxKeys=1)
    except ClientError as error:
        _ignore_missing(error)
        return False
    return True


def _ignore_missing(error: ClientError) -> None:
    if error.response["Error"]["Code"] not in _MISSING:
        raise error

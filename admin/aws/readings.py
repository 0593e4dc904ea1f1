"""What the doctor reads of a stack and its AWS account."""

import smtplib
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast

import boto3

from admin.aws import stacks
from admin.aws.cloudwatch import CloudWatchMonitoring
from admin.use_cases.capacity import NEW_TABLE_WRITES, Capacity
from admin.use_cases.ports import TableProtectionState
from admin.use_cases.scale import Scale
from pillarbox.adapters.aws import operator_errors
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.ses.account import SesAccount
from pillarbox.domain.errors import ServiceError
from pillarbox.settings import Settings
from pillarbox.wiring.stores import utc_now

#: A stack with these outputs is a Pillarbox; its nested stacks lack them.
_OUTPUTS: Final = frozenset({Settings.table.output, Settings.configuration_set.output})
#: Seconds.
_TIMEOUT: Final = 10.0


def read_capacity(stack_name: str) -> Capacity:
    stack = stacks.require(stack_name)
    with operator_errors("table"):
        table = boto3.client("dynamodb").describe_table(TableName=stack.outputs["TableName"])
    warm = table["Table"].get("WarmThroughput", {})
    share = int(stack.parameters["SesRateShare"])
    return Capacity(
        region=boto3.Session().region_name,
        scale=Scale(int(stack.parameters["EmailsPerSecond"])),
        max_rate=SesAccount(utc_now).sending_status().max_rate * share / 100,
        functions=CloudWatchMonitoring(stack_name).function_concurrency(),
        table_writes=warm.get("WriteUnitsPerSecond", NEW_TABLE_WRITES),
    )


def read_shares() -> Mapping[str, int]:
    """Return the percentage of SES's rate of each stack that has finished its first deployment."""
    share = Settings.ses_rate_share
    with operator_errors("CloudFormation"):
        return {
            stack.name: int(stack.parameters[share.parameter])
            for stack in stacks.every()
            if stack.outputs.keys() >= _OUTPUTS
        }


def read_protection(table: Table) -> TableProtectionState:
    client, name = table.client, table.name
    with operator_errors("table"):
        described = client.describe_table(TableName=name)["Table"]
        backups = client.describe_continuous_backups(TableName=name)
        ttl = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    recovery = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    expires = ttl.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"}
    return TableProtectionState(
        point_in_time_recovery=recovery.get("PointInTimeRecoveryStatus") == "ENABLED",
        deletion_protection=described.get("DeletionProtectionEnabled", False),
        expiry_attribute=ttl.get("AttributeName") if expires else None,
    )


def read_certificate_expiry(host: str, port: int) -> datetime:
    """Connect to the relay as an SMTP client does; the system must trust its certificate."""
    try:
        with smtplib.SMTP(host, port, timeout=_TIMEOUT) as client:
            client.starttls(context=ssl.create_default_context())
            certificate: Any = cast("ssl.SSLSocket", client.sock).getpeercert()
    except (OSError, smtplib.SMTPException) as error:
        message = f"A client cannot use the relay at {host}:{port}: {error}"
        raise ServiceError("service_unavailable", message) from error
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)

"""How the DynamoDB table is protected against loss."""

from typing import Final

from admin.use_cases.ports import TableProtectionState
from pillarbox.adapters.aws import operator_errors
from pillarbox.adapters.dynamodb.table import Table

_NAME: Final = "table"


class DynamoTableProtection:
    """Implements `operations.ports.TableProtection`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def read(self) -> TableProtectionState:
        """Read point-in-time recovery, deletion protection and expiry."""
        client, name = self._table.client, self._table.name
        with operator_errors(_NAME):
            table = client.describe_table(TableName=name)["Table"]
            backups = client.describe_continuous_backups(TableName=name)
            ttl = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
        recovery = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
        expires = ttl.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"}
        return TableProtectionState(
            point_in_time_recovery=recovery.get("PointInTimeRecoveryStatus") == "ENABLED",
            deletion_protection=table.get("DeletionProtectionEnabled", False),
            expiry_attribute=ttl.get("AttributeName") if expires else None,
        )

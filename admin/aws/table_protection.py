"""The table as a resource: how it is protected."""

from typing import Final

from admin.operations.ports import TableProtectionState
from pillarbox.adapters.aws import operator_errors
from pillarbox.adapters.dynamodb.table import Table

_NAME: Final = "table"


class DynamoTableProtection:
    """Fulfils `administration.ports.TableProtection`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def read(self) -> TableProtectionState:
        """Read recovery, deletion protection and expiry."""
        client, name = self._table.client, self._table.name
        with operator_errors(_NAME):
            table = client.describe_table(TableName=name)["Table"]
            backups = client.describe_continuous_backups(TableName=name)
            expiry = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
        recovery = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
        expires = expiry.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"}
        return TableProtectionState(
            recovery=recovery.get("PointInTimeRecoveryStatus") == "ENABLED",
            deletion_protection=table.get("DeletionProtectionEnabled", False),
            expiry=expiry.get("AttributeName") if expires else None,
        )

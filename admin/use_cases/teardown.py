"""Decide whether a stack may be deleted, and what stays."""

from collections.abc import Sequence
from dataclasses import dataclass

from pillarbox.domain.errors import FieldError, ValidationFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTable:
    """A table that outlives its stack."""

    name: str
    items: int
    #: Whether DynamoDB refuses to delete the table.
    protected: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptData:
    """The data that a deleted stack leaves behind; None if it does not exist."""

    table: KeptTable | None
    credentials: KeptTable | None
    #: Of large emails and of the edge's error page.
    buckets: Sequence[str]
    #: Other stacks that use a table.
    users: Sequence[str]

    @property
    def tables(self) -> list[KeptTable]:
        return [table for table in (self.table, self.credentials) if table]


def check(*, waiting: int, drop_pending: bool, data: KeptData, delete_data: bool) -> None:
    """Refuse to delete what somebody still needs."""
    if waiting and not drop_pending:
        message = (
            f"{waiting} accepted emails still wait. Wait until they are sent, or drop them with"
            " --drop-pending"
        )
        raise ValidationFailed(FieldError("stack", message, "not_allowed"))
    if delete_data and data.users:
        names = " or ".join(table.name for table in data.tables)
        message = f"the stack {', '.join(data.users)} uses the table {names}"
        raise ValidationFailed(FieldError("--delete-data", message, "not_allowed"))

"""Decide whether a stack may be deleted, and what stays."""

from collections.abc import Sequence
from dataclasses import dataclass

from pillarbox.domain.errors import FieldError, ValidationFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptData:
    """The data that a deleted stack leaves behind; None if it does not exist."""

    table: str | None
    items: int
    #: Whether DynamoDB refuses to delete the table.
    protected: bool
    #: Of large emails and of the edge's error page.
    buckets: Sequence[str]
    #: Other stacks that use the table.
    users: Sequence[str]


def check(*, waiting: int, drop_pending: bool, data: KeptData, delete_data: bool) -> None:
    """Refuse to delete what somebody still needs.

    Raises:
        ValidationFailed: accepted emails wait, or another stack uses the table.
    """
    if waiting and not drop_pending:
        message = (
            f"{waiting} accepted emails still wait. Wait until they are sent, or drop them with"
            " --drop-pending"
        )
        raise ValidationFailed(FieldError("stack", message, "not_allowed"))
    if delete_data and data.users:
        message = f"the stack {', '.join(data.users)} uses the table {data.table}"
        raise ValidationFailed(FieldError("--delete-data", message, "not_allowed"))

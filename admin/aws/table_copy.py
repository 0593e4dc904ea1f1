"""A table as it was: a copy that DynamoDB makes from its point-in-time recovery."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import batched
from time import sleep
from typing import Any, Final

from botocore.exceptions import ClientError

from admin.times import HELP
from admin.use_cases.restore import Choice, FormerRow, LeftOut
from pillarbox.adapters.aws import code_of, operator_errors
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.message_log import unmarked
from pillarbox.adapters.dynamodb.records import is_tombstone
from pillarbox.adapters.dynamodb.table import Item, Table, to_attribute
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import created_at
from pillarbox.domain.messages.message import Status

_NAME: Final = "table"
_POLL_SECONDS: Final = 15.0
#: DynamoDB may not know a new table at once. A minute later it does.
_LOOKS: Final = 4
#: None: DynamoDB does not know the table (yet).
_BECOMES_ACTIVE: Final = (None, "CREATING", "UPDATING")
#: BatchGetItem accepts at most 100 keys.
_BATCH: Final = 100


class TableCopy:
    """A copy of a live table at a moment. The name has the moment, so a second run finds it."""

    def __init__(self, live: Table, moment: datetime) -> None:
        self._live = live
        self._moment = moment
        self.name = f"{live.name}-at-{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"

    def check(self) -> None:
        """Make sure that there is a copy, or that DynamoDB can make it."""
        if self._status() is not None:
            return
        first, last = self._window()
        if not first <= self._moment <= last:
            message = f"must be from {first:%Y-%m-%dT%H:%M:%SZ} to {last:%Y-%m-%dT%H:%M:%SZ}"
            raise ValidationFailed(FieldError("--at", f"{message}. Write {HELP}", "range"))

    def request(self) -> bool:
        """Let DynamoDB make the copy; return False if there is one already."""
        if self._status() is not None:
            return False
        with operator_errors(_NAME):
            self._live.client.restore_table_to_point_in_time(
                SourceTableName=self._live.name,
                TargetTableName=self.name,
                RestoreDateTime=self._moment,
            )
        return True

    def wait(self, pause: Callable[[float], None] = sleep) -> None:
        """Wait until DynamoDB has made the copy, which takes twenty minutes or more."""
        absences = 0
        while (status := self._status()) != "ACTIVE":
            absences = absences + 1 if status is None else 0
            if absences == _LOOKS or status not in _BECOMES_ACTIVE:
                state = "deleted" if status is None else status
                message = (
                    f"The copy {self.name} cannot be used: it is {state}. Nothing was restored."
                    " Delete it if it is still there, and run the command again."
                )
                raise ServiceError("service_unavailable", message)
            pause(_POLL_SECONDS)

    def members(self, account_ids: Iterable[str]) -> Iterator[str]:
        """Yield the ids of the users that were members of accounts."""
        copy = Table(self.name)
        for account_id in account_ids:
            for member in copy.query(keys.member(account_id)):
                yield member["sk"]

    def get(self, key: Item) -> Item | None:
        """Read one row as it was, without the mark of an earlier restore."""
        with operator_errors(_NAME):
            response: Any = self._live.client.get_item(TableName=self.name, Key=key)
        return unmarked(response["Item"]) if "Item" in response else None

    def wanted(self, choice: Choice, left_out: Counter[LeftOut]) -> Iterator[Sequence[Item]]:
        """Yield the rows that go back if the tables lack them, up to a hundred at a time.

        Count in `left_out` the rows of the accounts that stay away.
        """
        pages = self._live.client.get_paginator("scan").paginate(TableName=self.name)
        with operator_errors(_NAME):
            for page in pages:
                items: list[Any] = page["Items"]
                rows = [(read_row(item), item) for item in items]
                reasons = (choice.left_out(row) for row, _ in rows if choice.covers(row))
                left_out.update(filter(None, reasons))
                wanted = [item for row, item in rows if choice.wants(row)]
                yield from batched(wanted, _BATCH, strict=False)

    def delete(self) -> None:
        with operator_errors(_NAME):
            self._live.client.delete_table(TableName=self.name)

    def _window(self) -> tuple[datetime, datetime]:
        """Return from when to when the table can be recovered."""
        with operator_errors(_NAME):
            backups = self._live.client.describe_continuous_backups(TableName=self._live.name)
        window: Any = backups["ContinuousBackupsDescription"].get(
            "PointInTimeRecoveryDescription", {}
        )
        first, last = (window.get(f"{which}RestorableDateTime") for which in ("Earliest", "Latest"))
        if first is None or last is None:
            message = f"The table {self._live.name} has no point-in-time recovery."
            raise ServiceError("service_unavailable", message)
        return first, last

    def _status(self) -> str | None:
        try:
            found = self._live.client.describe_table(TableName=self.name)["Table"]
        except ClientError as error:
            if code_of(error) == "ResourceNotFoundException":
                return None
            raise
        return found["TableStatus"]


def read_row(item: Item) -> FormerRow:
    """Return what decides whether a row goes back."""
    kind, account_id = keys.kind_and_account(item)
    created = None
    if keys.is_message(item) and (message_id := keys.message_ids(item)[1]):
        created = created_at(message_id)
    expiry = item.get("expires_at", {}).get("N")  # a key's end is a text, and no time to live
    return FormerRow(
        kind=kind,
        account_id=account_id,
        user_id=item["id"]["S"] if kind == "USER" else None,
        expires_at=datetime.fromtimestamp(int(expiry), UTC) if expiry else None,
        created_at=created,
        pending=item.get("status") == to_attribute(Status.PENDING.value),
        withdrawn=is_tombstone(item),
    )

"""A table as it was: a copy that DynamoDB makes from its point-in-time recovery."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import batched
from time import sleep
from typing import Any, Final

from botocore.exceptions import ClientError

from admin.operations.restore import MESSAGES, Choice, FormerRow
from admin.times import HELP
from pillarbox.adapters.aws import code_of, in_parallel, operator_errors
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import created_at

_NAME: Final = "table"
_POLL_SECONDS: Final = 15.0
#: DynamoDB may not know a new table at once. A minute later it does.
_LOOKS: Final = 4
#: None: DynamoDB does not know the table (yet).
_BECOMES_ACTIVE: Final = (None, "CREATING", "UPDATING")
#: BatchGetItem accepts at most 100 keys.
_BATCH: Final = 100
#: The kinds of records that go back. A former quota, claim or statistic would be wrong today.
_KINDS: Final = {
    "ACCT": "accounts",
    "ACCTS": "accounts",
    "DOM": "domains",
    "KEY": "keys",
    "KEYS": "keys",
    "LOG": "logEntries",
    "MSG": MESSAGES,
    "SUP": "suppressions",
    "TPL": "templates",
    "TPLD": "templateDrafts",
    "TPLV": "templateVersions",
}


class TableCopy:
    """A copy of a live table at a moment. The name has the moment, so a second run finds it."""

    def __init__(self, live: Table, moment: datetime, identities: Table | None = None) -> None:
        """Store the tables.

        Args:
            live: the table to copy.
            moment: the moment.
            identities: the table into which its keys go back; None if that is the same one.
        """
        self._live = live
        self._moment = moment
        self._identities = identities or live
        self.name = f"{live.name}-at-{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"

    def is_possible(self) -> bool:
        """Return whether there is a copy, or the table existed at the moment.

        Raises:
            ServiceError: `service_unavailable`: the table has no point-in-time recovery.
        """
        return self._status() is not None or self._window()[0] <= self._moment

    def request(self) -> None:
        """Let DynamoDB make the copy, unless there is one already.

        Raises:
            ValidationFailed: on `--at`: the recovery does not reach the moment.
        """
        if self._status() is not None:
            return
        with operator_errors(_NAME):
            first, last = self._window()
            if not first <= self._moment <= last:
                message = f"must be from {first:%Y-%m-%dT%H:%M:%SZ} to {last:%Y-%m-%dT%H:%M:%SZ}"
                raise ValidationFailed(FieldError("--at", f"{message}. Write {HELP}", "range"))
            self._live.client.restore_table_to_point_in_time(
                SourceTableName=self._live.name,
                TargetTableName=self.name,
                RestoreDateTime=self._moment,
            )

    def wait(self, pause: Callable[[float], None] = sleep) -> None:
        """Wait until DynamoDB has made the copy, which takes twenty minutes or more.

        Raises:
            ServiceError: `service_unavailable`: there is no copy any more, or it cannot be used.
        """
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

    def count_missing(self, choice: Choice) -> Counter[tuple[str, str]]:
        """Count the rows that the live table lacks, by account and kind."""
        counts: Counter[tuple[str, str]] = Counter()
        for items in self._missing(choice):
            counts.update((row.account_id, str(row.kind)) for row in map(_row, items))
        return counts

    def put_missing(self, choice: Choice) -> Iterator[int]:
        """Put the rows that the live table lacks, and yield the number of each step.

        A row that the table has by now stays as it is.
        """
        for items in self._missing(choice):
            yield sum(in_parallel(self._put, items))

    def delete(self) -> None:
        """Delete the copy."""
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

    def _missing(self, choice: Choice) -> Iterator[Sequence[Item]]:
        pages = self._live.client.get_paginator("scan").paginate(TableName=self.name)
        with operator_errors(_NAME):
            for page in pages:
                items: list[Any] = page["Items"]
                wanted = [item for item in items if choice.wants(_row(item))]
                for batch in batched(wanted, _BATCH, strict=False):
                    found = self._live.get_all([_key(item) for item in batch])
                    moved = [_key(item) for item in batch if keys.is_identity(item)]
                    found += self._identities.get_all(moved)
                    have = {(item["pk"], item["sk"]) for item in found}
                    lost = [item for item in batch if _names(item) not in have]
                    if lost:
                        yield lost

    def _put(self, item: Item) -> int:
        live = self._identities if keys.is_identity(item) else self._live
        try:
            live.client.put_item(
                TableName=live.name,
                Item=item,
                ConditionExpression="attribute_not_exists(pk)",
            )
        except ClientError as error:
            if code_of(error) == "ConditionalCheckFailedException":
                return 0
            raise
        return 1


def _row(item: Item) -> FormerRow:
    kind, account_id = keys.kind_and_account(item)
    created = None
    if keys.is_message(item) and (message_id := keys.message_ids(item)[1]):
        created = created_at(message_id)
    expiry = item.get("expires_at")
    return FormerRow(
        kind=_KINDS.get(kind),
        account_id=account_id,
        expires_at=datetime.fromtimestamp(int(expiry["N"]), UTC) if expiry else None,
        created_at=created,
    )


def _key(item: Item) -> Item:
    return {"pk": item["pk"], "sk": item["sk"]}


def _names(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]

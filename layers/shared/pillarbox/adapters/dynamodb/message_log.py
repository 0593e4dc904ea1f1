"""The records of messages: read in order of creation, and from the table's stream."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import from_item
from pillarbox.adapters.dynamodb.records import message_of
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.history.ports import UnreadableChange
from pillarbox.application.ports import ScanPage
from pillarbox.domain.message import Message, Status
from pillarbox.domain.statistics import creation_time

#: Readers mostly stop early, and a hundred records cost about 20 read units.
_PAGE: Final = 100


class DynamoMessageLog:
    """Implements `ports.MessageLog`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def newest_first(self, account_id: str, since: int, until: int) -> Iterable[Message]:
        """Read the records of a time range; message ids sort by their creation."""
        if since >= until:
            return ()
        first = keys.messages_from(account_id, since)
        last = keys.messages_before(account_id, until)
        return map(message_of, self._table.query(first, last, newest_first=True, page=_PAGE))

    def get_all(self, account_id: str, message_ids: Iterable[UUID]) -> Iterable[Message]:
        """Read records by their ids, up to a hundred in a call."""
        message_keys = [keys.message(account_id, message_id) for message_id in message_ids]
        return map(message_of, self._table.get_all(message_keys))

    def pending(
        self, account_id: str, since: int, until: int, cursor: str | None
    ) -> ScanPage[Message]:
        """Read up to 1 MB of records; only those of pending messages leave the table."""
        items, following = self._table.query_page(
            keys.messages_from(account_id, since),
            keys.messages_before(account_id, until),
            equal=("status", Status.PENDING.value),
            cursor=cursor,
        )
        return ScanPage([*map(message_of, items)], following)


def read_change(record: Mapping[str, Any]) -> Message | None:
    """Return the message in a record of the table's stream, or None for another kind of item.

    Raises:
        UnreadableChange: The image is not one that this version of the service writes.
    """
    image = record["dynamodb"].get("NewImage")
    if image is None or not keys.is_message(image):
        return None
    try:
        return message_of(from_item(image))
    except (KeyError, TypeError, ValueError) as error:
        account_id, message_id = keys.message_ids(image)
        created = creation_time(message_id) if message_id else None
        raise UnreadableChange(account_id, created) from error


def change_time(record: Mapping[str, Any]) -> datetime | None:
    """Return when the change in a record of the stream was written, if the record has it."""
    seconds = record["dynamodb"].get("ApproximateCreationDateTime")
    return None if seconds is None else datetime.fromtimestamp(float(seconds), UTC)


def count_changes(records: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Count the accepted messages in records of the stream, and the changes to each status.

    The counts are for metrics: a batch that is retried is counted again.
    """
    counts: Counter[str] = Counter()
    for record in records:
        new = record["dynamodb"].get("NewImage", {})
        if not keys.is_message(new):
            continue
        old = record["dynamodb"].get("OldImage", {})
        status = new.get("status", {}).get("S", "")
        if not old:
            counts["accepted"] += 1
        elif status != old.get("status", {}).get("S"):
            counts[status] += 1
    return counts

"""Which records of the tables a later run of the local stack can use."""

from collections.abc import Iterable
from typing import Final

from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.adapters.dynamodb.keys import is_credential, is_message, kind_and_account

#: The address, the heartbeat and the sending rate describe a run. The statistics and the search
#: index are made anew from the messages, which the table's stream reports again when they are put
#: back.
_OF_ONE_RUN: Final = frozenset(
    {"ADDRESS", "TENANT", "PROBE", "PULSE", "RATE", "STAT", "REBUILD", "RCPT", "TAG"}
)


def kept_records(items: Iterable[Item]) -> list[Item]:
    """Return the records to put back, in this order: the messages come last, oldest first.

    The statistics rely on that order.
    """
    kept = (item for item in items if _is_kept(item))
    return sorted(kept, key=lambda item: item["sk"]["S"] if is_message(item) else "")


def goes_to_credentials(item: Item) -> bool:
    """Return whether a record is put back into the table `Credentials`."""
    return is_credential(item)


def _is_kept(item: Item) -> bool:
    kind, _ = kind_and_account(item)
    return kind not in _OF_ONE_RUN

"""API keys in the first table, where older releases wrote them, until a migration moves them.

The migration (admin/aws/key_migration.py) copies each record to `Credentials` and then deletes it
here. While the record is here, it decides; the copy may not have a later revocation yet. An account
whose records have all moved has the attribute `keys_moved`. Its keys are only in `Credentials`.
"""

from typing import Any

from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.adapters.dynamodb.table import Table


def read_former_key(table: Table, credentials: Table, key: Item) -> dict[str, Any] | None:
    """Return the record of a key of an account whose keys may not have moved yet.

    The order matters: a record that has left the first table is in `Credentials` already.
    """
    for place in (table, credentials):
        if found := place.get_all([key]):
            return found[0]
    return None

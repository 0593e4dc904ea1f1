"""Convert the entries of an account's log to items and back."""

from collections.abc import Mapping
from typing import Any

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import Item, from_text, to_item, to_text
from pillarbox.domain.accounts.account_log import AccountAction, LogEntry


def entry_item(account_id: str, entry: LogEntry) -> Item:
    """Return an entry as an item of a new account, whose log is empty."""
    return keys.account_log(account_id, entry.entry_id) | _attributes(entry)


def new_entry(account_id: str, entry: LogEntry) -> dict[str, Any]:
    """Return the update that adds an entry. Its id sorts by time."""
    attributes = _attributes(entry)
    return {
        "Key": keys.account_log(account_id, entry.entry_id),
        "UpdateExpression": "SET " + ", ".join(f"#{name} = :{name}" for name in attributes),
        "ConditionExpression": "attribute_not_exists(pk)",
        "ExpressionAttributeNames": {f"#{name}": name for name in attributes},
        "ExpressionAttributeValues": {f":{name}": value for name, value in attributes.items()},
    }


def entry_of(item: Mapping[str, Any]) -> LogEntry:
    """Read an entry."""
    return LogEntry(
        entry_id=item["sk"],
        at=from_text(item["at"]),
        by=item["by"],
        action=AccountAction(item["action"]),
        changes={name: (old, new) for name, (old, new) in item.get("changes", {}).items()},
        reason=item.get("reason"),
    )


def _attributes(entry: LogEntry) -> Item:
    return to_item(
        {
            "at": to_text(entry.at),
            "by": entry.by,
            "action": entry.action.value,
            "changes": entry.changes or None,
            "reason": entry.reason,
        }
    )

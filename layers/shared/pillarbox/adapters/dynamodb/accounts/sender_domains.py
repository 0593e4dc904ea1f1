"""What the hourly look saw of sender domains; the table's stream announces the changes."""

from collections.abc import Iterable, Mapping
from typing import Any

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import from_text, to_item, to_text
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.accounts.sender_domain import DomainState, SenderDomain


class DynamoSenderDomains:
    """Implements `accounts.ports.SenderDomainRecords`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def of_account(self, account_id: str) -> Iterable[SenderDomain]:
        """Read the records of an account."""
        return map(sender_domain_of, self._table.query(keys.sender_domain(account_id)))

    def replace(self, account_id: str, old: SenderDomain | None, new: SenderDomain) -> bool:
        """Put the new record on the condition that the old one is stored."""
        condition, values = "attribute_not_exists(pk)", None
        if old is not None:
            condition, values = "#state = :old", {":old": old.state.value}
        try:
            self._table.put(
                keys.sender_domain(account_id, new.name)
                | to_item(
                    {
                        "state": new.state.value,
                        "changed": to_text(new.changed_at) if new.changed_at else None,
                    }
                ),
                condition=condition,
                names={"#state": "state"} if old else None,
                values=values,
            )
        except ConditionFailed as failure:
            # The SDK may have repeated our own write, whose response was lost.
            return failure.item is not None and sender_domain_of(failure.item) == new
        return True


def sender_domain_of(item: Mapping[str, Any]) -> SenderDomain:
    """Read a record."""
    changed = item.get("changed")
    return SenderDomain(
        name=item["sk"],
        state=DomainState(item["state"]),
        changed_at=from_text(changed) if changed else None,
    )

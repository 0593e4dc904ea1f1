"""What the hourly look saw of sender domains; the table's stream announces the changes."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import NEW, TIME, ConditionFailed, Store, to_item
from pillarbox.adapters.rows import Row, one_of
from pillarbox.domain.accounts.sender_domain import DomainState, SenderDomain

_DOMAIN: Final = Row(
    SenderDomain, state=("state", one_of(DomainState)), changed_at=("changed?", TIME)
)


class DynamoSenderDomains(Store):
    """Implements `accounts.ports.SenderDomainRecords`."""

    def of_account(self, account_id: str) -> Iterable[SenderDomain]:
        """Read the records of an account."""
        return map(sender_domain_of, self._table.query(keys.sender_domain(account_id)))

    def replace(self, account_id: str, old: SenderDomain | None, new: SenderDomain) -> bool:
        """Put the new record on the condition that the old one is stored."""
        condition, values = NEW, None
        if old is not None:
            condition, values = "#state = :old", {":old": old.state.value}
        item = keys.sender_domain(account_id, new.name) | to_item(_DOMAIN.write(new))
        try:
            self._table.put(item, condition=condition, values=values)
        except ConditionFailed as failure:
            # The SDK may have repeated our own write, whose response was lost.
            return failure.item is not None and sender_domain_of(failure.item) == new
        return True


def sender_domain_of(item: Mapping[str, Any]) -> SenderDomain:
    """Read a record."""
    return _DOMAIN.read(item, name=item["sk"])

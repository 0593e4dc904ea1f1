"""The domains that members added to accounts."""

from collections.abc import Mapping, Sequence
from typing import Any

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import from_text, to_item, to_text
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.application.accounts.ports import AccountDomain, DomainIdentity


class DynamoAccountDomains:
    """Implements `accounts.ports.AccountDomainRecords`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, domain: AccountDomain) -> AccountDomain:
        """Put a domain, or return the existing one."""
        values = _values(domain) | {"added": to_text(domain.added_at)}
        item = keys.account_domain(domain.account_id, domain.name) | to_item(values)
        try:
            self._table.put(item, condition="attribute_not_exists(pk)")
        except ConditionFailed as failure:
            if failure.item:
                return _domain_of(failure.item)
        return domain

    def get(self, account_id: str, name: str) -> AccountDomain | None:
        """Read one domain with strong consistency."""
        item = self._table.get(keys.account_domain(account_id, name))
        return _domain_of(item) if item else None

    def of_account(self, account_id: str) -> Sequence[AccountDomain]:
        """Read the account's list."""
        return [_domain_of(item) for item in self._table.query(keys.account_domain(account_id))]

    def update(self, domain: AccountDomain) -> AccountDomain | None:
        """Set what the provider and DNS said, if the domain still exists."""
        values = {name: value for name, value in _values(domain).items() if value is not None}
        assignments = [
            # A slower request must not move the first proof.
            f"#{name} = if_not_exists(#{name}, :{name})"
            if name == _PROVED
            else f"#{name} = :{name}"
            for name in values
        ]
        try:
            item = self._table.update(
                keys.account_domain(domain.account_id, domain.name),
                f"SET {', '.join(assignments)}",
                condition="attribute_exists(pk)",
                names={f"#{name}": name for name in values},
                values={f":{name}": value for name, value in values.items()},
            )
        except ConditionFailed:
            return None
        return _domain_of(item)

    def remove(self, account_id: str, name: str) -> bool:
        """Delete a domain; return False if none exists."""
        return self._table.remove(keys.account_domain(account_id, name))


_PROVED = "proved"


def _values(domain: AccountDomain) -> dict[str, object]:
    identity = domain.identity
    return {
        "checked": to_text(domain.checked_at),
        _PROVED: to_text(domain.proved_at) if domain.proved_at else None,
        "verified": identity.verified,
        "dkim": identity.dkim,
        "dkim_tokens": identity.dkim_tokens,
        "dkim_zone": identity.dkim_zone,
        "mail_from": identity.mail_from,
        "mail_from_status": identity.mail_from_status,
        "feedback_host": identity.feedback_host,
    }


def _domain_of(item: Mapping[str, Any]) -> AccountDomain:
    """Read a domain."""
    return AccountDomain(
        account_id=item["pk"].partition("#")[2],
        identity=DomainIdentity(
            name=item["sk"],
            verified=item["verified"],
            dkim=item["dkim"],
            dkim_tokens=tuple(item["dkim_tokens"]),
            dkim_zone=item["dkim_zone"],
            mail_from=item.get("mail_from"),
            mail_from_status=item.get("mail_from_status"),
            feedback_host=item["feedback_host"],
        ),
        added_at=from_text(item["added"]),
        checked_at=from_text(item["checked"]),
        proved_at=from_text(item[_PROVED]) if _PROVED in item else None,
    )

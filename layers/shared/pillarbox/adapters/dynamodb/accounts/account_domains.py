"""The domains that members added to accounts."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import TIME, Store, assigning, from_text, to_item, to_text
from pillarbox.adapters.rows import TUPLE, Row
from pillarbox.domain.accounts.account_domain import (
    MAIL_FROM_LABEL,
    AccountDomain,
    DomainIdentity,
    DomainLink,
)

#: What the provider and DNS said.
_CHECKED: Final[Row[dict[str, Any]]] = Row(
    dict,
    checked_at=("checked", TIME),
    proved_at=("proved?", TIME),
    proof_seen_at=("proof_seen?", TIME),
)
_IDENTITY: Final = Row(
    DomainIdentity,
    *("verified", "dkim", "dkim_zone", "mail_from?", "mail_from_status?", "feedback_host"),
    dkim_tokens=("dkim_tokens", TUPLE),
)


class DynamoAccountDomains(Store):
    """Implements `accounts.ports.AccountDomainRecords`."""

    def add(self, domain: AccountDomain) -> AccountDomain:
        values = _values(domain) | {
            "added": to_text(domain.added_at),
            "mail_from_label": domain.mail_from_label,
        }
        item = keys.account_domain(domain.account_id, domain.name) | to_item(values)
        stored = self._table.put_new(item)
        return _domain_of(stored) if stored else domain

    def get(self, account_id: str, name: str) -> AccountDomain | None:
        return self._table.find(keys.account_domain(account_id, name), _domain_of)

    def of_account(self, account_id: str) -> Sequence[AccountDomain]:
        return [_domain_of(item) for item in self._table.query(keys.account_domain(account_id))]

    def update(self, domain: AccountDomain) -> AccountDomain | None:
        """Set what the provider and DNS said, if the domain still exists.

        The entry among the owners comes first: one too many only keeps an identity.
        """
        owner = keys.domain_owner(domain.name, domain.account_id)
        if domain.proved_at:
            self._table.put(owner)
        values = {name: value for name, value in _values(domain).items() if value is not None}
        expression, stored = assigning(values)
        # A slower request must not move the first proof.
        expression = expression.replace(":proved", "if_not_exists(#proved, :proved)")
        key = keys.account_domain(domain.account_id, domain.name)
        item = self._table.try_update(key, expression, values=stored)
        if item is None:
            self._table.delete(owner)
        return _domain_of(item) if item else None

    def set_link(self, account_id: str, name: str, link: DomainLink | None) -> bool:
        key = keys.account_domain(account_id, name)
        if link is None:
            return self._table.try_update(key, "REMOVE link_digest, link_until") is not None
        values = {":digest": link.digest, ":until": to_text(link.expires_at)}
        change = "SET link_digest = :digest, link_until = :until"
        return self._table.try_update(key, change, values=values) is not None

    def set_receiving(
        self, domain: AccountDomain, label: str | None, names: AbstractSet[str]
    ) -> bool:
        expression, values = assigning(
            {"receive": label, "receive_names": [*sorted(names)] or None}
        )
        key = keys.account_domain(domain.account_id, domain.name)
        return self._table.try_update(key, expression, values=values) is not None

    def owners(self, name: str) -> Sequence[str]:
        return [item["sk"] for item in self._table.query(keys.domain_owner(name))]

    def end_proof(self, domain: AccountDomain) -> AccountDomain | None:
        """Remove the proof unless another request saw it, then the entry among the owners."""
        seen = domain.proof_seen_at
        item = self._table.try_update(
            keys.account_domain(domain.account_id, domain.name),
            "REMOVE #proved, #proof_seen",
            condition="attribute_exists(#proved) AND "
            + ("#proof_seen = :seen" if seen else "attribute_not_exists(#proof_seen)"),
            values={":seen": to_text(seen)} if seen else {},
        )
        if item is None:
            return None
        self._table.delete(keys.domain_owner(domain.name, domain.account_id))
        return _domain_of(item)

    def remove(self, account_id: str, name: str) -> bool:
        removed = self._table.remove(keys.account_domain(account_id, name))
        self._table.delete(keys.domain_owner(name, account_id))
        return removed


def _values(domain: AccountDomain) -> dict[str, object]:
    return _CHECKED.write(domain) | _IDENTITY.write(domain.identity)


def _link_of(item: Mapping[str, Any]) -> DomainLink | None:
    until = item.get("link_until")
    return DomainLink(item["link_digest"], from_text(until)) if until else None


def _domain_of(item: Mapping[str, Any]) -> AccountDomain:
    return AccountDomain(
        account_id=item["pk"].partition("#")[2],
        identity=_IDENTITY.read(item, name=item["sk"]),
        added_at=from_text(item["added"]),
        mail_from_label=item.get("mail_from_label", MAIL_FROM_LABEL),
        link=_link_of(item),
        receive=item.get("receive"),
        receive_names=tuple(item.get("receive_names", ())),
        **_CHECKED.read(item),
    )

"""The ports of administration over plain dicts; they pass the suites beside them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from pillarbox.application.accounts.ports import AccountChanges, Suppression
from pillarbox.application.templates.ports import Deletion
from pillarbox.domain.account import Account
from pillarbox.domain.key import ApiKey
from pillarbox.domain.quota import Limits
from pillarbox.domain.template import SavedTemplate

NOW = datetime(2026, 3, 14, 15, 9, 26, 535_000, UTC)
ACCOUNT = "acct00000001"
OTHER_ACCOUNT = "acct00000002"


class TickingClock:
    """Tells NOW, and a second more at each further look."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        now = self.now
        self.now += timedelta(seconds=1)
        return now


@dataclass
class FakeAccounts:
    """Fulfils `AccountRecords`."""

    kept: dict[str, Account] = field(default_factory=dict)

    def add(self, account: Account) -> None:
        self.kept[account.account_id] = account

    def get(self, account_id: str) -> Account | None:
        return self.kept.get(account_id)

    def all(self) -> Iterable[Account]:
        return [self.kept[account_id] for account_id in sorted(self.kept)]

    def change(self, account_id: str, changes: AccountChanges) -> Account | None:
        account = self.kept.get(account_id)
        if account is None:
            return None
        old, new = account.overrides, changes.limits
        if changes.plan_limits:
            old = Limits(per_minute=None, per_day=None, per_month=None)
        self.kept[account_id] = replace(
            account,
            name=changes.name or account.name,
            plan=changes.plan or account.plan,
            overrides=Limits(
                per_minute=old.per_minute if new.per_minute is None else new.per_minute,
                per_day=old.per_day if new.per_day is None else new.per_day,
                per_month=old.per_month if new.per_month is None else new.per_month,
            ),
            hold_uncertain=account.hold_uncertain
            if changes.hold_uncertain is None
            else changes.hold_uncertain,
        )
        return self.kept[account_id]

    def put_sender(
        self, account_id: str, address: str, *, verified: bool, default: bool
    ) -> Account | None:
        account = self.kept.get(account_id)
        if account is None:
            return None
        chosen = account.default_sender
        if verified and (default or chosen is None):
            chosen = address
        senders = {**account.senders, address: verified}
        self.kept[account_id] = replace(account, senders=senders, default_sender=chosen)
        return self.kept[account_id]

    def remove_sender(self, account_id: str, address: str) -> Account | None:
        account = self.kept.get(account_id)
        if account is None or address not in account.senders:
            return None
        senders = {each: how for each, how in account.senders.items() if each != address}
        chosen = None if account.default_sender == address else account.default_sender
        self.kept[account_id] = replace(account, senders=senders, default_sender=chosen)
        return self.kept[account_id]

    def set_default_sender(self, account_id: str, address: str) -> Account | None:
        account = self.kept.get(account_id)
        if account is None or not account.senders.get(address):
            return None
        self.kept[account_id] = replace(account, default_sender=address)
        return self.kept[account_id]


@dataclass
class FakeKeys:
    """Fulfils `KeyRecords`."""

    kept: dict[tuple[str, str], ApiKey] = field(default_factory=dict)

    def add(self, key: ApiKey) -> None:
        self.kept[key.account_id, key.key_id] = key

    def of_account(self, account_id: str) -> Iterable[ApiKey]:
        return [key for key in self.kept.values() if key.account_id == account_id]

    def revoke(self, account_id: str, key_id: str, at: datetime) -> ApiKey | None:
        key = self.kept.get((account_id, key_id))
        if key is not None and key.revoked_at is None:
            key = self.kept[account_id, key_id] = replace(key, revoked_at=at)
        return key


@dataclass
class FakeIdentities:
    """Fulfils `SenderIdentities`; remembers what it was asked."""

    verified: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def ensure_identity(self, address: str) -> bool:
        self.asked.append(address)
        return address in self.verified


@dataclass
class FakeSuppressions:
    """Fulfils `SuppressionRecords`."""

    kept: dict[tuple[str, str], Suppression] = field(default_factory=dict)

    def add(self, account_id: str, suppression: Suppression) -> Suppression:
        return self.kept.setdefault((account_id, suppression.address), suppression)

    def of_account(self, account_id: str) -> Iterable[Suppression]:
        return [self.kept[key] for key in sorted(self.kept) if key[0] == account_id]

    def remove(self, account_id: str, address: str) -> bool:
        return self.kept.pop((account_id, address), None) is not None


@dataclass
class FakeTemplates:
    """Fulfils `TemplateRecords`."""

    kept: dict[tuple[str, str], SavedTemplate] = field(default_factory=dict)

    def add(self, template: SavedTemplate) -> None:
        self.kept[template.account_id, template.template_id] = template

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate | None:
        return self.kept.get((account_id, str(template_id)))

    def newest_first(self, account_id: str) -> Iterable[SavedTemplate]:
        return [self.kept[key] for key in sorted(self.kept, reverse=True) if key[0] == account_id]

    def replace(self, template: SavedTemplate, unless_changed_since: datetime) -> bool:
        known = self.get(template.account_id, UUID(template.template_id))
        if known is None or known.updated_at != unless_changed_since:
            return False
        self.add(replace(template, references=known.references))
        return True

    def delete(self, account_id: str, template_id: UUID) -> Deletion:
        known = self.get(account_id, template_id)
        if known is None:
            return Deletion.ABSENT
        if known.references:
            return Deletion.REFERENCED
        del self.kept[account_id, str(template_id)]
        return Deletion.DELETED

    def reference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        return self._refer(account_id, template_id, lambda known: known | {by})

    def unreference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        return self._refer(account_id, template_id, lambda known: known - {by})

    def _refer(
        self, account_id: str, template_id: UUID, change: Callable[[frozenset[str]], frozenset[str]]
    ) -> SavedTemplate | None:
        known = self.get(account_id, template_id)
        if known is None:
            return None
        changed = replace(known, references=change(known.references))
        self.add(changed)
        return changed

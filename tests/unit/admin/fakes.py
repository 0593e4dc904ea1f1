"""Fakes of the ports for accounts and templates. They pass the tests of `port_suites`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.application.templates.ports import DeleteResult
from pillarbox.domain.accounts.account import Account, Suspension
from pillarbox.domain.accounts.account_log import LogEntry
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.queue_log import Redrive
from pillarbox.domain.templates.draft import TemplateDraft, TemplateVersion
from pillarbox.domain.templates.template import SavedTemplate

NOW = datetime(2026, 3, 14, 15, 9, 26, 535_000, UTC)
ACCOUNT = "acct00000001"
OTHER_ACCOUNT = "acct00000002"


class TickingClock:
    """Returns NOW, and one second more at each further call."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        now = self.now
        self.now += timedelta(seconds=1)
        return now


@dataclass
class FakeQueueLog:
    """Implements `operation.ports.QueueLog`."""

    redrives: dict[str, Redrive] = field(default_factory=dict)

    def put(self, redrive: Redrive) -> None:
        self.redrives[redrive.entry_id] = redrive

    def newest(self, limit: int) -> Sequence[Redrive]:
        return [*self.redrives.values()][: -limit - 1 : -1]


@dataclass
class FakeAccounts:
    """Implements `AccountRecords`."""

    accounts: dict[str, Account] = field(default_factory=dict)
    entries: dict[str, list[LogEntry]] = field(default_factory=dict)

    def add(self, account: Account) -> None:
        self.accounts[account.account_id] = account

    def get(self, account_id: str) -> Account | None:
        return self.accounts.get(account_id)

    def all(self) -> Iterable[Account]:
        return [self.accounts[account_id] for account_id in sorted(self.accounts)]

    def page(self, first: str | None, limit: int) -> tuple[Sequence[Account], str | None]:
        ids = [account_id for account_id in sorted(self.accounts) if account_id >= (first or "")]
        following = ids[limit] if len(ids) > limit else None
        return [self.accounts[account_id] for account_id in ids[:limit]], following

    def change(
        self, account_id: str, changes: AccountChanges, entry: LogEntry | None = None
    ) -> Account | None:
        account = self.accounts.get(account_id)
        if account is None:
            return None
        self._log(account_id, entry)
        self.accounts[account_id] = changes.applied_to(account)
        return self.accounts[account_id]

    def raise_shards(
        self, account_id: str, shards: int, sharded_from: datetime, entry: LogEntry | None = None
    ) -> Account | None:
        account = self.accounts.get(account_id)
        if account is None or account.shards > shards:
            return None
        self._log(account_id, entry)
        since = account.sharded_from or sharded_from
        self.accounts[account_id] = replace(account, shards=shards, sharded_from=since)
        return self.accounts[account_id]

    def set_hashed_suppressions(self, account_id: str) -> None:
        if account := self.accounts.get(account_id):
            self.accounts[account_id] = replace(account, hashed_suppressions=True)

    def suspend(
        self, account_id: str, suspension: Suspension, entry: LogEntry | None = None
    ) -> Account | None:
        account = self.accounts.get(account_id)
        if account is None:
            return None
        self._log(account_id, entry)
        before = account.suspension or suspension
        kept = Suspension(before.at, suspension.reason or before.reason)
        self.accounts[account_id] = replace(account, suspension=kept)
        return self.accounts[account_id]

    def resume(self, account_id: str, entry: LogEntry | None = None) -> Account | None:
        account = self.accounts.get(account_id)
        if account is None:
            return None
        self._log(account_id, entry)
        self.accounts[account_id] = replace(account, suspension=None)
        return self.accounts[account_id]

    def newest_entries(self, account_id: str, limit: int) -> Sequence[LogEntry]:
        return self.entries.get(account_id, [])[: -limit - 1 : -1]

    def _log(self, account_id: str, entry: LogEntry | None) -> None:
        if entry:
            self.entries.setdefault(account_id, []).append(entry)

    def put_sender(
        self, account_id: str, address: str, *, verified: bool, default: bool
    ) -> Account | None:
        account = self.accounts.get(account_id)
        if account is None:
            return None
        default_sender = account.default_sender
        if verified and (default or default_sender is None):
            default_sender = address
        senders = {**account.senders, address: verified}
        self.accounts[account_id] = replace(account, senders=senders, default_sender=default_sender)
        return self.accounts[account_id]

    def remove_sender(self, account_id: str, address: str) -> Account | None:
        account = self.accounts.get(account_id)
        if account is None or address not in account.senders:
            return None
        senders = {
            sender: verified for sender, verified in account.senders.items() if sender != address
        }
        default_sender = None if account.default_sender == address else account.default_sender
        self.accounts[account_id] = replace(account, senders=senders, default_sender=default_sender)
        return self.accounts[account_id]

    def set_default_sender(self, account_id: str, address: str) -> Account | None:
        account = self.accounts.get(account_id)
        if account is None or not account.senders.get(address):
            return None
        self.accounts[account_id] = replace(account, default_sender=address)
        return self.accounts[account_id]


@dataclass
class FakeKeys:
    """Implements `KeyRecords`."""

    keys: dict[tuple[str, str], ApiKey] = field(default_factory=dict)

    def add(self, key: ApiKey) -> None:
        self.keys[key.account_id, key.key_id] = key

    def of_account(self, account_id: str) -> Iterable[ApiKey]:
        return [key for key in self.keys.values() if key.account_id == account_id]

    def revoke(self, account_id: str, key_id: str, at: datetime) -> ApiKey | None:
        key = self.keys.get((account_id, key_id))
        if key is not None and key.revoked_at is None:
            key = self.keys[account_id, key_id] = replace(key, revoked_at=at)
        return key

    def forget(self, key: ApiKey) -> None:
        stored = self.keys.get((key.account_id, key.key_id))
        if stored is not None and stored.revoked_at is not None:
            del self.keys[key.account_id, key.key_id]


@dataclass
class FakeIdentities:
    """Implements `SenderIdentities`, and records the addresses it gets."""

    verified: set[str] = field(default_factory=set)
    addresses: list[str] = field(default_factory=list)

    def ensure_identity(self, address: str) -> bool:
        self.addresses.append(address)
        return address in self.verified


@dataclass
class FakeSuppressions:
    """Implements `SuppressionRecords`."""

    suppressions: dict[tuple[str, str], Suppression] = field(default_factory=dict)

    def add(self, account_id: str, suppression: Suppression) -> Suppression:
        return self.suppressions.setdefault((account_id, suppression.address), suppression)

    def get(self, account_id: str, address: str) -> Suppression | None:
        return self.suppressions.get((account_id, address))

    def of_account(self, account_id: str) -> Iterable[Suppression]:
        return [self.suppressions[key] for key in sorted(self.suppressions) if key[0] == account_id]

    def add_all(
        self, account_id: str, suppressions: Sequence[Suppression]
    ) -> Sequence[Suppression]:
        return [self.add(account_id, one) for one in suppressions]

    def page(
        self, account_id: str, start: str, first: str | None, limit: int
    ) -> Sequence[Suppression]:
        found = (one for one in self.of_account(account_id) if one.address.startswith(start))
        return [one for one in found if one.address >= (first or "")][:limit]

    def remove(self, account_id: str, address: str) -> bool:
        return self.suppressions.pop((account_id, address), None) is not None


@dataclass
class FakeTemplateDrafts:
    """Implements `TemplateDrafts`."""

    drafts: dict[tuple[str, str], TemplateDraft] = field(default_factory=dict)

    def get(self, account_id: str, template_id: UUID) -> TemplateDraft | None:
        return self.drafts.get((account_id, str(template_id)))

    def of_account(self, account_id: str) -> Iterable[TemplateDraft]:
        return [
            self.drafts[key] for key in sorted(self.drafts, reverse=True) if key[0] == account_id
        ]

    def count(self, account_id: str) -> int:
        return len([*self.of_account(account_id)])

    def put(self, draft: TemplateDraft, replaces: int) -> bool:
        stored = self.drafts.get((draft.account_id, draft.template_id))
        if (stored.revision if stored else 0) != replaces:
            return stored == draft
        self.drafts[draft.account_id, draft.template_id] = draft
        return True

    def delete(self, account_id: str, template_id: UUID) -> None:
        self.drafts.pop((account_id, str(template_id)), None)


@dataclass
class FakeTemplateVersions:
    """Implements `TemplateVersions`."""

    versions: dict[tuple[str, str, int], TemplateVersion] = field(default_factory=dict)

    def get(self, account_id: str, template_id: UUID, version: int) -> TemplateVersion | None:
        return self.versions.get((account_id, str(template_id), version))

    def newest_first(
        self, account_id: str, template_id: UUID, limit: int, before: int | None = None
    ) -> Sequence[TemplateVersion]:
        return [
            self.versions[key]
            for key in sorted(self.versions, reverse=True)
            if key[:2] == (account_id, str(template_id)) and (before is None or key[2] < before)
        ][:limit]

    def add(self, version: TemplateVersion) -> bool:
        key = version.account_id, version.template_id, version.version
        return self.versions.setdefault(key, version) is version

    def delete(self, account_id: str, template_id: UUID, version: int) -> None:
        self.versions.pop((account_id, str(template_id), version), None)

    def delete_all(self, account_id: str, template_id: UUID) -> None:
        for key in [*self.versions]:
            if key[:2] == (account_id, str(template_id)):
                del self.versions[key]


@dataclass
class FakeTemplates:
    """Implements `TemplateRecords`."""

    templates: dict[tuple[str, str], SavedTemplate] = field(default_factory=dict)
    drafts: FakeTemplateDrafts = field(default_factory=FakeTemplateDrafts)
    versions: FakeTemplateVersions = field(default_factory=FakeTemplateVersions)

    def add(self, template: SavedTemplate) -> None:
        self.templates[template.account_id, template.template_id] = template

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate | None:
        return self.templates.get((account_id, str(template_id)))

    def newest_first(self, account_id: str) -> Iterable[SavedTemplate]:
        return [
            self.templates[key]
            for key in sorted(self.templates, reverse=True)
            if key[0] == account_id
        ]

    def publish(
        self,
        template: SavedTemplate,
        version: TemplateVersion,
        *,
        unless_changed_since: datetime | None,
        draft: TemplateDraft | None = None,
    ) -> bool:
        current = self.get(template.account_id, UUID(template.template_id))
        stored = self.drafts.drafts.get((template.account_id, template.template_id))
        if (
            (current.updated_at if current else None) != unless_changed_since
            or (draft is not None and (stored is None or stored.revision != draft.revision))
            or not self.versions.add(version)
        ):
            return False
        self.add(replace(template, references=current.references if current else frozenset()))
        if draft is not None and stored is not None:
            self.drafts.drafts[template.account_id, template.template_id] = replace(
                stored, version=version.version, version_revision=draft.revision
            )
        return True

    def delete(self, account_id: str, template_id: UUID) -> DeleteResult:
        current = self.get(account_id, template_id)
        if current is None:
            return DeleteResult.ABSENT
        if current.references:
            return DeleteResult.REFERENCED
        del self.templates[account_id, str(template_id)]
        return DeleteResult.DELETED

    def reference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        return self._refer(account_id, template_id, lambda current: current | {by})

    def unreference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        return self._refer(account_id, template_id, lambda current: current - {by})

    def _refer(
        self, account_id: str, template_id: UUID, change: Callable[[frozenset[str]], frozenset[str]]
    ) -> SavedTemplate | None:
        current = self.get(account_id, template_id)
        if current is None:
            return None
        changed = replace(current, references=change(current.references))
        self.add(changed)
        return changed

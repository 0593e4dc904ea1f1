"""Create, change and read accounts."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pillarbox.application.account_lookup import existing, find_account
from pillarbox.application.accounts.ports import AccountChanges, AccountRecords, LogReader
from pillarbox.application.message_log import ScanPage
from pillarbox.application.ports import Clock
from pillarbox.application.validation import check_limits, check_text, normalize_address
from pillarbox.domain.accounts.account import (
    MAX_COMPANY_ADDRESS,
    MAX_FROM_NAME,
    MAX_LOGO_URL,
    NO_LIMITS,
    SHARD_COUNTS,
    Account,
    Brand,
    Plan,
    QueuedMail,
    Suspension,
    first_sharding,
)
from pillarbox.domain.accounts.account_log import COMMAND, AccountAction, LogEntry, differences
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.ids import new_id, new_token
from pillarbox.domain.templates.template import VariableKind
from pillarbox.rendering.palette import check_accent
from pillarbox.rendering.values import check_link, check_logo_url

#: The entries of a log that are shown.
LOG_LENGTH: Final = 50


#: The entries in which one request looks for those of a key.
_SEARCHED: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """The accounts of a stack.

    What an operator does to an account is written to the account's log. `by` is the operator's
    address, or `COMMAND`.
    """

    records: AccountRecords
    entries: LogReader
    clock: Clock

    def create(
        self,
        name: str,
        plan: Plan,
        *,
        limits: Limits = NO_LIMITS,
        hold_uncertain: bool = False,
        contact: str | None = None,
    ) -> Account:
        """Create an account without senders and keys.

        Args:
            name: a display name; it need not be unique.
            limits: the account's own limits; None uses the plan's limit.
            hold_uncertain: what to do with an email when the provider may or may not have
                accepted it: True marks it as failed, False sends it again.
            contact: where the service writes to the account's owner.
        """
        check_text("name", name)
        check_limits(limits)
        account = Account(
            account_id=new_token(ACCOUNT_ID_LENGTH),
            name=name,
            plan=plan,
            created_at=self.clock(),
            overrides=limits,
            hold_uncertain=hold_uncertain,
            contact=normalize_address(contact) if contact else None,
        )
        self.records.add(account)
        return account

    def ids_of(self, name: str) -> Iterable[str]:
        return (one.account_id for one in self.records.all() if one.name == name)

    def update(
        self,
        account_id: str,
        changes: AccountChanges,
        *,
        by: str | None = None,
        member: str | None = None,
    ) -> Account:
        """Change an account and return its new state.

        Keys keep their scopes, even if the plan changes.

        Args:
            by: the operator; None for a member.
            member: the member or key. Of their changes the log has only how long content is kept.
        """
        if changes.name is not None:
            check_text("name", changes.name)
        check_limits(changes.limits)
        contact = normalize_address(changes.contact) if changes.contact else changes.contact
        changes = replace(changes, brand=_checked_brand(changes.brand), contact=contact)
        account = find_account(self.records, account_id)
        if changes == AccountChanges():
            return account
        after = changes.applied_to(account)
        entry = self._change_entry(account, after, by)
        days = {
            name: change
            for name, change in differences(account, after).items()
            if name in {"keepDays", "recordDays"}
        }
        if member is not None and days:
            is_kept = "keepDays" in days
            action = AccountAction.KEEP_CHANGED if is_kept else AccountAction.RECORDS_CHANGED
            entry = replace(self._entry(member, action), changes=days)
        return existing(self.records.change(account_id, changes, entry))

    def raise_shards(self, account_id: str, shards: int, *, by: str = COMMAND) -> Account:
        """Spread an account's new messages over more shards, and return its new state.

        The first raise takes effect at a full hour (`first_sharding`), a later one at once.
        """
        account = find_account(self.records, account_id)
        if shards not in SHARD_COUNTS:
            raise _wrong_shards(f"must be a power of two up to {SHARD_COUNTS[-1]}")
        if shards == account.shards:
            return account
        entry = self._change_entry(account, replace(account, shards=shards), by)
        sharded_from = first_sharding(self.clock())
        changed = self.records.raise_shards(account_id, shards, sharded_from, entry)
        if changed is None:
            raise _wrong_shards("must not fall, because stored messages stay in their shards")
        return changed

    def suspend(
        self,
        account_id: str,
        reason: str | None = None,
        *,
        queued: QueuedMail = QueuedMail.SEND,
        by: str = COMMAND,
    ) -> Account:
        """Refuse every request with a key of the account, from the next one on.

        `queued` says what happens to mail that was accepted before. An account that is suspended
        already keeps the time; a new reason replaces the old one.
        """
        if reason is not None:
            check_text("reason", reason)
        account = find_account(self.records, account_id)
        is_new = account.suspension is None or reason not in {None, account.suspension.reason}
        entry = self._entry(by, AccountAction.SUSPENDED, reason=reason) if is_new else None
        suspension = Suspension(self.clock(), reason, queued)
        return existing(self.records.suspend(account_id, suspension, entry))

    def resume(self, account_id: str, *, by: str = COMMAND) -> Account:
        """End the suspension of an account: its keys work again, except revoked ones."""
        account = find_account(self.records, account_id)
        entry = self._entry(by, AccountAction.RESUMED) if account.suspension else None
        return existing(self.records.resume(account_id, entry))

    def get(self, account_id: str) -> Account:
        return find_account(self.records, account_id)

    def all(self) -> Iterable[Account]:
        return self.records.all()

    def log(self, account_id: str, *, calls: bool = False) -> Sequence[LogEntry]:
        """Read the last `LOG_LENGTH` changes in an account's log, or calls, the newest first."""
        return self.entries.entries(account_id, LOG_LENGTH, calls=calls)

    def log_page(
        self,
        account_id: str,
        limit: int,
        cursor: str | None = None,
        *,
        calls: bool = False,
        by: Collection[str] | None = None,
    ) -> ScanPage[LogEntry]:
        """Read a part of an account's log, the newest first.

        With `by` it has what these did, of `_SEARCHED` entries: it may be short, or empty, and have
        a following one.
        """
        most = _SEARCHED if by else limit
        found = self.entries.entries(account_id, most + 1, cursor, calls=calls)
        following = found[most].entry_id if len(found) > most else None
        shown = [one for one in found[:most] if by is None or one.by in by]
        return ScanPage(shown, following)

    def _change_entry(self, before: Account, after: Account, by: str | None) -> LogEntry | None:
        """Return the entry for a change; None for a member's, or if it changes nothing."""
        changes = differences(before, after)
        if by is None or not changes:
            return None
        return replace(self._entry(by, AccountAction.CHANGED), changes=changes)

    def _entry(self, by: str, action: AccountAction, reason: str | None = None) -> LogEntry:
        now = self.clock()
        return LogEntry(entry_id=str(new_id(now)), at=now, by=by, action=action, reason=reason)


def _checked_brand(changes: Brand) -> Brand:
    """Return the changes of a brand with the colour in lower case. An empty text is valid."""
    if changes.name:
        check_text("brandName", changes.name)
    if changes.from_name:
        check_text("fromName", changes.from_name, MAX_FROM_NAME)
    if changes.company_address:
        check_text("companyAddress", changes.company_address, MAX_COMPANY_ADDRESS)
    if changes.logo_url:
        check_text("logoUrl", changes.logo_url, MAX_LOGO_URL)
        check_logo_url(changes.logo_url)
    for field, kind, link in (
        ("supportEmail", VariableKind.CONTACT, changes.support_email),
        ("actionUrl", VariableKind.WEB_URL, changes.action_url),
    ):
        if link:
            check_text(field, link, MAX_LOGO_URL)
            check_link(field, kind, link)
    if changes.accent:
        return replace(changes, accent=check_accent(changes.accent))
    return changes


def _wrong_shards(message: str) -> ValidationFailed:
    return ValidationFailed(FieldError("shards", message, "out_of_range"))

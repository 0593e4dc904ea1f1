"""Move accounts into tenants of SES and out of them, and compare the two."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from pillarbox.application.account_lookup import account_not_found, find_account
from pillarbox.application.accounts.ports import AccountRecords, Tenants
from pillarbox.application.operator.checks import Finding, Verdict
from pillarbox.domain.accounts.account import Account, Isolation
from pillarbox.domain.errors import ServiceError

#: Accounts that are read at a time.
_PAGE: Final = 100
#: SES takes names of 64 characters; an account's id has twelve.
_LONGEST_STACK: Final = 50


@dataclass(slots=True)
class Moved:
    """How many accounts are as asked, and the error of each other one."""

    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountIsolation:
    """The tenants of all accounts.

    Each step may be repeated, and leaves an account that can send if the process ends after it:
    an account names a tenant only while the tenant may send from all its senders.

    Args:
        stack: begins the names of its tenants.
        preview_sender: the address that preview keys of any account send from.
    """

    accounts: AccountRecords
    tenants: Tenants
    stack: str
    preview_sender: str

    def change(self, account_id: str, isolation: Isolation) -> Account:
        """Give an account its tenant with a policy, or take it away.

        Accounts of the preview widget share one, which is always strict and stays.

        Raises:
            ServiceError: `account_not_found`; `service_unavailable`, after which the change can be
                repeated.
        """
        account = find_account(self.accounts, account_id)
        name = self._name(account)
        if isolation is Isolation.NONE:
            changed = self.accounts.set_isolation(account_id, isolation, None)
            if not _is_of_widget(account):
                self.tenants.delete(name)
        else:
            if _is_of_widget(account):
                isolation = Isolation.STRICT
            self.tenants.create(name, isolation)
            self.tenants.associate(name, self._addresses(account))
            changed = self.accounts.set_isolation(account_id, isolation, name)
            if changed and changed.senders != account.senders:  # one was added meanwhile
                self.tenants.associate(name, self._addresses(changed))
        if changed is None:
            raise account_not_found()
        return changed

    def change_all(self, isolation: Isolation, report: Callable[[int], None]) -> Moved:
        """Change every account, page by page; those that are as asked take no call.

        With `none` the tenant that previews share is deleted too.

        An account that fails stops no other one.

        Args:
            isolation: as that of `change`.
            report: called with the number of accounts that were looked at.
        """
        moved, cursor, seen = Moved(), "", 0
        known = self.tenants.all()
        while True:
            page, following = self.accounts.page(cursor or None, _PAGE)
            for account in page:
                try:
                    if not self._is(account, isolation, known):
                        self.change(account.account_id, isolation)
                    moved.done += 1
                except ServiceError as error:
                    moved.failed[account.account_id] = error.message
                seen += 1
                report(seen)
            if following is None:
                break
            cursor = following
        if isolation is Isolation.NONE and not moved.failed:
            self.tenants.delete(self._shared)
        return moved

    def check(self) -> Iterator[Finding]:
        """Compare the records with SES: each tenant exists, may send, and from every sender."""
        known = self.tenants.all()
        problems = 0
        named: set[str] = set()
        for account in self.accounts.all():
            if account.tenant is None:
                continue
            named.add(account.tenant)
            for finding in self._check(account, account.tenant, known):
                problems += 1
                yield finding
        for name in sorted(known.keys() - named - {self._shared}):
            if name.startswith(f"{self._prefix}-"):
                problems += 1
                yield Finding(
                    "tenants",
                    Verdict.WARN,
                    f"SES has the tenant {name}, which no account names.",
                    "Run `pillarbox account isolation none ID` for its account.",
                )
        if not problems:
            message = f"{len(named)} tenants of accounts are at SES with all their senders."
            yield Finding("tenants", Verdict.PASS, message)

    def _check(self, account: Account, tenant: str, known: Mapping[str, bool]) -> Iterator[Finding]:
        repair = f"pillarbox account isolation {account.isolation.value} {account.account_id}"
        if tenant not in known:
            text = f"SES has no tenant {tenant}: email of account {account.account_id} waits."
            yield Finding("tenants", Verdict.FAIL, text, f"Run `{repair}`.")
            return
        if not known[tenant]:
            text = f"SES has paused the tenant {tenant}: email of {account.account_id} waits."
            remedy = "Read SES's findings about the tenant, mend the cause, and resume it at SES."
            yield Finding("tenants", Verdict.FAIL, text, remedy)
        missing = self.tenants.missing(tenant, self._addresses(account))
        if missing:
            text = f"The tenant {tenant} lacks {len(missing)} of its identities: email waits."
            yield Finding("tenants", Verdict.FAIL, text, f"Run `{repair}`.")

    def _is(self, account: Account, isolation: Isolation, known: Mapping[str, bool]) -> bool:
        if isolation is Isolation.NONE:
            # The record comes first, so it does not show whether the tenant is gone.
            gone = _is_of_widget(account) or self._name(account) not in known
            return account.tenant is None and gone
        wanted = Isolation.STRICT if _is_of_widget(account) else isolation
        return account.isolation is wanted and account.tenant in known

    def _name(self, account: Account) -> str:
        return self._shared if _is_of_widget(account) else f"{self._prefix}-{account.account_id}"

    @property
    def _shared(self) -> str:
        return f"{self._prefix}-preview"

    @property
    def _prefix(self) -> str:
        return self.stack[:_LONGEST_STACK]

    def _addresses(self, account: Account) -> list[str]:
        verified = [address for address, is_verified in account.senders.items() if is_verified]
        return [*verified, self.preview_sender]


def _is_of_widget(account: Account) -> bool:
    return account.widget_secret is not None

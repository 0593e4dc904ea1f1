"""Move accounts into tenants of SES and out of them, and compare the two."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from pillarbox.application.account_lookup import existing, find_account
from pillarbox.application.accounts.ports import AccountRecords, SharedTenant, Tenants
from pillarbox.application.operator.checks import Finding, Verdict
from pillarbox.application.pauses import Pauses
from pillarbox.domain.accounts.account import Account, Isolation
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH
from pillarbox.domain.accounts.pause import PROVIDER_KEY
from pillarbox.domain.errors import ServiceError

#: Accounts that are read at a time.
_PAGE: Final = 100
#: SES takes names of 64 characters; an account's id has twelve.
_LONGEST_STACK: Final = 50
_DEPLOY: Final = "Run `pillarbox deploy`, which makes the tenant that they share."


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
        begins_shared: whether new accounts of strangers begin in the tenant that they share.
    """

    accounts: AccountRecords
    tenants: Tenants
    shared: SharedTenant
    stack: str
    preview_sender: str
    begins_shared: bool

    def prepare_shared(self) -> None:
        """Make the strict tenant that accounts of strangers share, and let new ones begin in it."""
        self.tenants.create(self._shared, Isolation.STRICT)
        self.tenants.associate(self._shared, [self.preview_sender])
        self.shared.store(self._shared)

    def change(self, account_id: str, isolation: Isolation) -> Account:
        """Give an account its tenant with a policy, or take it away.

        An account of the preview widget always shares the strict tenant, and one of a stranger who
        signed up as long as it is to be strict.
        """
        account = find_account(self.accounts, account_id)
        is_to_share = _is_of_widget(account) or (
            account.tenant == self._shared and isolation is Isolation.STRICT
        )
        return self._change(account, isolation, is_to_share=is_to_share, known={})

    def change_all(self, isolation: Isolation, report: Callable[[int], None]) -> Moved:
        """Change every account, page by page; those that are as asked take no call.

        Accounts that share a tenant keep it. With `none` no tenant is left in the end.

        An account that fails stops no other one.
        """
        moved, cursor, seen = Moved(), "", 0
        known = self.tenants.all()
        if isolation is Isolation.NONE:
            self.shared.store(None)
        while True:
            page, following = self.accounts.page(cursor or None, _PAGE)
            for account in page:
                shares = _is_of_widget(account) or account.tenant == self._shared
                try:
                    if not self._is(account, isolation, known, shares=shares):
                        self._change(account, isolation, is_to_share=shares, known=known)
                    moved.done += 1
                except ServiceError as error:
                    moved.failed[account.account_id] = error.message
                seen += 1
                report(seen)
            if following is None:
                break
            cursor = following
        if isolation is Isolation.NONE and not moved.failed:
            self._delete_unused(known)
        return moved

    def check(self) -> Iterator[Finding]:
        """Compare the records with SES: each tenant exists, may send, and from every sender."""
        known = self.tenants.all()
        problems = 0
        named: set[str] = set()
        for finding in self._check_shared(known):
            problems += 1
            yield finding
        for account in self.accounts.all():
            if account.tenant is None:
                continue
            named.add(account.tenant)
            for finding in self._check(account, account.tenant, known):
                problems += 1
                yield finding
        for name in sorted(self._of_stack(known) - named - {self._shared}):
            problems += 1
            yield Finding(
                "tenants",
                Verdict.WARN,
                f"SES has the tenant {name}, which no account names.",
                "Its price is charged. Delete it at SES.",
            )
        if not problems:
            message = f"{len(named)} tenants of accounts are at SES with all their senders."
            yield Finding("tenants", Verdict.PASS, message)

    def _check_shared(self, known: Mapping[str, bool]) -> Iterator[Finding]:
        name = self.shared.stored()
        if name is None:
            if self.begins_shared:
                text = "Accounts of strangers have no tenant: they can get SES to pause all mail."
                yield Finding("tenants", Verdict.FAIL, text, _DEPLOY)
            return
        if name not in known:
            text = f"SES has no tenant {name}: email of accounts of strangers waits."
            yield Finding("tenants", Verdict.FAIL, text, _DEPLOY)
        elif self.tenants.missing(name, [self.preview_sender]):
            text = f"The tenant {name} lacks what preview keys send from: their email waits."
            yield Finding("tenants", Verdict.FAIL, text, _DEPLOY)
        elif not self.tenants.suppresses_apart(name):
            yield Finding("tenants", Verdict.WARN, _no_list(name), _DEPLOY)

    def _check(self, account: Account, tenant: str, known: Mapping[str, bool]) -> Iterator[Finding]:
        repair = f"pillarbox account isolation {account.isolation.value} {account.account_id}"
        if tenant not in known:
            text = f"SES has no tenant {tenant}: email of account {account.account_id} waits."
            yield Finding("tenants", Verdict.FAIL, text, f"Run `{repair}`.")
            return
        is_paused = any(pause.key == PROVIDER_KEY for pause in account.pauses)
        if not known[tenant]:
            text = f"SES has paused the tenant {tenant}: {account.account_id} cannot send."
            if not is_paused:
                text += " Its record does not say so: it accepts email, which waits."
            remedy = "Read SES's findings about the tenant, mend the cause, and resume it at SES."
            yield Finding("tenants", Verdict.FAIL, text, remedy)
        elif is_paused:
            text = f"SES lets {tenant} send, but {account.account_id} is paused as if it did not."
            remedy = "The sweep ends that within an hour, if it runs."
            yield Finding("tenants", Verdict.WARN, text, remedy)
        missing = self.tenants.missing(tenant, self._addresses(account, tenant))
        if missing:
            text = f"The tenant {tenant} lacks {len(missing)} of its identities: email waits."
            yield Finding("tenants", Verdict.FAIL, text, f"Run `{repair}`.")
        if tenant != self._shared and not self.tenants.suppresses_apart(tenant):
            yield Finding("tenants", Verdict.WARN, _no_list(tenant), f"Run `{repair}`.")

    def _change(
        self,
        account: Account,
        isolation: Isolation,
        *,
        is_to_share: bool,
        known: Mapping[str, bool],
    ) -> Account:
        account_id, own = account.account_id, self._own_name(account)
        if isolation is Isolation.NONE:
            changed = self.accounts.set_isolation(account_id, isolation, None)
            if not is_to_share:
                self.tenants.delete(own)
        else:
            name = self._shared if is_to_share else own
            if not is_to_share:
                self.tenants.create(name, isolation)
            elif name not in known or self.shared.stored() != name:
                self.prepare_shared()
            isolation = Isolation.STRICT if is_to_share else isolation
            self._associate(name, account)
            changed = self.accounts.set_isolation(account_id, isolation, name)
            if changed and changed.senders != account.senders:  # one was added meanwhile
                self._associate(name, changed)
        changed = existing(changed)
        if changed.tenant != account.tenant:  # what SES said of the former one is over
            return Pauses(self.accounts).remove(account_id, PROVIDER_KEY) or changed
        return changed

    def _associate(self, name: str, account: Account) -> None:
        if addresses := self._addresses(account, name):
            self.tenants.associate(name, addresses)

    def _delete_unused(self, known: Mapping[str, bool]) -> None:
        """Delete the tenants of this stack that no account names, also those of deleted accounts.

        An account that began in the shared one a moment ago keeps it.
        """
        named = {account.tenant for account in self.accounts.all()}
        for name in sorted(self._of_stack(known) - named):
            self.tenants.delete(name)

    def _is(
        self, account: Account, isolation: Isolation, known: Mapping[str, bool], *, shares: bool
    ) -> bool:
        own = self._own_name(account)
        if isolation is Isolation.NONE:
            # The record comes first, so it does not show whether the tenant is gone.
            return account.tenant is None and (shares or own not in known)
        name = self._shared if shares else own
        is_policy = shares or account.isolation is isolation
        return account.tenant == name and name in known and is_policy

    @property
    def _shared(self) -> str:
        return f"{self._prefix}-shared"

    @property
    def _prefix(self) -> str:
        return self.stack[:_LONGEST_STACK]

    def _own_name(self, account: Account) -> str:
        return f"{self._prefix}-{account.account_id}"

    def _of_stack(self, known: Mapping[str, bool]) -> set[str]:
        """Return the names that are of this stack, and not of one whose name begins as its own."""
        pattern = rf"{re.escape(self._prefix)}-(shared|[a-z0-9]{{{ACCOUNT_ID_LENGTH}}})"
        return {name for name in known if re.fullmatch(pattern, name)}

    def _addresses(self, account: Account, tenant: str) -> list[str]:
        """Return what an account sends from; the shared tenant has the preview sender before."""
        verified = [address for address, is_verified in account.senders.items() if is_verified]
        return verified if tenant == self._shared else [*verified, self.preview_sender]


def _no_list(tenant: str) -> str:
    return f"The tenant {tenant} has no suppression list of its own: it shares that of others."


def _is_of_widget(account: Account) -> bool:
    return account.widget_secret is not None

"""List, add and remove the suppressions of an account: mailboxes that it must not send to."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords, SuppressionRecords
from pillarbox.application.message_log import ScanPage
from pillarbox.application.ports import Clock
from pillarbox.application.provider_suppressions import ProviderSuppressions
from pillarbox.application.slow_requests import SlowRequests
from pillarbox.application.validation import UNQUOTED_NAME, normalize_address
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.suppression import Suppression, hashed_mailbox, is_hashed
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.sign_in.preview_key import PREVIEW_LIST, stopped_mailbox
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID

#: The reason of a suppression that no bounce or complaint caused.
MANUAL: Final = "manual"


@dataclass(frozen=True, slots=True)
class SuppressionImport:
    """The suppressions of some addresses, and what was wrong with the others by their position."""

    items: Sequence[Suppression]
    refused: Sequence[tuple[int, FieldError]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionList:
    """The suppressions of all accounts, and of the service's own mail (`SERVICE_ACCOUNT_ID`).

    The latter are those that bounced, and the hashes of those whose owners complained or used the
    link to stop such mail. The case of an address does not matter.
    """

    records: SuppressionRecords
    provider_suppressions: ProviderSuppressions
    accounts: AccountRecords
    slow_requests: SlowRequests
    clock: Clock

    def add(self, account_id: str, address: str) -> Suppression:
        """Suppress an address by hand; an existing suppression keeps its reason."""
        mailbox = mailbox_key(normalize_address(address))
        self._check(account_id)
        suppression = Suppression(address=mailbox, reason=MANUAL, at=self.clock())
        return self.records.add(account_id, suppression)

    def add_all(self, account_id: str, addresses: Sequence[str]) -> SuppressionImport:
        """Suppress many addresses by hand, except those that are not valid."""
        self._check(account_id)
        self.slow_requests.take(account_id)
        now, refused = self.clock(), list[tuple[int, FieldError]]()
        mailboxes: dict[str, Suppression] = {}
        for position, address in enumerate(addresses):
            try:
                mailbox = listed_mailbox(address)
            except ValidationFailed as failed:
                refused.append((position, failed.errors[0]))
            else:
                mailboxes[mailbox] = Suppression(address=mailbox, reason=MANUAL, at=now)
        added = self.records.add_all(account_id, [*mailboxes.values()])
        return SuppressionImport(added, refused)

    def get(self, account_id: str, address: str) -> Suppression:
        """Read the suppression of an address, or the one that is listed under this hash."""
        text = address if is_hashed(address) else mailbox_key(normalize_address(address))
        self._check(account_id)
        found = self.records.get(account_id, text) or self.records.get(
            account_id, hashed_mailbox(account_id, text)
        )
        if found is None:
            raise _not_suppressed()
        return found

    def page(
        self, account_id: str, start: str | None, cursor: str | None, limit: int
    ) -> ScanPage[Suppression]:
        """Read a part of an account's suppressions, sorted by address.

        Args:
            start: how each address begins, in any letter case; None for all of them.
            cursor: where the part begins: `next` of the part before.
        """
        self._check(account_id)
        beginning = mailbox_key(start or "")
        found = self.records.page(account_id, beginning, cursor, limit + 1)
        following = found[limit].address if len(found) > limit else None
        return ScanPage(found[:limit], following)

    def of_account(self, account_id: str) -> Iterable[Suppression]:
        self._check(account_id)
        if account_id == SERVICE_ACCOUNT_ID:
            return [*self.records.of_account(account_id), *self.records.of_account(PREVIEW_LIST)]
        return self.records.of_account(account_id)

    def remove(self, account_id: str, address: str) -> str:
        """Remove a suppression, also at the provider, and return its address as it was stored."""
        named = normalize_address(address)
        mailbox = mailbox_key(named)
        account = self._check(account_id)
        # The address may have been erased, so that only its hash is stored.
        entries = [(account_id, mailbox), (account_id, hashed_mailbox(account_id, mailbox))]
        if account_id == SERVICE_ACCOUNT_ID:
            entries.append((PREVIEW_LIST, stopped_mailbox(mailbox)))
        if not any(self.records.get(*entry) for entry in entries):
            raise _not_suppressed()
        self.slow_requests.take(account_id)
        # The provider's first, so that a caller who gets an error finds the suppression again.
        self.provider_suppressions.remove(named, account.tenant if account else None)
        for entry in entries:
            self.records.remove(*entry)
        return mailbox

    def _check(self, account_id: str) -> Account | None:
        """Return the account. That of the service's own mail has no record."""
        return None if account_id == SERVICE_ACCOUNT_ID else find_account(self.accounts, account_id)


def listed_mailbox(text: str) -> str:
    """Return the mailbox that a line of a list is: an address, or `Name <address>`.

    The name may have any form: it says nothing.
    """
    named = re.fullmatch(UNQUOTED_NAME, text)
    return mailbox_key(normalize_address(named[2] if named else text))


def _not_suppressed() -> ServiceError:
    return ServiceError("suppression_not_found", "The account does not suppress this address.")

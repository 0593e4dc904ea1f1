"""Delete an account with everything that is stored of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Final

from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords, Tenants
from pillarbox.application.operator.ports import AccountData
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.errors import FieldError, ValidationFailed

#: Longer than a request may run that read the account before it was suspended, and than the
#: statistics are usually behind.
_NOTICE: Final = timedelta(minutes=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionResult:
    """How many items were deleted, and whether those were all."""

    items: int
    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDeletion:
    """Deletes accounts. A deletion that was interrupted goes on when it is run again."""

    accounts: AccountRecords
    count_pending: Callable[[Account], int]
    data: AccountData
    #: Deletes the kept content of an account, and yields the numbers.
    remove_kept: Callable[[str], Iterator[int]]
    tenants: Tenants
    #: Lets SES refuse mail to a domain that received for the account.
    end_receiving: Callable[[str], None]
    clock: Clock

    def delete(self, account_id: str, *, drop_pending: bool, until: datetime) -> DeletionResult:
        """Delete everything, the record of the account last, or a part of it.

        Its tenant at SES goes too, unless it shares that with others.

        Args:
            until: when to stop, so that another call goes on.
        """
        account = self._deletable(account_id, drop_pending=drop_pending)
        deleted = 0
        contents = self.data.delete_contents(account_id, account.shards)
        for number in chain(self.remove_kept(account_id), (number for _, number in contents)):
            deleted += number
            if self.clock() >= until:
                return DeletionResult(items=deleted, done=False)
        if account.reply_domain:
            self.end_receiving(account.reply_domain)
        tenant = account.tenant
        if tenant and tenant.endswith(account_id):  # another one is shared
            self.tenants.delete(tenant)
        self.data.delete_account(account_id)
        return DeletionResult(items=deleted, done=True)

    def _deletable(self, account_id: str, *, drop_pending: bool) -> Account:
        account = find_account(self.accounts, account_id)
        if account.suspension is None:
            raise _refusal("suspend the account first")
        wait = account.suspension.at + _NOTICE - self.clock()
        if wait > timedelta(0):
            raise _refusal(
                "the account was suspended just now, and its last requests may still run: wait"
                f" {wait.total_seconds():.0f} seconds"
            )
        pending = self.count_pending(account)
        if pending and not drop_pending:
            raise _refusal(
                f"{pending} accepted emails of the account still wait. Wait until they are sent,"
                " or drop them (--drop-pending, or dropPending=true)"
            )
        return account


def _refusal(message: str) -> ValidationFailed:
    return ValidationFailed(FieldError("account_id", message, "not_allowed"))

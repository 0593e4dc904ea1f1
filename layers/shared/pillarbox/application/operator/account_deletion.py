"""Delete an account with everything that is stored of it."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Final, Protocol

from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords, Tenants
from pillarbox.application.history.pagination import Page, PageRequest
from pillarbox.application.operator.ports import AccountData
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.messages.message import Status

#: Longer than a request may run that read the account before it was suspended, and than the
#: statistics are usually behind.
_NOTICE: Final = timedelta(minutes=2)


class PageQueries(Protocol):
    """Lists of the messages of an account."""

    def page(self, account_id: str, request: PageRequest, shards: int | None = None) -> Page:
        """List messages and count them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionPlan:
    """An account that may be deleted, and how many messages it has."""

    account: Account
    messages: int
    pending: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionResult:
    """What was deleted, by its kind, and whether that was all."""

    items: Counter[str]
    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDeletion:
    """Deletes accounts. A deletion that was interrupted goes on when it is run again."""

    accounts: AccountRecords
    queries: PageQueries
    data: AccountData
    #: Deletes the kept content of an account, and yields the numbers.
    remove_kept: Callable[[str], Iterator[int]]
    tenants: Tenants
    #: Lets SES refuse mail to a domain that received for the account.
    end_receiving: Callable[[str], None]
    clock: Clock

    def plan(self, account_id: str, *, drop_pending: bool) -> DeletionPlan:
        """Return what a deletion would delete.

        Args:
            account_id: the account.
            drop_pending: whether emails that wait may be dropped.
        """
        account = find_account(self.accounts, account_id)
        if account.suspension is None:
            raise _refusal("suspend the account first")
        wait = account.suspension.at + _NOTICE - self.clock()
        if wait > timedelta(0):
            raise _refusal(
                "the account was suspended just now, and its last requests may still run: wait"
                f" {wait.total_seconds():.0f} seconds"
            )
        pending = self._count(account, PageRequest(status=Status.PENDING, limit=1))
        if pending and not drop_pending:
            raise _refusal(
                f"{pending} accepted emails of the account still wait. Wait until they are sent,"
                " or drop them (--drop-pending, or dropPending=true)"
            )
        messages = self._count(account, PageRequest(limit=1))
        return DeletionPlan(account=account, messages=messages, pending=pending)

    def delete(
        self,
        plan: DeletionPlan,
        report: Callable[[int], None] = lambda _: None,
        *,
        until: datetime | None = None,
    ) -> DeletionResult:
        """Delete everything, the record of the account last.

        Its tenant at SES goes too, unless it shares that with others.

        Args:
            plan: what to delete.
            report: receives the number of items deleted so far.
            until: when to stop, so that another call goes on.
        """
        account_id = plan.account.account_id
        deleted: Counter[str] = Counter()
        kept = (("keptContents", number) for number in self.remove_kept(account_id))
        contents = self.data.delete_contents(account_id, plan.account.shards)
        for kind, number in chain(kept, contents):
            deleted[kind] += number
            report(deleted.total())
            if until is not None and self.clock() >= until:
                return DeletionResult(items=deleted, done=False)
        if plan.account.reply_domain:
            self.end_receiving(plan.account.reply_domain)
        tenant = plan.account.tenant
        if tenant and tenant.endswith(account_id):  # another one is shared
            self.tenants.delete(tenant)
        self.data.delete_account(account_id)
        return DeletionResult(items=deleted, done=True)

    def _count(self, account: Account, request: PageRequest) -> int:
        return self.queries.page(account.account_id, request.of(account), account.shards).total


def _refusal(message: str) -> ValidationFailed:
    return ValidationFailed(FieldError("account_id", message, "not_allowed"))

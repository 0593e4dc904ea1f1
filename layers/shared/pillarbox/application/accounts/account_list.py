"""The accounts of the service for its operators, and what is used of an account's limits."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.message_log import ScanPage
from pillarbox.application.ports import Clock, Directory
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.quota import QuotaState


@dataclass(frozen=True, slots=True)
class AccountUsage:
    """Reads the counts of accounts."""

    directory: Directory
    clock: Clock

    def of(self, account: Account) -> QuotaState:
        counts = self.directory.look_up(account.account_id, quota=True).quota
        return counts.state(account.limits, self.clock())


#: A search reads so many accounts at a time, and so often for one page.
_BATCH: Final = 100
_MAX_BATCHES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountList:
    """The accounts of a stack, sorted by id."""

    records: AccountRecords
    usage: AccountUsage
    for_each: Callable[[Callable[[Account], QuotaState], Sequence[Account]], Iterable[QuotaState]]

    def page(
        self, search: str | None, first: str | None, limit: int
    ) -> ScanPage[tuple[Account, QuotaState]]:
        """Read a part of the list.

        Args:
            search: a part of the name or the start of the id, in any letter case. A page of a
                search may have fewer accounts than the limit, and another may follow.
            first: where the part begins: `next` of the part before.
        """
        found, following = self._find((search or "").casefold(), first, limit)
        quotas = self.for_each(self.usage.of, found)
        return ScanPage([*zip(found, quotas, strict=True)], following)

    def _find(self, text: str, first: str | None, limit: int) -> tuple[list[Account], str | None]:
        if not text:
            accounts, following = self.records.page(first, limit)
            return [*accounts], following
        found: list[Account] = []
        following = first
        for _ in range(_MAX_BATCHES):
            accounts, following = self.records.page(following, _BATCH)
            for account in accounts:
                if text in account.name.casefold() or account.account_id.startswith(text):
                    if len(found) == limit:
                        return found, account.account_id
                    found.append(account)
            if following is None:
                break
        return found, following

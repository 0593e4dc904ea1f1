"""What an account has used of its quotas."""

from dataclasses import dataclass
from datetime import datetime

from admin.operations.ports import UsedQuotas
from pillarbox.application.accounts.lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.ports import Clock
from pillarbox.domain.quota import WINDOWS, Window, window_end


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowUsage:
    """A quota window: its limit (None if there is none), its count, and when it ends."""

    window: Window
    used: int
    limit: int | None
    ends: datetime

    @property
    def left(self) -> int | None:
        """What may still be sent in this window; None if it has no limit."""
        return None if self.limit is None else max(self.limit - self.used, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUsage:
    """The usage of all accounts."""

    counts: UsedQuotas
    accounts: AccountRecords
    clock: Clock

    def of_account(self, account_id: str) -> list[WindowUsage]:
        """Return the usage of each window that is open now, for the account's live keys.

        Raises:
            ServiceError: `account_not_found`.
        """
        limits = find_account(self.accounts, account_id).limits
        now = self.clock()
        used = self.counts.used(account_id, now)
        return [
            WindowUsage(
                window=window,
                used=used[window],
                limit=limits.of(window),
                ends=window_end(window, now),
            )
            for window in WINDOWS
        ]

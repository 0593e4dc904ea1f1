"""What is used of an account's limits."""

from dataclasses import dataclass

from pillarbox.application.ports import Clock, Directory
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.quota import QuotaState


@dataclass(frozen=True, slots=True)
class AccountUsage:
    """Reads the counts of accounts."""

    directory: Directory
    clock: Clock

    def of(self, account: Account) -> QuotaState:
        """Return the limits of an account, and what is used of them."""
        counts = self.directory.look_up(account.account_id, quota=True).quota
        return counts.state(account.limits, self.clock())
